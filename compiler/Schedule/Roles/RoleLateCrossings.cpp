// Products that cross the rows of warpgroups, one step late: what a step stages
// the next one multiplies with, so that no warpgroup waits for another's part.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Roles/RoleStepProducts.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The place before `at` in the ring of the steps.
RoleKernel::Cursor RoleKernel::before(Cursor at) {
  Value wraps =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at.stage, i32(0));
  return {arith::SelectOp::create(b, loc, wraps, i32(schedule.stages - 1),
                                  sub(at.stage, i32(1))),
          arith::XOrIOp::create(
              b, loc, at.parity,
              arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps))};
}

/// All warpgroups have staged their parts of the step at `at`. Whoever reads
/// them has them seen by what multiplies: in the warps that write, that would
/// wait for products in flight.
void RoleKernel::awaitLate(scf::ForOp loop, Cursor at) {
  for (const RoleCrossing &crossing : plan.crossings[loop])
    WaitOp::create(b, loc, crossedBarriers(crossing).full, at.stage, at.parity);
  ProxyFenceOp::create(b, loc);
}

/// Behind the fence: one thread releases for all of its warp what they have
/// read of vectors.
void RoleKernel::meetReaders() {
  if (schedule.readsVectors())
    WarpSyncOp::create(b, loc);
}

/// The same where there is no fence yet.
void RoleKernel::fenceReaders() {
  if (schedule.readsVectors())
    ProxyFenceOp::create(b, loc);
  meetReaders();
}

void RoleKernel::releaseCrossed(const RoleCrossing &crossing, Cursor at) {
  if (schedule.crossingsAreLate)
    ArriveOp::create(b, loc, crossedBarriers(crossing).empty, at.stage, true);
}

/// The end of a step: its own products, and unless it is the first one of its
/// loop those of the step before that cross warpgroups. Nothing is in flight
/// where the two sides part and meet.
void RoleKernel::emitLateTail(ArrayRef<Operation *> tail, scf::ForOp steps,
                              Cursor at, StepProducts &products,
                              IRMapping &outside, IRMapping &mapping) {
  SmallVector<MmaOp> own;
  for (Operation *op : tail)
    if (auto mma = dyn_cast<MmaOp>(op)) {
      products.awaitTiles(mma);
      if (!plan.crossingOf(mma))
        own.push_back(mma);
    }
  products.finishAll();
  auto source = cast<scf::ForOp>(own.front()->getParentOp());
  if (schedule.multipliesInTurn(source))
    awaitTurn();
  auto startOwn = [&](StepProducts &alone) {
    fenceReaders();
    for (MmaOp mma : own)
      alone.start(mma);
    alone.finishAll();
  };
  if (analysis::hasOneStep(source))
    return startOwn(products);
  SmallVector<Type> types = llvm::map_to_vector(
      own, [&](MmaOp mma) { return typeOfWarpgroup(mma.getType()); });
  Value index = steps.getInductionVar();
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index,
                                        steps.getLowerBound());
  auto branch = scf::IfOp::create(b, loc, types, isFirst, true);
  OpBuilder::InsertionGuard guard(b);
  auto yield = [&] {
    scf::YieldOp::create(b, loc, llvm::map_to_vector(own, [&](MmaOp mma) {
                           return valueOf(mma.getResult(), mapping);
                         }));
  };
  b.setInsertionPointToStart(branch.thenBlock());
  StepProducts alone = products;
  startOwn(alone);
  yield();
  b.setInsertionPointToStart(branch.elseBlock());
  Cursor earlier = before(at);
  IRMapping scalars = outside;
  scalars.map(source.getInductionVar(), sub(index, steps.getStep()));
  awaitLate(source, earlier);
  meetReaders();
  products.crossAt(earlier, scalars);
  SmallVector<Operation *> stores;
  for (Operation *op : tail)
    if (auto mma = dyn_cast<MmaOp>(op))
      products.start(mma);
    else
      stores.push_back(op);
  for (Operation *store : stores)
    products.finishFor(*store);
  stageAdds(stores, earlier, scalars, mapping, /*before=*/source);
  products.finishAll();
  yield();
  for (auto [mma, result] : llvm::zip_equal(own, branch.getResults()))
    mapping.map(mma.getResult(), result);
}

/// The products of a loop's last step that cross warpgroups, if it had one.
void RoleKernel::emitLastCrossings(scf::ForOp loop, scf::ForOp steps,
                                   Cursor next, IRMapping &mapping) {
  Value from = steps.getLowerBound(), to = steps.getUpperBound();
  Value ran =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(b, loc, TypeRange(), ran, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (schedule.multipliesInTurn(loop))
    passTurn();
  Cursor at = before(next);
  IRMapping scalars = mapping;
  scalars.map(loop.getInductionVar(), lastIndex(from, to, steps.getStep()));
  awaitLate(loop, at);
  for (const RoleCrossing &crossing : plan.crossings[loop]) {
    Value flight = startCrossing(crossing, at, scalars);
    scalars.map(
        MmaOp(crossing.product).getResult(),
        WgmmaWaitOp::create(b, loc, flight.getType(), flight, 0).getResult());
    releaseCrossed(crossing, at);
  }
  auto stores =
      llvm::to_vector_of<Operation *>(loop.getBody()->getOps<StoreOp>());
  stageAdds(stores, at, scalars, scalars);
}

} // namespace selvedge::schedule
