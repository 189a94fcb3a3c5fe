// The steps of a tile, in the order in which they are taken.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The last index of a loop that runs.
Value RoleKernel::lastIndex(Value from, Value to, Value step) {
  Value distance = sub(sub(to, i32(1)), from);
  return add(from, mul(div(distance, step), step));
}

/// The steps of the last loop that begin at or before `wholeEnd` less a step
/// follow those of the loop before it, if that has any, and else are its only
/// ones.
void RoleKernel::moveWhole(TileSteps &steps, Value wholeEnd) {
  size_t last = plan.loops.size() - 1;
  Value from = steps.lower[last], to = steps.upper[last];
  Value columns = sub(most(least(wholeEnd, to), from), from);
  Value begin = add(from, mul(div(columns, steps.step), steps.step));
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, how, x, y);
  };
  Value moves = compare(arith::CmpIPredicate::sgt, begin, from);
  Value &lower = steps.lower[last - 1], &upper = steps.upper[last - 1];
  Value isEmpty = compare(arith::CmpIPredicate::sge, lower, upper);
  lower = arith::SelectOp::create(
      b, loc, arith::AndIOp::create(b, loc, moves, isEmpty), from, lower);
  upper = arith::SelectOp::create(b, loc, moves, begin, upper);
  steps.lower[last] = begin;
}

/// Of a warpgroup, steps of the last loop that begin where no row sees them are
/// idle, all but the first one.
RoleKernel::TileSteps RoleKernel::findSteps(IRMapping &mapping,
                                            bool ofWarpgroup) {
  TileSteps steps;
  for (scf::ForOp loop : plan.loops) {
    steps.lower.push_back(scalar(loop.getLowerBound(), mapping));
    steps.upper.push_back(scalar(loop.getUpperBound(), mapping));
    steps.step = scalar(loop.getStep(), mapping);
  }
  auto run = [&](size_t i) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                 steps.lower[i], steps.upper[i]);
  };
  if (Value rows = ofWarpgroup ? rowsEnd(mapping) : Value()) {
    size_t last = plan.loops.size() - 1;
    Value from = steps.lower[last], to = steps.upper[last];
    Value end = least(to, most(rows, add(from, i32(1))));
    steps.idleFrom = add(lastIndex(from, end, steps.step), steps.step);
    steps.idleTo =
        arith::SelectOp::create(b, loc, run(last), to, steps.idleFrom);
    steps.upper[last] = end;
    if (schedule.loopOfWhole())
      moveWhole(steps, wholeEnd(mapping));
  }
  SmallVector<Value> runs =
      llvm::map_to_vector(llvm::seq<size_t>(0, plan.loops.size()), run);
  // From the loop whose steps come last to the one whose steps come first.
  bool backward = schedule.isBackward();
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
  bool backward = schedule.isBackward();
  for (auto [loop, from, to] :
       llvm::zip_equal(plan.loops, steps.lower, steps.upper)) {
    if (!backward) {
      further.push_back({loop, most(from, add(steps.first, steps.step)), to});
      continue;
    }
    // From the last step to the first, that of the last loop is a tile's first
    // one.
    if (loop == plan.loops.back() && analysis::hasOneStep(loop))
      continue;
    Value end = least(to, steps.first);
    further.push_back(
        {loop, from, end, add(from, lastIndex(from, end, steps.step))});
  }
  if (backward)
    std::reverse(further.begin(), further.end());
  return further;
}

Value RoleKernel::wholeStep(scf::ForOp loop, IRMapping &mapping) {
  LayoutAttr scores = layoutOf(schedule.softmax[loop].scores.getType());
  StringAttr columns = schedule.softmax[loop].over;
  int64_t size = scores.getAxes()[scores.indexOf(columns)].getSize();
  Value whole;
  auto require = [&](Value condition) {
    whole = whole ? arith::AndIOp::create(b, loc, whole, condition).getResult()
                  : condition;
  };
  for (Value p : schedule.lagged[loop].getPresence()) {
    if (arith::CmpIOp compare = comparesPlaces(p)) {
      auto place = [&](Value side) {
        return scalar(side.getDefiningOp<SplatOp>().getValue(), mapping);
      };
      require(arith::CmpIOp::create(b, loc, compare.getPredicate(),
                                    place(compare.getLhs()),
                                    place(compare.getRhs())));
      continue;
    }
    std::optional<AheadLimit> ahead = matchAheadLimit(p);
    std::optional<IndexLimit> limit = limitOfColumns(p, columns);
    Value first = ahead ? ahead->columns.getStart() : limit->first;
    Value end = ahead ? pastAhead(*ahead,
                                  add(scalar(ahead->rows.getStart(), mapping),
                                      warpgroupRow()),
                                  mapping)
                      : scalar(limit->end, mapping);
    require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                  add(scalar(first, mapping), i32(size - 1)),
                                  end));
  }
  return whole;
}

