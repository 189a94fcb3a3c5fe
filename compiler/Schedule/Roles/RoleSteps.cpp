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
    if (loopOfWhole())
      moveWhole(steps, wholeEnd(mapping));
  }
  SmallVector<Value> runs =
      llvm::map_to_vector(llvm::seq<size_t>(0, plan.loops.size()), run);
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

/// The masked loops have one body, so that a branch around the masks spares two
/// of three copies of a step, and the registers of three loops: windows at D
/// 128 gain 15 %, at D 64 7 %. A single warpgroup waits for each branch (5 % at
/// D 64). Where scores take more arithmetic than that it costs 3 %, for two
/// fifths of the time that ptxas takes: from heads of 128 on, where that is
/// long.
bool RoleKernel::joinsLoops() {
  if (plan.loops.size() != 3 || softmax.empty())
    return false;
  constexpr int64_t registersOf128 = 64;
  scf::ForOp whole = plan.loops[1], last = plan.loops.back();
  bool isWorthIt =
      changesScores(last)
          ? layoutOf(convert(lagged[last].getType())).getNumRegs() >=
                registersOf128
          : plan.warpgroups > 1;
  return isWorthIt && hasSameMasks() && lagged[whole].getPresence().empty() &&
         !softmax[whole].scores.getDefiningOp<arith::SelectOp>() &&
         softmax[last].scores.getDefiningOp<arith::SelectOp>();
}

/// A comparison of numbers that all lanes share; null for others.
static arith::CmpIOp comparesPlaces(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getLhs().getDefiningOp<SplatOp>() &&
                 compare.getRhs().getDefiningOp<SplatOp>()
             ? compare
             : arith::CmpIOp();
}

bool RoleKernel::masksInBranch(scf::ForOp loop) {
  if (softmax.empty() || !softmax[loop].scores.getDefiningOp<arith::SelectOp>())
    return false;
  ValueRange presence = lagged[loop].getPresence();
  return (plan.loops.size() == 1 && hasColumnLimits(loop)) ||
         (!presence.empty() && llvm::all_of(presence, comparesPlaces));
}

/// `columns < scalar`, of which all rows have the same; null for others.
static std::optional<IndexLimit> limitOfColumns(Value condition,
                                                StringAttr columns) {
  LayoutAttr layout = layoutOf(condition.getType());
  bool isOfColumns = layout && layout.getAxes().size() == 1 &&
                     layout.getAxes().front().getName() == columns;
  return isOfColumns ? matchIndexLimit(condition) : std::nullopt;
}

bool RoleKernel::hasColumnLimits(scf::ForOp loop) {
  ValueRange presence = lagged[loop].getPresence();
  return !presence.empty() && llvm::all_of(presence, [&](Value p) {
    std::optional<AheadLimit> ahead = matchAheadLimit(p);
    return limitOfColumns(p, softmax[loop].over) ||
           (ahead && loop.isDefinedOutsideOfLoop(ahead->most) &&
            loop.isDefinedOutsideOfLoop(ahead->rows.getStart()) &&
            layoutOf(ahead->rows.getType()).getAxes()[0].getName() ==
                plan.rowAxis);
  });
}

