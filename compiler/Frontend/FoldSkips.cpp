// Steps that are left out where a condition holds in no lane change nothing.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

/// The lanes of which `any` asks, if there is a step where it holds.
Value askedOf(Value numSteps) {
  auto steps = numSteps.getDefiningOp<arith::SelectOp>();
  auto compare = steps ? steps.getCondition().getDefiningOp<arith::CmpIOp>()
                       : arith::CmpIOp();
  auto most = compare ? compare.getLhs().getDefiningOp<ReduceOp>() : ReduceOp();
  auto lanes = most && most.getKind() == Combine::Max
                   ? most.getSource().getDefiningOp<arith::ExtUIOp>()
                   : arith::ExtUIOp();
  return lanes ? lanes.getIn() : Value();
}

/// The conditions that are true together, without axes that they lack.
void collectParts(Value condition, SmallVectorImpl<Value> &parts) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectParts(both.getLhs(), parts);
    return collectParts(both.getRhs(), parts);
  }
  if (auto broadcast = condition.getDefiningOp<BroadcastOp>())
    return collectParts(broadcast.getSource(), parts);
  parts.push_back(condition);
}

/// What a step does where none of some lanes exist.
class EmptyStep {
public:
  explicit EmptyStep(Value lanes) : lanes(lanes) { collectParts(lanes, parts); }

  /// Whether an operation stores nothing, and gives the identity, there.
  bool isNeutral(Operation *op) const {
    if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
      return isMasked(update.getPresence());
    if (auto store = dyn_cast<StoreOp>(op))
      return isMasked(store.getPresence());
    return !isa<SoftmaxIncludeOp>(op);
  }

  /// Whether `after` is `before`, to which something neutral was added.
  bool isSame(Value after, Value before) const {
    if (after == before)
      return true;
    auto result = dyn_cast<OpResult>(after);
    Operation *op = after.getDefiningOp();
    if (auto update = dyn_cast_if_present<SoftmaxUpdateOp>(op)) {
      unsigned i = result.getResultNumber();
      return i != 0 && isSame(i == 1   ? update.getMax()
                              : i == 2 ? update.getSum()
                                       : update.getAccs()[i - 3],
                              before);
    }
    if (auto dot = dyn_cast_if_present<DotOp>(op))
      return dot.getInit() && isIdentity(after, Combine::Add) &&
             isSame(dot.getInit(), before);
    Combine how = Combine::Add;
    if (isa_and_present<arith::MaximumFOp, arith::MaxSIOp>(op))
      how = Combine::Max;
    else if (isa_and_present<arith::MinimumFOp, arith::MinSIOp>(op))
      how = Combine::Min;
    else if (!isa_and_present<arith::AddFOp, arith::AddIOp>(op))
      return false;
    Value x = op->getOperand(0), y = op->getOperand(1);
    return (isSame(x, before) && isIdentity(y, how)) ||
           (isSame(y, before) && isIdentity(x, how));
  }

private:
  /// Whether lanes that exist by `presence` are among those that are asked.
  bool isMasked(ValueRange presence) const {
    SmallVector<Value> given;
    for (Value condition : presence)
      collectParts(condition, given);
    return llvm::all_of(
        parts, [&](Value part) { return llvm::is_contained(given, part); });
  }

  /// Whether a reduction consumes lanes that do not exist.
  bool consumes(ArrayAttr over, ValueRange presence) const {
    return isMasked(presence) &&
           llvm::any_of(axesOf(lanes.getType()), [&](StringAttr axis) {
             return llvm::is_contained(over, Attribute(axis));
           });
  }

  /// Whether a value is a reduction over no lanes, a sum perhaps scaled.
  bool isIdentity(Value value, Combine how) const {
    Operation *op = value.getDefiningOp();
    if (auto reduce = dyn_cast_if_present<ReduceOp>(op))
      return reduce.getKind() == how &&
             consumes(reduce.getOver(), reduce.getPresence());
    if (auto dot = dyn_cast_if_present<DotOp>(op))
      return how == Combine::Add && consumes(dot.getOver(), dot.getPresence());
    if (isa_and_present<BroadcastOp, SplatOp>(op))
      return isIdentity(op->getOperand(0), how);
    if (how != Combine::Add)
      return false;
    if (isa_and_present<arith::SIToFPOp, arith::NegFOp>(op))
      return isIdentity(op->getOperand(0), how);
    return isa_and_present<arith::MulFOp, arith::MulIOp>(op) &&
           (isIdentity(op->getOperand(0), how) ||
            isIdentity(op->getOperand(1), how));
  }

  Value lanes;
  SmallVector<Value> parts;
};

} // namespace

bool asksForSteps(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto steps = dyn_cast<arith::SelectOp>(user);
    return steps && askedOf(steps);
  });
}

bool StepAnalysis::leavesOutNothing(scf::ForOp loop) const {
  Value lanes = askedOf(loop.getUpperBound());
  if (!lanes)
    return false;
  EmptyStep step(lanes);
  auto found = loop.getBody()->walk([&](Operation *op) {
    return step.isNeutral(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !found.wasInterrupted() &&
         llvm::all_of(
             llvm::zip_equal(loop.getYieldedValues(), loop.getRegionIterArgs()),
             [&](auto pair) {
               auto [after, before] = pair;
               return step.isSame(after, before);
             });
}

} // namespace selvedge::frontend
