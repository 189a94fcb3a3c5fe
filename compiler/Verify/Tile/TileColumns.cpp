// verify-tile-columns: blocks of columns do together what the kernel did.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/ComparesPrograms.h"
#include "compiler/Verify/Tile/SameProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILECOLUMNS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// A kernel with a range over blocks of an axis that was whole before.
class Columns {
public:
  Columns(KernelOp before, KernelOp after) : before(before), after(after) {}

  /// Proves that no element along the axis has to do with another one, and that
  /// what is stored without it is stored once; then makes it whole again.
  LogicalResult undo() {
    if (failed(findAxis()))
      return failure();
    WalkResult walk = after.walk([&](Operation *op) {
      return op == after || succeeded(check(op)) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted() || failed(checkUsers()) || failed(checkInPlace()))
      return failure();
    makeWhole();
    return success();
  }

private:
  LogicalResult refuse(Operation *op, const Twine &wanted) {
    return op->emitOpError("expects ")
           << wanted << " in blocks of columns '" << name.getValue() << "'";
  }

  bool hasColumns(Type type) {
    return isTile(type) && llvm::is_contained(axesOf(type), name);
  }

  /// The first range is over an axis that was whole, as long as that.
  LogicalResult findAxis() {
    auto range = cast<IterAttr>(after.getRanges()[0]);
    name = range.getName();
    coord = after.getCoord(0);
    auto axes = after.getAxes().getAsRange<AxisAttr>(),
         old = before.getAxes().getAsRange<AxisAttr>();
    if (!llvm::hasSingleElement(llvm::make_filter_range(axes, [&](AxisAttr a) {
          return a.getBlock() && a.getBlock() == range.getBlock();
        })))
      return refuse(after, "a size of its own for the range");
    auto axis = llvm::find_if(
        axes, [&](AxisAttr a) { return a.getBlock() == range.getBlock(); });
    auto was = llvm::find_if(
        old, [&](AxisAttr a) { return a.getName() == (*axis).getName(); });
    auto extent = dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
    if ((*axis).getName() != name || was == old.end() || (*was).getBlock() ||
        !extent || extent.getValue() != (*was).getExtent() ||
        range.getExtent().getNumDims() != 0)
      return refuse(after, "a range over all of an axis");
    return success();
  }

  LogicalResult check(Operation *op) {
    if (auto range = dyn_cast<RangeOp>(op))
      return hasColumns(range.getType()) && range.getStart() != coord
                 ? refuse(op, "ranges that begin where the block does")
                 : success();
    if (auto size = dyn_cast<BlockSizeOp>(op))
      return size.getBlockAttr() ==
                     cast<IterAttr>(after.getRanges()[0]).getBlock()
                 ? refuse(op, "no use of the size of a block")
                 : success();
    if (auto store = dyn_cast<StoreOp>(op))
      return check(store);
    bool isSummed = false;
    if (auto over = op->getAttrOfType<ArrayAttr>("over"))
      isSummed = llvm::is_contained(over, Attribute(name));
    else if (auto axis = op->getAttrOfType<StringAttr>("over"))
      isSummed = axis == name;
    // Operations that are not known may look at several lanes.
    bool isKnown =
        isa<LoadOp, DotOp, ReduceOp, SoftmaxUpdateOp, SplatOp, BroadcastOp>(
            op) ||
        op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::Elementwise>() ||
        isa<ConvertOp, SoftmaxNormalizeOp, SoftmaxLseOp, SoftmaxWeightOp,
            KnownOp>(op) ||
        llvm::none_of(op->getOperandTypes(),
                      [&](Type type) { return hasColumns(type); });
    return isSummed || !isKnown
               ? refuse(op, "no operation that joins elements along them")
               : success();
  }

  /// What has the columns is stored block by block, all else by the first one.
  LogicalResult check(StoreOp store) {
    bool isOfColumns = llvm::any_of(store.getIndices(), [&](Value index) {
      return hasColumns(index.getType());
    });
    auto guards = llvm::count_if(store.getPresence(),
                                 [&](Value v) { return isGuard(v); });
    bool isLast = guards == 1 && isGuard(store.getPresence().back());
    return isOfColumns ? guards != 0
                             ? refuse(store, "a store of every block's columns")
                             : success()
           : !isLast || hasColumns(store.getValue().getType())
               ? refuse(store, "a store by the first block alone")
               : success();
  }

  /// True for the first block alone: blocks begin at multiples of their size.
  bool isGuard(Value v) {
    auto compare = v.getDefiningOp<arith::CmpIOp>();
    return compare && compare.getLhs() == coord &&
           compare.getPredicate() == arith::CmpIPredicate::slt &&
           matchPattern(compare.getRhs(), m_One());
  }

  /// Nothing else depends on the block.
  LogicalResult checkUsers() {
    for (Operation *user : coord.getUsers()) {
      auto range = dyn_cast<RangeOp>(user);
      bool isRange = range && hasColumns(range.getType()),
           isGuarded =
               user->getNumResults() == 1 && isGuard(user->getResult(0)) &&
               llvm::all_of(user->getUsers(),
                            [](Operation *op) { return isa<StoreOp>(op); });
      if (!isRange && !isGuarded)
        return refuse(user, "nothing that depends on the block");
    }
    return success();
  }

  /// No block reads what another one stores.
  LogicalResult checkInPlace() {
    WalkResult walk = after.walk([&](StoreOp store) {
      for (Operation *user : store.getTensor().getUsers())
        if (!isa<StoreOp>(user) &&
            failed(refuse(user, "a tensor that is not stored to")))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  void makeWhole() {
    OpBuilder b(after.getContext());
    b.setInsertionPointToStart(&after.getBody().front());
    Value zero = arith::ConstantIntOp::create(b, after.getLoc(), 0, 32);
    after.walk([&](StoreOp store) {
      if (!store.getPresence().empty() && isGuard(store.getPresence().back()))
        store.getPresenceMutable().erase(store.getPresence().size() - 1);
    });
    for (Operation *user : llvm::make_early_inc_range(coord.getUsers()))
      if (!isa<RangeOp>(user) && user->use_empty())
        user->erase();
    coord.replaceAllUsesWith(zero);
    unsigned shared = after.getProgram().getNumSharedArgs();
    after.getBody().front().eraseArgument(shared);
    SmallVector<Attribute> axes(after.getAxes().getValue()),
        ranges(after.getRanges().getValue());
    auto extent = cast<AffineConstantExpr>(
        cast<IterAttr>(ranges.front()).getExtent().getResult(0));
    for (Attribute &axis : axes)
      if (cast<AxisAttr>(axis).getName() == name)
        axis = AxisAttr::get(after.getContext(), name, {}, extent.getValue());
    ranges.erase(ranges.begin());
    after.setAxesAttr(b.getArrayAttr(axes));
    after.setRangesAttr(b.getArrayAttr(ranges));
  }

  KernelOp before, after;
  StringAttr name;
  BlockArgument coord;
};

LogicalResult check(ProgramOp before, ProgramOp after) {
  OwningOpRef<ProgramOp> whole(after.clone());
  for (auto [kernel, other] :
       llvm::zip(before.getOps<KernelOp>(), whole->getOps<KernelOp>()))
    if (other.getRanges().size() == kernel.getRanges().size() + 1 &&
        failed(Columns(kernel, other).undo()))
      return failure();
  SameProgram programs;
  if (failed(programs.compare(before, *whole)))
    return failure();
  for (const SplitLoop &split : programs.getLoops()) {
    scf::ForOp loop = split.loop, other = split.parts.front();
    if (split.parts.size() != 1 ||
        !programs.isSame(loop.getLowerBound(), other.getLowerBound()) ||
        !programs.isSame(loop.getUpperBound(), other.getUpperBound()) ||
        !programs.isSame(loop.getStep(), other.getStep()))
      return after.emitOpError("expects the loops of the program before the "
                               "pass");
  }
  return success();
}

struct VerifyTileColumnsPass
    : ComparesPrograms<impl::VerifyTileColumnsBase<VerifyTileColumnsPass>> {
  using ComparesPrograms::ComparesPrograms;

  LogicalResult compare(ProgramOp before, ProgramOp after) override {
    return check(before, after);
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileColumns(OpPassManager pipeline) {
  return std::make_unique<VerifyTileColumnsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
