// The steps of a tile, in the order in which they are taken.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The last index of a loop that runs.
Value RoleKernel::lastIndex(Value from, Value to, Value step) {
  Value distance = sub(sub(to, i32(1)), from);
  return add(from, mul(div(distance, step), step));
}

/// With `rowsEnd`, steps of the last loop that begin there or later are idle,
/// all but its first one.
RoleKernel::TileSteps RoleKernel::findSteps(IRMapping &mapping, Value rowsEnd) {
  TileSteps steps;
  SmallVector<Value> runs;
  for (scf::ForOp loop : plan.loops) {
    Value from = scalar(loop.getLowerBound(), mapping),
          to = scalar(loop.getUpperBound(), mapping);
    steps.step = scalar(loop.getStep(), mapping);
    if (rowsEnd && loop == plan.loops.back()) {
      Value end = least(to, most(rowsEnd, add(from, i32(1))));
      steps.idleFrom = add(lastIndex(from, end, steps.step), steps.step);
      steps.idleTo = to;
      to = end;
    }
    runs.push_back(
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to));
    if (steps.idleTo)
      steps.idleTo = arith::SelectOp::create(b, loc, runs.back(), steps.idleTo,
                                             steps.idleFrom);
    steps.lower.push_back(from);
    steps.upper.push_back(to);
  }
  // From the loop whose steps come last to the one whose steps come first.
  bool backward = isBackward();
  auto order = llvm::to_vector(llvm::seq<size_t>(0, plan.loops.size()));
  if (!backward)
    std::reverse(order.begin(), order.end());
  for (size_t i : order) {
    Value first = backward
                      ? lastIndex(steps.lower[i], steps.upper[i], steps.step)
                      : steps.lower[i];
    Value isFirst = arith::ConstantIntOp::create(b, loc, i == 0, 1);
    if (!steps.exists) {
      steps.first = first;
      steps.exists = runs[i];
      steps.isOfFirst = isFirst;
      continue;
    }
    steps.first = arith::SelectOp::create(b, loc, runs[i], first, steps.first);
    steps.isOfFirst =
        arith::SelectOp::create(b, loc, runs[i], isFirst, steps.isOfFirst);
    steps.exists = arith::OrIOp::create(b, loc, steps.exists, runs[i]);
  }
  return steps;
}

/// The steps after the first, in the order in which they are taken.
SmallVector<RoleKernel::LoopSteps>
RoleKernel::furtherSteps(const TileSteps &steps) {
  SmallVector<LoopSteps> further;
  bool backward = isBackward();
  for (auto [loop, from, to] :
       llvm::zip_equal(plan.loops, steps.lower, steps.upper)) {
    if (!backward) {
      further.push_back(
          {loop, most(from, add(steps.first, steps.step)), to, Value()});
      continue;
    }
    Value end = least(to, steps.first);
    further.push_back(
        {loop, from, end, add(from, lastIndex(from, end, steps.step))});
  }
  if (backward)
    std::reverse(further.begin(), further.end());
  return further;
}

Value RoleKernel::indexOf(const LoopSteps &steps, Value number) {
  return steps.sum ? sub(steps.sum, number) : number;
}

/// Scores depend on nothing that a softmax step carries (OnlineSoftmax.h), and
/// nothing else is carried or stored.
bool RoleKernel::findOrderFree() {
  return !softmax.empty() && llvm::all_of(plan.loops, [&](scf::ForOp loop) {
    const OnlineSoftmax &step = softmax[loop];
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    bool isSum =
        llvm::all_of(llvm::zip_equal(step.accs, step.newAccs), [&](auto pair) {
          auto [acc, rescaled] = pair;
          auto product = yield.getOperand(acc).template getDefiningOp<MmaOp>();
          return product && product.getInit() == rescaled;
        });
    return isSum && loop.getNumResults() == step.accs.size() + 2 &&
           llvm::none_of(*loop.getBody(), llvm::IsaPred<StoreOp>);
  });
}

