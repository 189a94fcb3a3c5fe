// tile-pack-rows: pairs of two ranges as rows of one tile.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEPACKROWS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Rows of the smallest block that plans bind to rows of products.
constexpr int64_t smallestBlock = 64;

/// Two ranges of a kernel by position, and the axis of the blocked one.
struct Pair {
  unsigned single, blocked;
  StringAttr axis;
  /// Positions of their extents among the op's dims.
  unsigned count, length;
};

std::optional<unsigned> dimOf(IterAttr range) {
  auto symbol = dyn_cast<AffineSymbolExpr>(range.getExtent().getResult(0));
  return symbol ? std::optional(symbol.getPosition()) : std::nullopt;
}

/// The axis that only `start` gives its indices, as one range in blocks, and
/// along which nothing is summed; null if there is none.
StringAttr rowAxisOf(KernelOp kernel, BlockArgument start, StringAttr block) {
  StringAttr axis;
  for (Operation *user : start.getUsers()) {
    auto range = dyn_cast<RangeOp>(user);
    if (!range || (axis && axis != axesOf(range.getType())[0]))
      return {};
    axis = axesOf(range.getType())[0];
  }
  bool isFree = axis && llvm::any_of(kernel.getAxes().getAsRange<AxisAttr>(),
                                     [&](AxisAttr known) {
                                       return known.getName() == axis &&
                                              known.getBlock() == block;
                                     });
  kernel.walk([&](Operation *op) {
    if (auto range = dyn_cast<RangeOp>(op))
      isFree &= axesOf(range.getType())[0] != axis || range.getStart() == start;
    else if (auto over = op->getAttrOfType<ArrayAttr>("over"))
      isFree &= !llvm::is_contained(over, Attribute(axis));
    else if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
      isFree &= update.getOverAttr() != axis;
  });
  return isFree ? axis : StringAttr();
}

/// Whether products in loops have operands that are loaded there, none with the
/// axis of rows or dependent on `single`. (What a slot of a ring holds is said
/// by its first element, which for pairs of indices would not be enough.)
bool sharesOperands(KernelOp kernel, BlockArgument single, StringAttr axis) {
  llvm::SetVector<Operation *> dependent;
  getForwardSlice(Value(single), &dependent);
  bool isShared = false, isOwn = false;
  kernel.walk([&](DotOp dot) {
    if (!dot->getParentOfType<scf::ForOp>())
      return;
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      auto load = operand.getDefiningOp<LoadOp>();
      if (!load || !load->getParentOfType<scf::ForOp>())
        continue;
      bool hasRows = llvm::is_contained(axesOf(load.getType()), axis);
      (hasRows || dependent.contains(load) ? isOwn : isShared) = true;
    }
  });
  return isShared && !isOwn;
}

std::optional<Pair> findPair(KernelOp kernel) {
  auto ranges = llvm::to_vector(kernel.getRanges().getAsRange<IterAttr>());
  for (auto [b, blocked] : llvm::enumerate(ranges)) {
    std::optional<unsigned> length = dimOf(blocked);
    if (!blocked.getBlock() || !length)
      continue;
    StringAttr axis = rowAxisOf(kernel, kernel.getCoord(b), blocked.getBlock());
    // Memory prefers the last range, which is the innermost one.
    for (size_t s = ranges.size(); axis && s-- > 0;)
      if (std::optional<unsigned> count = dimOf(ranges[s]);
          count && !ranges[s].getBlock() && *count != *length &&
          sharesOperands(kernel, kernel.getCoord(s), axis))
        return Pair{static_cast<unsigned>(s), static_cast<unsigned>(b), axis,
                    *count, *length};
  }
  return std::nullopt;
}

/// Rewrites a kernel so that rows are pairs.
class Packer {
public:
  Packer(KernelOp kernel, Pair pair)
      : kernel(kernel), pair(pair), b(kernel.getContext()) {}

