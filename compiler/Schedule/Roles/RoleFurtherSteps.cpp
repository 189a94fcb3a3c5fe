// The steps of a tile after its first.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

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
    Value index = indexOf(further, loop.getInductionVar());
    Value isWhole;
    if (further.wholeFrom) {
      auto compare = [&](arith::CmpIPredicate how, Value limit) -> Value {
        return arith::CmpIOp::create(b, loc, how, index, limit);
      };
      isWhole = arith::AndIOp::create(
          b, loc, compare(arith::CmpIPredicate::sge, further.wholeFrom),
          compare(arith::CmpIPredicate::slt, further.wholeTo));
    }
    if (failed(emitStep(source, index, next, pending, mapping, after, isWhole)))
      return failure();
    scf::YieldOp::create(b, loc, pack(after, advance(next, schedule.stages)));
  }
  unpack(loop.getResults(), pending, next);
  return success();
}

/// The sums of the lagged product are zero when a tile's first step has been
/// taken: its product comes in the second. More than two warpgroups have no
/// registers left for another copy of a step (D 64: 2 % slower), one waits for
/// memory, and where tiles are not one pipeline it gains nothing (D 256). Nor
/// is there one where partial steps come between: half a percent at 1024 keys
/// is not worth a fifth of the time that ptxas takes.
bool RoleKernel::hasSecondStep(ArrayRef<LoopSteps> further) {
  auto found = schedule.softmax.find(plan.loops.front());
  return schedule.isPipelined() && plan.warpgroups == 2 &&
         found != schedule.softmax.end() &&
         llvm::is_contained(found->second.accs, schedule.laggedResult) &&
         further.front().loop == plan.loops.front();
}

/// A tile's second step by itself, if it has one: the sums of products start
/// with it, so that no registers are set to zero. `main` is left the others.
LogicalResult RoleKernel::emitSecondStep(LoopSteps &main, Value step,
                                         const IRMapping &mapping,
                                         Pending &pending, Cursor &next) {
  auto exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      main.from, main.to);
  SmallVector<Value> none = pack(pending, next);
  none.push_back(main.from);
  auto branch =
      scf::IfOp::create(b, loc, ValueRange(none).getTypes(), exists, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Pending fresh = pending, after;
    fresh.isFresh = true;
    if (failed(emitStep(main.loop, indexOf(main, main.from), next, fresh,
                        mapping, after)))
      return failure();
    SmallVector<Value> results = pack(after, advance(next, schedule.stages));
    results.push_back(add(main.from, step));
    scf::YieldOp::create(b, loc, results);

    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, none);
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
  SmallVector<LoopSteps> further = schedule.joinsLoops()
                                       ? SmallVector{joinedSteps(steps)}
                                       : furtherSteps(steps);
  if (hasSecondStep(further) &&
      failed(
          emitSecondStep(further.front(), steps.step, mapping, pending, next)))
    return failure();
  for (const LoopSteps &part : further)
    if (failed(emitFurtherLoop(part, steps.step, mapping, pending, next)))
      return failure();
  return success();
}

} // namespace selvedge::schedule