/// Each loop begins where the one before ends.
RoleKernel::LoopSteps RoleKernel::joinedSteps(const TileSteps &steps) {
  scf::ForOp last = plan.loops.back();
  Value from = steps.lower.front(), to = steps.upper.back();
  LoopSteps joined{last, from, to, Value(), steps.lower[1], steps.upper[1]};
  if (schedule.isBackward()) {
    joined.to = least(to, steps.first);
    joined.sum = add(from, lastIndex(from, joined.to, steps.step));
  } else {
    joined.from = most(from, add(steps.first, steps.step));
  }
  return joined;
}

Value RoleKernel::indexOf(const LoopSteps &steps, Value number) {
  return steps.sum ? sub(steps.sum, number) : number;
}

/// The first column that `row` does not see. No sum overflows, however far
/// ahead a column may lie.
Value RoleKernel::pastAhead(const AheadLimit &ahead, Value row,
                            IRMapping &mapping) {
  Value room = sub(i32(std::numeric_limits<int32_t>::max() - 1), row);
  return add(add(row, least(scalar(ahead.most, mapping), room)), i32(1));
}

/// The first column that none of the warpgroup's rows sees, as conditions of
/// the last loop say that compare the two; null without such.
Value RoleKernel::rowsEnd(IRMapping &mapping) {
  if (!schedule.hasIdleSteps())
    return Value();
  scf::ForOp last = plan.loops.back();
  Value end;
  for (Value p : schedule.lagged[last].getPresence())
    if (std::optional<AheadLimit> ahead = schedule.endOfRows(p)) {
      Value row =
          add(add(scalar(ahead->rows.getStart(), mapping), warpgroupRow()),
              i32(warpgroupRows - 1));
      Value behind = pastAhead(*ahead, row, mapping);
      end = end ? least(end, behind) : behind;
    }
  return end;
}

/// The first column that not all of the warpgroup's rows see.
Value RoleKernel::wholeEnd(IRMapping &mapping) {
  Value end;
  for (Value limit : schedule.columnLimits()) {
    Value bound;
    if (std::optional<AheadLimit> ahead = schedule.endOfRows(limit))
      bound = pastAhead(
          *ahead, add(scalar(ahead->rows.getStart(), mapping), warpgroupRow()),
          mapping);
    else
      bound = scalar(matchIndexLimit(limit)->end, mapping);
    end = end ? least(end, bound) : bound;
  }
  return end;
}

/// Before a step of `loop` that the last one may have given it. What else its
/// product depends on both loops test.
void RoleKernel::claimWhole(scf::ForOp loop, Value index,
                            const IRMapping &mapping) {
  if (loop != schedule.loopOfWhole())
    return;
  scf::ForOp last = plan.loops.back();
  SmallVector<Value> limits = schedule.columnLimits();
  SmallVector<Value> presence(schedule.lagged[last].getPresence());
  llvm::erase_if(presence,
                 [&](Value p) { return !llvm::is_contained(limits, p); });
  IRMapping local = mapping;
  local.map(last.getInductionVar(), index);
  WholeOp::create(b, loc, presenceOf(presence, local));
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
        if (!schedule.comesWithTurn(source, i, /*inFirst=*/false))
          WaitOp::create(b, loc, streamed[i].full, at.stage, at.parity);
        ArriveOp::create(b, loc, streamed[i].empty, at.stage, true);
      }
  };
  SmallVector<StepTile> tiles;
  for (auto [i, copy] : llvm::enumerate(copies))
    tiles.push_back({&copy, &streamed[i], {&copy}, local});
  IdleOp::create(b, loc,
                 presenceOf(schedule.lagged[source].getPresence(), local));
  clearTiles(tiles, at, /*inFirst=*/false, /*isBeforeTurn=*/true);
  awaitTurn();
  release(false);
  passTurn();
  release(true);
  Cursor next = advance(at, schedule.stages);
  scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
  at = {loop.getResult(0), loop.getResult(1)};
}

} // namespace selvedge::schedule
