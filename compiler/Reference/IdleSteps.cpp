// Steps of a loop that have no lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/IdleSteps.h"
#include "compiler/Analysis/LinearIndex.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::reference {

using namespace mlir;

/// Where a predicate begins to be false in all lanes of the loop's blocks: that
/// of an index below something that the loop does not change.
static std::optional<int64_t>
endOf(Value predicate, scf::ForOp loop,
      llvm::function_ref<int64_t(Value)> numberOf) {
  using arith::CmpIPredicate;
  auto compare = analysis::source(predicate).getDefiningOp<arith::CmpIOp>();
  std::optional<analysis::LaneCompare> lanes =
      compare ? analysis::laneCompare(compare) : std::nullopt;
  if (!lanes || lanes->minus ||
      (lanes->predicate != CmpIPredicate::slt &&
       lanes->predicate != CmpIPredicate::sle))
    return std::nullopt;
  auto range = lanes->index.getDefiningOp<tile::RangeOp>();
  if (!range || range.getStart() != loop.getInductionVar())
    return std::nullopt;
  int64_t end =
      lanes->rest.constant + (lanes->predicate == CmpIPredicate::sle ? 1 : 0);
  for (auto &[term, coefficient] : lanes->rest.terms) {
    if (tile::isTile(term.getType()) || !loop.isDefinedOutsideOfLoop(term))
      return std::nullopt;
    end += coefficient * numberOf(term);
  }
  return end;
}

/// Whether an operation stores, or its results have no lanes of the loop's
/// blocks any more. What is loaded, or made lane by lane, matters there.
static bool takesLanes(Operation *sink, scf::ForOp loop) {
  if (isa<tile::StoreOp>(sink))
    return true;
  auto range = cast<tile::RangeOp>(*loop.getInductionVar().user_begin());
  StringAttr axis = tile::axesOf(range.getType()).front();
  auto hasAxis = [&](Value value) {
    return tile::isTile(value.getType()) &&
           llvm::is_contained(tile::axesOf(value.getType()), axis);
  };
  return !isa<tile::LoadOp>(sink) &&
         llvm::any_of(sink->getOperands(), hasAxis) &&
         !llvm::all_of(sink->getResults(), hasAxis);
}

std::optional<int64_t> idleFrom(scf::ForOp loop,
                                llvm::function_ref<int64_t(Value)> numberOf) {
  // An index that is used as a number tells steps apart.
  if (!loop.getStep().getDefiningOp<tile::BlockSizeOp>() ||
      loop.getInductionVar().use_empty() ||
      !llvm::all_of(loop.getInductionVar().getUsers(),
                    llvm::IsaPred<tile::RangeOp>))
    return std::nullopt;
  int64_t from = 0;
  WalkResult result = loop.getBody()->walk([&](tile::SinkOpInterface sink) {
    if (!takesLanes(sink, loop))
      return WalkResult::advance();
    std::optional<int64_t> least;
    for (Value predicate : sink.getPresence())
      if (std::optional<int64_t> end = endOf(predicate, loop, numberOf))
        least = std::min(least.value_or(*end), *end);
    if (!least)
      return WalkResult::interrupt();
    from = std::max(from, *least);
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(from);
}

} // namespace selvedge::reference
