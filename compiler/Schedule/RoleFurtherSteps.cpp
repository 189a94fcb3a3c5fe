// The steps of a tile after its first.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// What a step leaves, and the place of the one after it, as values.
SmallVector<Value> RoleKernel::pack(const Pending &pending, Cursor next) {
  SmallVector<Value> values(pending.carried);
  values.append({pending.operand, pending.index, pending.at.stage,
                 pending.at.parity, next.stage, next.parity});
  return values;
}

void RoleKernel::unpack(ValueRange values, Pending &pending, Cursor &next) {
  size_t n = pending.carried.size();
  pending.carried = llvm::to_vector(values.take_front(n));
  pending.operand = values[n];
  pending.index = values[n + 1];
  pending.at = {values[n + 2], values[n + 3]};
  next = {values[n + 4], values[n + 5]};
}

/// The steps of one loop. `next` is the place of the first of them.
LogicalResult RoleKernel::emitFurtherLoop(const LoopSteps &further, Value step,
                                          const IRMapping &mapping,
                                          Pending &pending, Cursor &next) {
  scf::ForOp source = further.loop;
  auto loop = scf::ForOp::create(b, source.getLoc(), further.from, further.to,
                                 step, pack(pending, next));
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(loop.getBody());
    unpack(loop.getRegionIterArgs(), pending, next);
    Pending after;
    if (failed(emitStep(source, indexOf(further, loop.getInductionVar()), next,
                        pending, mapping, after)))
      return failure();
    scf::YieldOp::create(b, loc, pack(after, advance(next, stages)));
  }
  unpack(loop.getResults(), pending, next);
  return success();
}

/// The sums of the lagged product are zero when a tile's first step has been
/// taken: its product comes in the second. More than two warpgroups have no
/// registers left for another copy of a step (D 64: 2 % slower), one waits for
/// memory, and where tiles are not one pipeline it gains nothing (D 256).
bool RoleKernel::hasSecondStep() {
  auto found = softmax.find(plan.loops.front());
  return isPipelined() && plan.warpgroups == 2 && found != softmax.end() &&
         llvm::is_contained(found->second.accs, laggedResult);
}

/// A tile's second step, if it is one of the first loop, by itself: the sums of
/// products start with it, so that no registers are set to zero. Else the loops
/// `earlier` run. `main` is left what remains of the first loop.
LogicalResult RoleKernel::emitSecondStep(ArrayRef<LoopSteps> earlier,
                                         LoopSteps &main, Value step,
                                         const IRMapping &mapping,
                                         Pending &pending, Cursor &next) {
  auto isEmpty = [&](const LoopSteps &steps) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, steps.from,
                                 steps.to);
  };
  Value isSecond = negated(isEmpty(main));
  for (const LoopSteps &steps : earlier)
    isSecond = arith::AndIOp::create(b, loc, isSecond, isEmpty(steps));
  SmallVector<Type> types(ValueRange(pack(pending, next)).getTypes());
  types.push_back(main.from.getType());
  auto branch = scf::IfOp::create(b, loc, types, isSecond, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Pending fresh = pending, after;
    fresh.isFresh = true;
    if (failed(emitStep(main.loop, indexOf(main, main.from), next, fresh,
                        mapping, after)))
      return failure();
    SmallVector<Value> results = pack(after, advance(next, stages));
    results.push_back(add(main.from, step));
    scf::YieldOp::create(b, loc, results);

    b.setInsertionPointToStart(branch.elseBlock());
    for (const LoopSteps &steps : earlier)
      if (failed(emitFurtherLoop(steps, step, mapping, pending, next)))
        return failure();
    results = pack(pending, next);
    results.push_back(main.from);
    scf::YieldOp::create(b, loc, results);
  }
  unpack(branch.getResults(), pending, next);
  main.from = branch.getResults().back();
  return success();
}

/// The steps after the first, loop after loop. `next` is the place of the
/// second one.
LogicalResult RoleKernel::emitFurtherSteps(const TileSteps &steps,
                                           const IRMapping &mapping,
                                           Pending &pending, Cursor &next) {
  SmallVector<LoopSteps> further = furtherSteps(steps);
  auto *rest = further.begin();
  if (hasSecondStep()) {
    rest = llvm::find_if(further, [&](const LoopSteps &part) {
      return part.loop == plan.loops.front();
    });
    if (failed(emitSecondStep({further.begin(), rest}, *rest, steps.step,
                              mapping, pending, next)))
      return failure();
  }
  for (const LoopSteps &part : ArrayRef(rest, further.end()))
    if (failed(emitFurtherLoop(part, steps.step, mapping, pending, next)))
      return failure();
  return success();
}

} // namespace selvedge::schedule
