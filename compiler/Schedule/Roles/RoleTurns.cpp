// Warpgroups multiply in turn: while one does, another computes. Without turns
// all compute at a time, and tensor cores idle.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The extent of the axis `over` in an operand of a product.
static int64_t extentOf(Type operand, StringAttr over) {
  if (auto buffer = dyn_cast<BufferType>(operand))
    return over == buffer.getRowAxis() ? buffer.getRows() : buffer.getCols();
  return cast<RankedTensorType>(operand).getDimSize(
      layoutOf(operand).indexOf(over));
}

/// Of a loop whose steps are finished one by one. Turns cost waits, and gain
/// where products take most of a step.
bool RoleKernel::multipliesInTurn(scf::ForOp loop) {
  // Of a multiprocessor: its tensor cores, and one instruction of its warps.
  constexpr int64_t multiplyAddsPerCycle = 2048, elementsPerCycle = 128;
  if (!crossingsAreLate || !hasTurns())
    return false;
  int64_t multiplyAdds = 0, elements = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto type = op.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                    : RankedTensorType();
    if (!type || type.getRank() != 2)
      continue;
    if (auto mma = dyn_cast<MmaOp>(op))
      multiplyAdds += type.getNumElements() *
                      extentOf(mma.getLhs().getType(), mma.getOverAttr());
    else if (OpTrait::hasElementwiseMappableTraits(&op) || isa<ConvertOp>(op))
      elements += type.getNumElements();
  }
  // 2.5 times as long: gradients of heads of 128 gain, where it is 3.6 times,
  // and lose with heads of 64, where it is 1.8 times.
  return 2 * (multiplyAdds / multiplyAddsPerCycle) >=
         5 * (elements / elementsPerCycle);
}

/// A warpgroup's turn ends behind the first product of its next step, which so
/// comes before what the other warpgroups start, or where its loop ends.
void RoleKernel::passTurnOfStepBefore(scf::ForOp loop, scf::ForOp steps) {
  if (!multipliesInTurn(loop) || analysis::hasOneStep(loop))
    return;
  Value isLater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            steps.getInductionVar(), steps.getLowerBound());
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isLater, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  passTurn();
}

bool RoleKernel::takesTurns() {
  return hasTurns() && (form == Form::Lagged ||
                        llvm::any_of(plan.loops, [&](scf::ForOp loop) {
                          return multipliesInTurn(loop);
                        }));
}

void RoleKernel::awaitTurn() {
  if (hasTurns())
    NamedBarrierOp::create(b, loc, add(warpgroup, i32(turnBarrier)),
                           2 * threadsPerWarpgroup, false);
}

void RoleKernel::passTurn() {
  if (!hasTurns())
    return;
  Value next = add(warpgroup, i32(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                      i32(plan.warpgroups));
  NamedBarrierOp::create(
      b, loc,
      add(arith::SelectOp::create(b, loc, wraps, i32(0), next),
          i32(turnBarrier)),
      2 * threadsPerWarpgroup, true);
}

/// Arithmetic ahead of the turn would cost the other warpgroups time.
void RoleKernel::keepTurnFirst(bool inFlight) {
  if (hasTurns())
    InOrderOp::create(b, loc, add(warpgroup, i32(turnBarrier)), inFlight);
}

} // namespace selvedge::schedule
