// tile-single-parts: launches of one part, which nothing has to join.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILESINGLEPARTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Position of the range whose length is the dim `parts`, if there is one.
std::optional<unsigned> rangeOfParts(KernelOp kernel, unsigned parts) {
  AffineExpr symbol = getAffineSymbolExpr(parts, kernel.getContext());
  for (auto [i, range] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>()))
    if (!range.getBlock() && range.getExtent().getResult(0) == symbol)
      return i;
  return std::nullopt;
}

/// Positions of the tensors that a kernel stores to, or accesses at all.
llvm::SmallSetVector<unsigned, 4> accessed(KernelOp kernel, bool onlyStored) {
  llvm::SmallSetVector<unsigned, 4> tensors;
  kernel.walk([&](TensorAccessOpInterface access) {
    if (!onlyStored || isa<StoreOp>(access.getOperation()))
      if (auto argument = dyn_cast<BlockArgument>(access.getAccessed()))
        tensors.insert(argument.getArgNumber());
  });
  return tensors;
}

/// Two kernels, of which the second reads what the first one stores of a part,
/// become one for launches of a single part.
class Joiner {
public:
  Joiner(KernelOp first, KernelOp second, unsigned parts, unsigned range)
      : first(first), second(second), parts(parts), range(range),
        b(first.getContext()) {}

  /// Fails where the kernels are not of this form, in any state.
  LogicalResult run() {
    if (failed(findStored()) || failed(checkAxes()) || failed(mapCoords()))
      return failure();
    append();
    fold();
    runOnce();
    if (failed(forward()))
      return failure();
    for (auto &[tensor, store] : stored)
      store.erase();
    second.erase();
    dropRange();
    return success();
  }

private:
  /// What the first one stores goes to temps, once to each, and none but the
  /// second one reads them. Nothing that it reads is stored by the second.
  LogicalResult findStored() {
    unsigned firstTensor = first.getProgram().getDims().size();
    auto isTemp = [&](unsigned argument) {
      return first.getProgram()
                 .getTensorArg(argument - firstTensor)
                 .getRole() == Role::Temp;
    };
    WalkResult stores = first.walk([&](StoreOp store) {
      unsigned tensor = cast<BlockArgument>(store.getTensor()).getArgNumber();
      bool isPlain = store->getParentOp() == first && !addsToMemory(store) &&
                     isTemp(tensor) && stored.insert({tensor, store}).second;
      return isPlain ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (stores.wasInterrupted() || stored.empty())
      return failure();
    for (auto kernel : first.getProgram().getOps<KernelOp>())
      for (unsigned tensor : accessed(kernel, /*onlyStored=*/false))
        if (kernel != first && kernel != second && stored.contains(tensor))
          return failure();
    auto read = accessed(first, /*onlyStored=*/false);
    for (unsigned tensor : accessed(second, /*onlyStored=*/true))
      if (read.contains(tensor))
        return failure();
    WalkResult unknown = second.walk([](Operation *op) {
      return isa<DotOp, BlockSizeOp>(op) ? WalkResult::interrupt()
                                         : WalkResult::advance();
    });
    return failure(unknown.wasInterrupted());
  }

  /// Axes of the second one are those of the first, in its order: blocks may
  /// have other names.
  LogicalResult checkAxes() {
    auto all = llvm::to_vector(first.getAxes().getAsRange<AxisAttr>());
    auto at = all.begin();
    for (auto axis : second.getAxes().getAsRange<AxisAttr>()) {
      at = std::find_if(at, all.end(), [&](AxisAttr other) {
        return other.getName() == axis.getName();
      });
      if (at == all.end() || bool(at->getBlock()) != bool(axis.getBlock()) ||
          at->getExtent() != axis.getExtent())
        return failure();
    }
    return success();
  }

  /// Ranges of the second one are those of the first but for the parts.
  LogicalResult mapCoords() {
    auto known = llvm::to_vector(first.getRanges().getAsRange<IterAttr>());
    auto own = llvm::to_vector(second.getRanges().getAsRange<IterAttr>());
    if (own.size() + 1 != known.size())
      return failure();
    unsigned shared = first.getProgram().getNumSharedArgs();
    for (unsigned i = 0; i < shared; ++i)
      mapping.map(second.getBody().getArgument(i),
                  first.getBody().getArgument(i));
    for (auto [i, wanted] : llvm::enumerate(own)) {
      auto found = llvm::find_if(known, [&](IterAttr other) {
        return other.getName() == wanted.getName() &&
               other.getExtent() == wanted.getExtent() &&
               bool(other.getBlock()) == bool(wanted.getBlock());
      });
      unsigned at = std::distance(known.begin(), found);
      if (found == known.end() || at == range)
        return failure();
      mapping.map(second.getCoord(i), first.getCoord(at));
    }
    return success();
  }

  void append() {
    Operation *end = first.getBody().front().getTerminator();
    b.setInsertionPoint(end);
    for (Operation &op : second.getBody().front().without_terminator())
      appended.push_back(b.clone(op, mapping));
    b.setInsertionPointToStart(&first.getBody().front());
    Location loc = withoutDecisions(first.getLoc());
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, loc, value, 32);
    };
    first.getDimArg(parts).replaceAllUsesWith(constant(1));
    first.getCoord(range).replaceAllUsesWith(constant(0));
  }

