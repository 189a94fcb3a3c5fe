// Products that cross the rows of warpgroups, one step late: what a step stages
// the next one multiplies with, so that no warpgroup waits for another's part.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/RoleStepProducts.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Whether every result of a product that crosses warpgroups only leaves for
/// memory, in bulk, and a warp can send it: nothing else in the step waits for
/// it.
bool RoleKernel::findLateCrossings() {
  if (!plan.hasCrossings() || plan.warpgroups > warpsPerGroup - firstSender)
    return false;
  auto isSent = [&](Operation *user) { return addOf(user) != nullptr; };
  return llvm::all_of(plan.loops, [&](scf::ForOp loop) {
    ArrayRef<RoleCrossing> all = plan.crossings[loop];
    auto leaves = [&](const RoleCrossing &crossing) {
      return llvm::all_of(MmaOp(crossing.product)->getUsers(), isSent);
    };
    return !all.empty() && llvm::all_of(all, leaves) &&
           llvm::all_of(loop.getBody()->getOps<StoreOp>(), isSent);
  });
}

/// The place before `at` in the ring of the steps.
RoleKernel::Cursor RoleKernel::before(Cursor at) {
  Value wraps =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at.stage, i32(0));
  return {arith::SelectOp::create(b, loc, wraps, i32(stages - 1),
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

void RoleKernel::releaseCrossed(const RoleCrossing &crossing, Cursor at) {
  if (crossingsAreLate)
    ArriveOp::create(b, loc, crossedBarriers(crossing).empty, at.stage, true);
}

/// The extent of the axis `over` in an operand of a product.
static int64_t extentOf(Type operand, StringAttr over) {
  if (auto buffer = dyn_cast<BufferType>(operand))
    return over == buffer.getRowAxis() ? buffer.getRows() : buffer.getCols();
  return cast<RankedTensorType>(operand).getDimSize(
      layoutOf(operand).indexOf(over));
}

/// Whether one warpgroup computes while another multiplies. Without turns all
/// compute at a time, and tensor cores idle. Turns cost waits, and gain where
/// products take most of a step (heads of 128, not of 64).
bool RoleKernel::multipliesInTurn(scf::ForOp loop) {
  constexpr int64_t multiplyAddsPerCycle = 2048, elementsPerCycle = 128,
                    productsPerArithmetic = 5;
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
  return 2 * multiplyAdds / multiplyAddsPerCycle >=
         productsPerArithmetic * elements / elementsPerCycle;
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
  if (multipliesInTurn(source))
    awaitTurn();
  auto startOwn = [&](StepProducts &alone) {
    for (MmaOp mma : own)
      alone.start(mma);
    alone.finishAll();
  };
  if (analysis::hasOneStep(source))
    return startOwn(products);
  SmallVector<Type> types = llvm::map_to_vector(
      own, [&](MmaOp mma) { return convert(mma.getType()); });
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
  products.crossAt(earlier, scalars);
  SmallVector<Operation *> stores;
  for (Operation *op : tail)
    if (auto mma = dyn_cast<MmaOp>(op))
      products.start(mma);
    else
      stores.push_back(op);
  for (Operation *store : stores)
    products.finishFor(*store);
  stageAdds(stores, earlier, scalars, mapping);
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
  if (multipliesInTurn(loop))
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