Value RoleKernel::wholeStep(scf::ForOp loop, IRMapping &mapping) {
  LayoutAttr scores = layoutOf(softmax[loop].scores.getType());
  StringAttr columns = softmax[loop].over;
  int64_t size = scores.getAxes()[scores.indexOf(columns)].getSize();
  Value whole;
  auto require = [&](Value condition) {
    whole = whole ? arith::AndIOp::create(b, loc, whole, condition).getResult()
                  : condition;
  };
  for (Value p : lagged[loop].getPresence()) {
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
  if (isBackward()) {
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
/// them. Where those are less than a step it is not worth a loop; a loop of one
/// step has none.
int64_t RoleKernel::mostIdleSteps() {
  scf::ForOp last = plan.loops.back();
  if (!isOrderFree || analysis::hasOneStep(last))
    return 0;
  std::optional<int64_t> step = getConstantIntValue(last.getStep());
  int64_t rows = warpgroupRows * (plan.warpgroups - 1);
  return step && *step <= rows && endsByRow() ? (rows + *step - 1) / *step : 0;
}

bool RoleKernel::endsByRow() {
  return llvm::any_of(lagged[plan.loops.back()].getPresence(),
                      [&](Value p) { return endOfRows(p).has_value(); });
}

/// The pending product holds its slot during the idle steps; and until the next
/// tile's first step has begun, before which the first warpgroup awaits what it
/// has to clear of that.
int64_t RoleKernel::slotsForIdleSteps() {
  bool clears =
      llvm::any_of(plan.streamed[plan.loops.back()], [](const BulkCopy &copy) {
        return !copy.rowPredicates.empty();
      });
  return mostIdleSteps() + 1 + (clears && isPipelined());
}

bool RoleKernel::hasIdleSteps() {
  return mostIdleSteps() > 0 && slotsForIdleSteps() <= stages;
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
      layoutOf(limit->rows.getType()).getAxes()[0].getName() == plan.rowAxis;
  return isEnd ? limit : std::nullopt;
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
  if (!hasIdleSteps())
    return Value();
  scf::ForOp last = plan.loops.back();
  Value end;
  for (Value p : lagged[last].getPresence())
    if (std::optional<AheadLimit> ahead = endOfRows(p)) {
      Value row =
          add(add(scalar(ahead->rows.getStart(), mapping), warpgroupRow()),
              i32(warpgroupRows - 1));
      Value behind = pastAhead(*ahead, row, mapping);
      end = end ? least(end, behind) : behind;
    }
  return end;
}

/// The conditions on indices of a step of the last loop, if each bounds its
/// columns: by a scalar, or by how far ahead of a row they may lie; else none.
SmallVector<Value> RoleKernel::columnLimits() {
  scf::ForOp last = plan.loops.back();
  SmallVector<Value> limits;
  for (Operation &op : *last.getBody()) {
    if (op.getNumResults() != 1 ||
        !getElementTypeOrSelf(op.getResult(0).getType()).isInteger(1) ||
        isa<arith::AndIOp, arith::CmpFOp, BroadcastOp>(op))
      continue;
    std::optional<IndexLimit> limit = matchIndexLimit(op.getResult(0));
    bool isScalar = limit && limit->first == last.getInductionVar() &&
                    last.isDefinedOutsideOfLoop(limit->end);
    if (!isScalar && !endOfRows(op.getResult(0)))
      return {};
    limits.push_back(op.getResult(0));
  }
  return limits;
}

/// The loop that takes steps of the last one, where some may be whole for a
/// warpgroup; else null.
scf::ForOp RoleKernel::loopOfWhole() {
  size_t n = plan.loops.size();
  return n > 1 && hasIdleSteps() && !columnLimits().empty() ? plan.loops[n - 2]
                                                            : scf::ForOp();
}

/// The first column that not all of the warpgroup's rows see.
Value RoleKernel::wholeEnd(IRMapping &mapping) {
  Value end;
  for (Value limit : columnLimits()) {
    Value bound;
    if (std::optional<AheadLimit> ahead = endOfRows(limit))
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
  if (loop != loopOfWhole())
    return;
  scf::ForOp last = plan.loops.back();
  SmallVector<Value> limits = columnLimits();
  SmallVector<Value> presence(lagged[last].getPresence());
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
        if (!comesWithTurn(source, i, /*inFirst=*/false))
          WaitOp::create(b, loc, streamed[i].full, at.stage, at.parity);
        ArriveOp::create(b, loc, streamed[i].empty, at.stage, true);
      }
  };
  SmallVector<StepTile> tiles;
  for (auto [i, copy] : llvm::enumerate(copies))
    tiles.push_back({&copy, &streamed[i], {&copy}, local});
  IdleOp::create(b, loc, presenceOf(lagged[source].getPresence(), local));
  clearTiles(tiles, at, /*inFirst=*/false, /*isBeforeTurn=*/true);
  awaitTurn();
  release(false);
  passTurn();
  release(true);
  Cursor next = advance(at, stages);
  scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
  at = {loop.getResult(0), loop.getResult(1)};
}

} // namespace selvedge::schedule