  /// Where a single part begins is often a constant then.
  void fold() {
    for (Operation &op : llvm::make_early_inc_range(first.getBody().front())) {
      if (op.getNumResults() != 1 || !op.getResult(0).getType().isInteger(32) ||
          isa<arith::ConstantOp>(op))
        continue;
      b.setInsertionPoint(&op);
      SmallVector<Value> results;
      if (succeeded(b.tryFold(&op, results)) && !results.empty())
        op.replaceAllUsesWith(results);
      else if (Value limit = limitOf(&op))
        op.replaceAllUsesWith(ValueRange(limit));
    }
  }

  /// `c` of `min(c, max(x, d))` for constants `c <= d`.
  static Value limitOf(Operation *op) {
    auto minimum = dyn_cast<arith::MinSIOp>(op);
    if (!minimum)
      return {};
    for (auto [limit, other] :
         {std::pair(minimum.getLhs(), minimum.getRhs()),
          std::pair(minimum.getRhs(), minimum.getLhs())}) {
      auto maximum = other.getDefiningOp<arith::MaxSIOp>();
      std::optional<int64_t> most = getConstantIntValue(limit);
      if (most && maximum)
        for (Value side : maximum->getOperands())
          if (std::optional<int64_t> least = getConstantIntValue(side);
              least && *most <= *least)
            return limit;
    }
    return {};
  }

