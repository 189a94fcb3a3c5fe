// In which order a kernel with warp roles takes the steps of a tile, and who
// waits for whom.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Roles/RoleSchedule.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Whether the first loop masks what the last one does, which masks most.
bool RoleSchedule::hasSameMasks() const {
  return lagged.lookup(plan.loops.front()).getPresence().size() ==
         lagged.lookup(plan.loops.back()).getPresence().size();
}

bool RoleSchedule::changesScores(scf::ForOp loop) const {
  return !scoresOf(softmax.at(loop), loop).rest.getDefiningOp<MmaOp>();
}

/// Scores depend on nothing that a softmax step carries (OnlineSoftmax.h), and
/// nothing else is carried or stored.
bool RoleSchedule::findOrderFree() const {
  return !softmax.empty() && llvm::all_of(plan.loops, [&](scf::ForOp loop) {
    const OnlineSoftmax &step = softmax.at(loop);
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

/// The masked loops have one body, so that a branch around the masks spares two
/// of three copies of a step, and the registers of three loops: windows at D
/// 128 gain 15 %, at D 64 7 %. A single warpgroup waits for each branch (5 % at
/// D 64). Where scores take more arithmetic than that it costs 3 %, for two
/// fifths of the time that ptxas takes: from heads of 128 on, where that is
/// long.
bool RoleSchedule::canJoin() const {
  if (plan.loops.size() != 3 || softmax.empty())
    return false;
  constexpr int64_t registersOf128 = 64;
  scf::ForOp whole = plan.loops[1], last = plan.loops.back();
  bool isWorthIt =
      changesScores(last)
          ? layoutOf(typeOfWarpgroup(lagged.lookup(last).getType()))
                    .getNumRegs() >= registersOf128
          : plan.warpgroups > 1;
  return isWorthIt && hasSameMasks() &&
         lagged.lookup(whole).getPresence().empty() &&
         !softmax.at(whole).scores.getDefiningOp<arith::SelectOp>() &&
         softmax.at(last).scores.getDefiningOp<arith::SelectOp>();
}

/// A comparison of numbers that all lanes share; null for others.
arith::CmpIOp comparesPlaces(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getLhs().getDefiningOp<SplatOp>() &&
                 compare.getRhs().getDefiningOp<SplatOp>()
             ? compare
             : arith::CmpIOp();
}

bool RoleSchedule::masksInBranch(scf::ForOp loop) const {
  if (softmax.empty() ||
      !softmax.at(loop).scores.getDefiningOp<arith::SelectOp>())
    return false;
  ValueRange presence = lagged.lookup(loop).getPresence();
  return (plan.loops.size() == 1 && hasColumnLimits(loop)) ||
         (!presence.empty() && llvm::all_of(presence, comparesPlaces));
}

/// `columns < scalar`, of which all rows have the same; null for others.
std::optional<IndexLimit> limitOfColumns(Value condition, StringAttr columns) {
  LayoutAttr layout = layoutOf(condition.getType());
  bool isOfColumns = layout && layout.getAxes().size() == 1 &&
                     layout.getAxes().front().getName() == columns;
  return isOfColumns ? matchIndexLimit(condition) : std::nullopt;
}

bool RoleSchedule::hasColumnLimits(scf::ForOp loop) const {
  ValueRange presence = lagged.lookup(loop).getPresence();
  return !presence.empty() && llvm::all_of(presence, [&](Value p) {
    std::optional<AheadLimit> ahead = matchAheadLimit(p);
    return limitOfColumns(p, softmax.at(loop).over) ||
           (ahead && loop.isDefinedOutsideOfLoop(ahead->most) &&
            loop.isDefinedOutsideOfLoop(ahead->rows.getStart()) &&
            layoutOf(ahead->rows.getType()).getAxes()[0].getName() ==
                plan.rowAxis);
  });
}

/// The ends of the first and the last warpgroup differ by the rows between
/// them. Where those are less than a step it is not worth a loop; a loop of one
/// step has none.
int64_t RoleSchedule::mostIdleSteps() const {
  scf::ForOp last = plan.loops.back();
  if (!isOrderFree || analysis::hasOneStep(last))
    return 0;
  std::optional<int64_t> step = getConstantIntValue(last.getStep());
  int64_t rows = warpgroupRows * (plan.warpgroups - 1);
  return step && *step <= rows && endsByRow() ? (rows + *step - 1) / *step : 0;
}

bool RoleSchedule::endsByRow() const {
  return llvm::any_of(lagged.lookup(plan.loops.back()).getPresence(),
                      [&](Value p) { return endOfRows(p).has_value(); });
}

/// The next tile's operands must be there beside this one's. A single warpgroup
/// with no slots to spare waits for memory at a tile's end either way (heads of
/// 256, half of the code; with four slots, heads of 128, it gains 2 %).
bool RoleSchedule::canPipeline() const {
  return lags() && !lastOutside && (plan.warpgroups > 1 || stages > 2) &&
         (plan.resident.empty() || residentStages > 1);
}

/// The pending product holds its slot during the idle steps; and until the next
/// tile's first step has begun, before which the first warpgroup awaits what it
/// has to clear of that.
int64_t RoleSchedule::slotsForIdleSteps() const {
  bool clears = llvm::any_of(
      plan.streamed.at(plan.loops.back()),
      [](const BulkCopy &copy) { return !copy.rowPredicates.empty(); });
  return mostIdleSteps() + 1 + (clears && canPipeline());
}

/// A condition of the last loop's product that bounds the columns that a row
/// sees, in all that the step adds to.
std::optional<AheadLimit> RoleSchedule::endOfRows(Value condition) const {
  scf::ForOp last = plan.loops.back();
  const OnlineSoftmax &step = softmax.at(last);
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

/// The conditions on indices of a step of the last loop, if each bounds its
/// columns: by a scalar, or by how far ahead of a row they may lie; else none.
SmallVector<Value> RoleSchedule::columnLimits() const {
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
scf::ForOp RoleSchedule::loopOfWhole() const {
  size_t n = plan.loops.size();
  return n > 1 && hasIdleSteps() && !columnLimits().empty() ? plan.loops[n - 2]
                                                            : scf::ForOp();
}

/// The extent of the axis `over` in an operand of a product.
static int64_t extentOf(Type operand, StringAttr over) {
  if (auto buffer = dyn_cast<BufferType>(operand))
    return over == buffer.getRowAxis() ? buffer.getRows() : buffer.getCols();
  return cast<RankedTensorType>(operand).getDimSize(
      layoutOf(operand).indexOf(over));
}

/// Of a loop whose steps are finished one by one. Turns cost waits, and gain
/// where products take most of a step.
bool RoleSchedule::gainsByTurns(scf::ForOp loop) const {
  // Of a multiprocessor: its tensor cores, and one instruction of its warps.
  constexpr int64_t multiplyAddsPerCycle = 2048, elementsPerCycle = 128;
  if (!crossingsAreLate || plan.warpgroups == 1)
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

bool RoleSchedule::canTakeTurns() const {
  return plan.warpgroups > 1 &&
         (lags() || llvm::any_of(plan.loops, [&](scf::ForOp loop) {
            return gainsByTurns(loop);
          }));
}

/// Whether the rows that a copy brings although they are absent are the last
/// ones: a loop's bound then leaves only the last step with such.
static bool lacksLastRowsOnly(const BulkCopy &copy) {
  return llvm::all_of(copy.rowPredicates,
                      [](Value p) { return matchIndexLimit(p).has_value(); });
}

/// Whether the tile of a copy may have absent rows in a tile's first step, or
/// in a further one: from the last step to the first only that has the last
/// rows.
bool RoleSchedule::isCleared(const BulkCopy &copy, bool inFirst) const {
  return !copy.rowPredicates.empty() &&
         (inFirst || !isBackward() || !lacksLastRowsOnly(copy));
}

bool isOfOuterRows(Value predicate) {
  return !layoutOf(predicate.getType()) || matchIndexLimit(predicate) ||
         matchIndexStart(predicate);
}

/// Whether the first warpgroup awaits the tile of a copy in each such step,
/// before its turn: to the others the turn says that it has come, and they need
/// not wait (heads of 128 gain 1 %). More than two wait nevertheless: without
/// that ptxas spills more (heads of 64, 5 % slower).
bool RoleSchedule::comesWithTurn(scf::ForOp loop, size_t ring,
                                 bool inFirst) const {
  ArrayRef<BulkCopy> copies = plan.streamed.at(loop);
  return plan.warpgroups == 2 && hasTurns() &&
         isCleared(copies[ring], inFirst) &&
         llvm::any_of(copies, [&](const BulkCopy &copy) {
           return isCleared(copy, inFirst) &&
                  !llvm::all_of(copy.rowPredicates, isOfOuterRows);
         });
}

} // namespace selvedge::schedule