  LogicalResult run() {
    Location loc = withoutDecisions(kernel.getLoc());
    Block &body = kernel.getBody().front();
    b.setInsertionPointToStart(&body);
    Type rows = tileType(b.getI32Type(), {pair.axis}, {ShapedType::kDynamic});
    BlockArgument single = kernel.getCoord(pair.single),
                  blocked = kernel.getCoord(pair.blocked);
    auto old = llvm::to_vector(blocked.getUsers());
    Value pairs = RangeOp::create(b, loc, rows, blocked);
    Value count = SplatOp::create(b, loc, rows, kernel.getDimArg(pair.count));
    Value index = arith::DivUIOp::create(b, loc, pairs, count);
    widened[single] = arith::RemUIOp::create(b, loc, pairs, count);
    for (Operation *range : old) {
      range->replaceAllUsesWith(ValueRange(index));
      range->erase();
    }
    WalkResult walk = kernel.walk([&](Operation *op) {
      return op != kernel && failed(widen(op)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    setRanges();
    body.eraseArgument(single.getArgNumber());
    return success();
  }

private:
  Type withRows(Type type) {
    SmallVector<StringAttr> axes;
    for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
      if (axis.getName() == pair.axis ||
          llvm::is_contained(axesOf(type), axis.getName()))
        axes.push_back(axis.getName());
    return tileType(getElementTypeOrSelf(type), axes,
                    SmallVector<int64_t>(axes.size(), ShapedType::kDynamic));
  }

  /// Has an operation use what became a tile along the rows; its result then
  /// becomes one too. Fails where that has another meaning.
  LogicalResult widen(Operation *op) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value v) { return widened.contains(v); }))
      return success();
    b.setInsertionPoint(op);
    auto replaced = [&](Value v) {
      Value wide = widened.lookup(v);
      return wide ? wide : v;
    };
    if (auto store = dyn_cast<StoreOp>(op);
        store && hasRows(store.getIndices())) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(replaced(operand.get()));
      return success();
    }
    if (op->getNumResults() != 1 || op->getNumRegions() != 0)
      return failure();
    Type type = withRows(op->getResult(0).getType());
    Value result;
    if (isa<SplatOp, BroadcastOp>(op)) {
      result = broadcastTo(b, op->getLoc(), replaced(op->getOperand(0)), type);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (!hasRows(load.getIndices()))
        return failure();
      auto all = [&](ValueRange values) {
        return llvm::map_to_vector(values, replaced);
      };
      result = LoadOp::create(b, op->getLoc(), type, load.getTensor(),
                              all(load.getIndices()), all(load.getPresence()),
                              load.getFill());
    } else if (op->hasTrait<OpTrait::Elementwise>()) {
      Operation *clone = b.clone(*op);
      b.setInsertionPoint(clone);
      for (OpOperand &operand : clone->getOpOperands())
        operand.set(
            broadcastTo(b, op->getLoc(), replaced(operand.get()), type));
      clone->getResult(0).setType(type);
      result = clone->getResult(0);
    } else {
      return failure();
    }
    if (op->getResult(0).getType() == type)
      op->getResult(0).replaceAllUsesWith(result);
    else
      widened[op->getResult(0)] = result;
    dead.push_back(op);
    return success();
  }

  /// Whether indices, as they will be, run along the rows.
  bool hasRows(ValueRange indices) {
    return llvm::any_of(indices, [&](Value index) {
      return widened.contains(index) ||
             llvm::is_contained(axesOf(index.getType()), pair.axis);
    });
  }

  void setRanges() {
    SmallVector<Attribute> ranges(kernel.getRanges().getValue());
    auto single = cast<IterAttr>(ranges[pair.single]),
         blocked = cast<IterAttr>(ranges[pair.blocked]);
    AffineMap length = blocked.getExtent();
    AffineExpr both = length.getResult(0) * single.getExtent().getResult(0);
    ranges[pair.blocked] = IterAttr::get(
        kernel.getContext(), blocked.getName(),
        AffineMap::get(0, length.getNumSymbols(), both), blocked.getBlock());
    ranges.erase(ranges.begin() + pair.single);
    kernel.setRangesAttr(b.getArrayAttr(ranges));
    noteDecision(kernel, {"packing",
                          ("rows are pairs of '" + blocked.getName().strref() +
                           "' and '" + single.getName().strref() + "'")
                              .str(),
                          "what the loops load is the same for all of them"});
  }

  KernelOp kernel;
  Pair pair;
  OpBuilder b;
  /// What has the axis of rows in addition, and takes the place of the key.
  llvm::DenseMap<Value, Value> widened;
  SmallVector<Operation *> dead;
};

struct TilePackRowsPass : impl::TilePackRowsBase<TilePackRowsPass> {
  void runOnOperation() override {
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getKind() == VersionKind::Program)
        pack(program);
  }

  /// Inserts a packed version, if there is one for every kernel that has
  /// products.
  void pack(ProgramOp program) {
    OwningOpRef<ProgramOp> packed(program.clone());
    std::optional<Pair> dims;
    for (auto kernel : packed->getBody().getOps<KernelOp>()) {
      std::optional<Pair> pair = findPair(kernel);
      if (!pair)
        continue;
      // One condition for all kernels.
      if ((dims &&
           (dims->count != pair->count || dims->length != pair->length)) ||
          failed(Packer(kernel, *pair).run()))
        return;
      dims = pair;
    }
    if (!dims)
      return;
    MLIRContext *ctx = program.getContext();
    AffineExpr count = getAffineSymbolExpr(dims->count, ctx),
               length = getAffineSymbolExpr(dims->length, ctx);
    packed->makeVersion(program, VersionAttr::get(ctx, VersionKind::Packed, 0));
    packed->setConditions(AffineMap::get(
        0, program.getDims().size(),
        {count - 2, smallestBlock - count, smallestBlock / 2 - length}, ctx));
    getOperation().insert(std::next(program->getIterator()), packed.release());
  }
};

} // namespace
} // namespace selvedge::schedule