/// The ends of the first and the last warpgroup differ by the rows between
/// them. Where those are less than a step it is not worth a loop; and as the
/// pending product holds its slot meanwhile, other slots must do.
bool RoleKernel::hasIdleSteps() {
  if (!isOrderFree)
    return false;
  scf::ForOp last = plan.loops.back();
  std::optional<int64_t> step = getConstantIntValue(last.getStep());
  int64_t rows = warpgroupRows * (plan.warpgroups - 1);
  return step && *step <= rows && (rows + *step - 1) / *step < stages &&
         llvm::any_of(
             lagged[last].getPresence(),
             [&](Value p) { return endOfRows(p).has_value(); });
}

/// A condition of the last loop's product that bounds the columns that a row
/// sees, in all that the step adds to.
std::optional<AheadLimit> RoleKernel::endOfRows(Value condition) {
  scf::ForOp last = plan.loops.back();
  const OnlineSoftmax &step = softmax[last];
  std::optional<AheadLimit> limit = matchAheadLimit(condition);
  bool isEnd =
      limit && llvm::is_contained(step.maxPresence, condition) &&
      llvm::is_contained(step.sumPresence, condition) &&
      limit->columns.getStart() == last.getInductionVar() &&
      last.isDefinedOutsideOfLoop(limit->most) &&
      last.isDefinedOutsideOfLoop(limit->rows.getStart()) &&
      distOf(limit->rows.getType()).getAxes()[0].getName() == plan.rowAxis;
  return isEnd ? limit : std::nullopt;
}

/// The first column that none of the warpgroup's rows sees, as conditions of
/// the last loop say that compare the two; null without such.
Value RoleKernel::rowsEnd(IRMapping &mapping) {
  if (!hasIdleSteps())
    return Value();
  scf::ForOp last = plan.loops.back();
  Value end;
  for (Value p : lagged[last].getPresence())
    if (std::optional<AheadLimit> ahead = endOfRows(p)) {
      Value row =
          add(add(scalar(ahead->rows.getStart(), mapping), warpgroupRow()),
              i32(warpgroupRows - 1));
      // No sum overflows, however far ahead a column may lie.
      Value room = sub(i32(std::numeric_limits<int32_t>::max() - 1), row);
      Value behind =
          add(add(row, least(scalar(ahead->most, mapping), room)), i32(1));
      end = end ? least(end, behind) : behind;
    }
  return end;
}

/// The steps after its own, in which a warpgroup is idle: it takes its turn,
/// meets the others where rows are cleared, and releases tiles. Those must have
/// come: an earlier arrival would count for the phase before.
void RoleKernel::emitIdleSteps(const TileSteps &steps, const IRMapping &mapping,
                               Cursor &at) {
  if (!steps.idleTo)
    return;
  scf::ForOp source = plan.loops.back();
  auto loop = scf::ForOp::create(b, loc, steps.idleFrom, steps.idleTo,
                                 steps.step, ValueRange{at.stage, at.parity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  at = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  IRMapping local = mapping;
  local.map(source.getInductionVar(), loop.getInductionVar());
  SmallVector<BulkCopy> &copies = plan.streamed.find(source)->second;
  std::optional<size_t> late = laggedCopy();
  auto release = [&](bool isLate) {
    for (size_t i = 0; i < copies.size(); ++i)
      if ((i == late) == isLate) {
        WaitOp::create(b, loc, streamed[i].full, at.stage, at.parity);
        ArriveOp::create(b, loc, streamed[i].empty, at.stage, true);
      }
  };
  SmallVector<StepTile> tiles;
  for (auto [i, copy] : llvm::enumerate(copies))
    tiles.push_back({&copy, &streamed[i], {&copy}, local});
  IdleOp::create(b, loc, presenceOf(lagged[source].getPresence(), local));
  clearTiles(tiles, at, /*isBeforeTurn=*/true);
  awaitTurn();
  release(false);
  passTurn();
  release(true);
  Cursor next = advance(at, stages);
  scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
  at = {loop.getResult(0), loop.getResult(1)};
}

} // namespace selvedge::schedule
