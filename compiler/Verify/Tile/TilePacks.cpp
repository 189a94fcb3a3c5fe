// verify-tile-packs: rows that are pairs compute what the pairs did.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/SameResults.h"
#include "compiler/Verify/Tile/SingleParts.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEPACKS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// A kernel whose range over numbers, and another one in blocks, have become
/// one range of pairs.
class Pairs {
public:
  Pairs(KernelOp before, KernelOp after) : before(before), after(after) {}

  LogicalResult check() {
    if (failed(findRanges()) || failed(findAxis()))
      return failure();
    auto walk = [](KernelOp kernel, auto check) {
      return kernel
          .walk([&](Operation *op) {
            return succeeded(check(op)) ? WalkResult::advance()
                                        : WalkResult::interrupt();
          })
          .wasInterrupted();
    };
    if (walk(before, [&](Operation *op) { return checkLanes(op); }) ||
        walk(after, [&](Operation *op) { return checkStore(op); }))
      return failure();
    bind();
    return results.compare(before.getBody().front(), after.getBody().front());
  }

private:
  LogicalResult refuse(Operation *op, const Twine &wanted) {
    return op->emitOpError("expects ") << wanted << " where rows are pairs";
  }

  /// One range less; another one counts the pairs.
  LogicalResult findRanges() {
    auto old = llvm::to_vector(before.getRanges().getAsRange<IterAttr>()),
         now = llvm::to_vector(after.getRanges().getAsRange<IterAttr>());
    if (before.getAxes() != after.getAxes() ||
        before.getSizes() != after.getSizes())
      return refuse(after, "the axes before the pass");
    for (;
         single < now.size() && old[single].getName() == now[single].getName();)
      ++single;
    SmallVector<IterAttr> left(old);
    left.erase(left.begin() + single);
    unsigned pairs = left.size();
    for (auto [i, x] : llvm::enumerate(left)) {
      IterAttr y = now[i];
      if (x == y)
        continue;
      if (pairs != left.size() || x.getName() != y.getName() ||
          x.getBlock() != y.getBlock() || !x.getBlock())
        return refuse(after, "the ranges before the pass but one");
      pairs = i;
    }
    if (pairs == left.size())
      return refuse(after, "a range in blocks of all pairs");
    AffineExpr each = left[pairs].getExtent().getResult(0),
               count = old[single].getExtent().getResult(0);
    auto dim = dyn_cast<AffineSymbolExpr>(count);
    if (old[single].getBlock() || !dim ||
        now[pairs].getExtent().getResult(0) != each * count)
      return refuse(after, "a range in blocks of all pairs");
    numPairs = pairs;
    blocked = pairs < single ? pairs : pairs + 1;
    countDim = dim.getPosition();
    return success();
  }

  /// The axis of the rows: nothing else has indices along it.
  LogicalResult findAxis() {
    for (Operation *user : before.getCoord(blocked).getUsers())
      if (auto range = dyn_cast<RangeOp>(user))
        axis = axesOf(range.getType())[0];
    return axis ? success() : refuse(before, "an axis of rows");
  }

  /// An operation computes each row from that row.
  LogicalResult checkLanes(Operation *op) {
    if (auto range = dyn_cast<RangeOp>(op))
      return axesOf(range.getType())[0] != axis ||
                     range.getStart() == before.getCoord(blocked)
                 ? success()
                 : refuse(op, "rows that begin where the block does");
    bool isSummed = false;
    if (auto over = op->getAttrOfType<ArrayAttr>("over"))
      isSummed = llvm::is_contained(over, Attribute(axis));
    else if (auto one = op->getAttrOfType<StringAttr>("over"))
      isSummed = one == axis;
    return isSummed ? refuse(op, "no sum over rows") : success();
  }

  /// A store is made once for each pair.
  LogicalResult checkStore(Operation *op) {
    auto store = dyn_cast<StoreOp>(op);
    bool hasRows = !store || llvm::any_of(store.getIndices(), [&](Value index) {
      return llvm::is_contained(axesOf(index.getType()), axis);
    });
    return hasRows ? success() : refuse(op, "a store of every row");
  }

  void bind() {
    LaneValues &values = results.values;
    results.bindSignature(before.getProgram(), before, after);
    for (unsigned i = 0, other = 0; i < before.getRanges().size(); ++i)
      if (i == single || i == blocked)
        other += i == blocked;
      else
        values.bind(ValueRange(before.getCoord(i)),
                    ValueRange(after.getCoord(other++)));
    LaneValues::Number row = values.fresh(), number = values.fresh(),
                       pair = values.fresh();
    values.bind(before.getCoord(blocked), row);
    values.bind(before.getCoord(single), number);
    values.bind(after.getCoord(numPairs), pair);
    values.defineQuotient(values.range(axis, pair),
                          values.of(after.getDimArg(countDim)),
                          values.range(axis, row), number);
  }

  KernelOp before, after;
  SameResults results;
  StringAttr axis;
  /// Positions before, and of the pairs after.
  unsigned single = 0, blocked = 0, numPairs = 0;
  /// Which dim says how many numbers there are.
  unsigned countDim = 0;
};

/// A packed version against the program that it is a version of.
LogicalResult check(ProgramOp before, ProgramOp after) {
  if (failed(haveSameSignature(before, after)))
    return failure();
  for (auto [kernel, other] :
       llvm::zip_equal(before.getOps<KernelOp>(), after.getOps<KernelOp>())) {
    if (kernel.getRanges().size() != other.getRanges().size() + 1) {
      if (failed(haveSameResults(kernel, other)))
        return failure();
      continue;
    }
    if (failed(Pairs(kernel, other).check()))
      return failure();
  }
  return success();
}

LogicalResult compareAlone(ProgramOp before, ProgramOp after) {
  return haveSameResults(before, after);
}

struct VerifyTilePacksPass
    : WrapsPasses<impl::VerifyTilePacksBase<VerifyTilePacksPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> copy = runBesideCopy();
    if (!copy)
      return signalPassFailure();
    for (auto after : module.getOps<ProgramOp>()) {
      auto before = copy->lookupSymbol<ProgramOp>(
          after.isForSomeDims() ? after.getBaseName() : after.getSymName());
      if (!before)
        return after.emitOpError("expects a program before the pass"),
               signalPassFailure();
      auto prove = after.getKind() == VersionKind::Packed   ? check
                   : after.getKind() == VersionKind::Single ? checkSingleParts
                                                            : compareAlone;
      if (failed(prove(before, after)))
        return signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTilePacks(OpPassManager pipeline) {
  return std::make_unique<VerifyTilePacksPass>(std::move(pipeline));
}

} // namespace selvedge::verify
