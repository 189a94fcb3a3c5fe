// Warpgroups multiply in turn: while one does, another computes. Without turns
// all compute at a time, and tensor cores idle.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// A warpgroup's turn ends behind the first product of its next step, which so
/// comes before what the other warpgroups start, or where its loop ends.
void RoleKernel::passTurnOfStepBefore(scf::ForOp loop, scf::ForOp steps) {
  if (!schedule.multipliesInTurn(loop) || analysis::hasOneStep(loop))
    return;
  Value isLater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            steps.getInductionVar(), steps.getLowerBound());
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isLater, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  passTurn();
}

void RoleKernel::awaitTurn() {
  if (schedule.hasTurns())
    NamedBarrierOp::create(b, loc, add(warpgroup, i32(turnBarrier)),
                           2 * threadsPerWarpgroup, false);
}

void RoleKernel::passTurn() {
  if (!schedule.hasTurns())
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
  if (schedule.hasTurns())
    InOrderOp::create(b, loc, add(warpgroup, i32(turnBarrier)), inFlight);
}

} // namespace selvedge::schedule