  /// The step of a loop over the parts.
  void runOnce() {
    for (Operation *op : llvm::make_early_inc_range(appended)) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop || getConstantIntValue(loop.getLowerBound()) != 0 ||
          getConstantIntValue(loop.getUpperBound()) != 1 ||
          getConstantIntValue(loop.getStep()) != 1)
        continue;
      loop.getInductionVar().replaceAllUsesWith(loop.getLowerBound());
      for (auto [argument, init] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
        argument.replaceAllUsesWith(init);
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      loop.replaceAllUsesWith(yield.getOperands());
      for (Operation &inner :
           llvm::make_early_inc_range(loop.getBody()->without_terminator()))
        inner.moveBefore(loop);
      loop.erase();
    }
  }

  /// Whether two values are computed alike.
  bool areSame(Value a, Value b) {
    if (a == b || known.contains({a, b}))
      return true;
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    bool same =
        x && y && x->getNumRegions() == 0 && isMemoryEffectFree(x) &&
        OperationEquivalence::isEquivalentTo(
            x, y, [&](Value v, Value w) { return success(areSame(v, w)); },
            /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
    if (same)
      known.insert({a, b});
    return same;
  }

  bool areSame(ValueRange a, ValueRange b) {
    return a.size() == b.size() &&
           llvm::all_of(llvm::zip_equal(a, b), [&](auto both) {
             return areSame(std::get<0>(both), std::get<1>(both));
           });
  }

  /// What is read of a temp is what was stored to it.
  LogicalResult forward() {
    auto loads = llvm::to_vector(first.getBody().getOps<LoadOp>());
    WalkResult hidden = first.walk([&](LoadOp load) {
      bool isRead =
          stored.contains(cast<BlockArgument>(load.getTensor()).getArgNumber());
      return isRead && load->getParentOp() != first ? WalkResult::interrupt()
                                                    : WalkResult::advance();
    });
    if (hidden.wasInterrupted())
      return failure();
    for (LoadOp load : loads) {
      auto found =
          stored.find(cast<BlockArgument>(load.getTensor()).getArgNumber());
      if (found == stored.end())
        continue;
      StoreOp store = found->second;
      if (load.getType() != store.getValue().getType() ||
          load.getFill() != Fill::Any || !store->isBeforeInBlock(load) ||
          !areSame(load.getIndices(), store.getIndices()) ||
          !areSame(load.getPresence(), store.getPresence()))
        return failure();
      load.replaceAllUsesWith(store.getValue());
      load.erase();
    }
    return success();
  }

  void dropRange() {
    SmallVector<Attribute> ranges(first.getRanges().getValue());
    ranges.erase(ranges.begin() + range);
    first.getBody().eraseArgument(first.getCoord(range).getArgNumber());
    first.setRangesAttr(b.getArrayAttr(ranges));
    noteDecision(first,
                 {"parts", "one, and nothing joins parts",
                  "what '" + secondName + "' would read stays in registers"});
  }

  KernelOp first, second;
  unsigned parts, range;
  OpBuilder b;
  /// Of the second kernel, which is gone at last.
  std::string secondName = second.getSymName().str();
  /// Per temp, by its argument, the store that fills it.
  llvm::SmallMapVector<unsigned, StoreOp, 4> stored;
  IRMapping mapping;
  SmallVector<Operation *> appended;
  llvm::DenseSet<std::pair<Value, Value>> known;
};

struct TileSinglePartsPass : impl::TileSinglePartsBase<TileSinglePartsPass> {
  void runOnOperation() override {
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getKind() == VersionKind::Program)
        for (const LaunchSize &size : getLaunchSizes(program))
          if (size.lo == 1 && addVersion(program, size.name))
            break;
  }

  /// Inserts a version for one part, if two kernels become one by that.
  bool addVersion(ProgramOp program, StringRef name) {
    auto dims = program.getDims().getAsRange<StringAttr>();
    unsigned parts =
        std::distance(dims.begin(), llvm::find_if(dims, [&](StringAttr dim) {
                        return dim.getValue() == name;
                      }));
    OwningOpRef<ProgramOp> single(program.clone());
    auto kernels = llvm::to_vector(single->getOps<KernelOp>());
    bool isJoined = false;
    for (auto [first, second] :
         llvm::zip(kernels, ArrayRef(kernels).drop_front())) {
      std::optional<unsigned> range = rangeOfParts(first, parts);
      if (!range)
        continue;
      if (isJoined || rangeOfParts(second, parts) ||
          failed(Joiner(first, second, parts, *range).run()))
        return false;
      isJoined = true;
      break;
    }
    if (!isJoined)
      return false;
    MLIRContext *ctx = program.getContext();
    single->makeVersion(program, VersionAttr::get(ctx, VersionKind::Single, 0));
    single->setConditions(AffineMap::get(0, program.getDims().size(),
                                         1 - getAffineSymbolExpr(parts, ctx)));
    getOperation().insert(std::next(program->getIterator()), single.release());
    return true;
  }
};

} // namespace
} // namespace selvedge::schedule
