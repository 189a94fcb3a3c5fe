// Steps of a loop that have no lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/IdleSteps.h"
#include "compiler/Analysis/LinearIndex.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::reference {

using namespace mlir;

/// Whether `value` is the loop's index, or the lanes of its blocks.
static bool isIndexOf(Value value, scf::ForOp loop) {
  auto range = value.getDefiningOp<tile::RangeOp>();
  return (range ? range.getStart() : value) == loop.getInductionVar();
}

/// The same of `index / divisor < number`, as of pages.
static std::optional<int64_t>
endOfQuotient(arith::CmpIOp compare, scf::ForOp loop,
              llvm::function_ref<int64_t(Value)> numberOf) {
  auto quotient =
      analysis::source(compare.getLhs()).getDefiningOp<arith::FloorDivSIOp>();
  Value end = analysis::source(compare.getRhs());
  if (!quotient || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !isIndexOf(analysis::source(quotient.getLhs()), loop))
    return std::nullopt;
  Value divisor = analysis::source(quotient.getRhs());
  for (Value number : {divisor, end})
    if (tile::isTile(number.getType()) || !loop.isDefinedOutsideOfLoop(number))
      return std::nullopt;
  int64_t size = numberOf(divisor);
  return size < 1 ? std::nullopt : std::optional(size * numberOf(end));
}

/// Where a predicate begins to be false in all lanes of the loop's blocks: that
/// of an index below something that the loop does not change.
static std::optional<int64_t>
endOf(Value predicate, scf::ForOp loop,
      llvm::function_ref<int64_t(Value)> numberOf) {
  using arith::CmpIPredicate;
  auto compare = analysis::source(predicate).getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  if (std::optional<int64_t> end = endOfQuotient(compare, loop, numberOf))
    return end;
  std::optional<analysis::LaneCompare> lanes = analysis::laneCompare(compare);
  if (!lanes || lanes->minus ||
      (lanes->predicate != CmpIPredicate::slt &&
       lanes->predicate != CmpIPredicate::sle))
    return std::nullopt;
  if (!isIndexOf(lanes->index, loop))
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

/// Where the first predicate of an operation's presence ends.
static std::optional<int64_t>
endOfSink(tile::SinkOpInterface sink, scf::ForOp loop,
          llvm::function_ref<int64_t(Value)> numberOf) {
  std::optional<int64_t> least;
  for (Value predicate : sink.getPresence())
    if (std::optional<int64_t> end = endOf(predicate, loop, numberOf))
      least = std::min(least.value_or(*end), *end);
  return least;
}

/// Of a loop by single numbers: such a number only says where something is
/// loaded or stored, and whether.
static std::optional<int64_t>
idleFromNumber(scf::ForOp loop, llvm::function_ref<int64_t(Value)> numberOf) {
  int64_t from = 0;
  auto isEnded = [&](std::optional<int64_t> end) {
    from = std::max(from, end.value_or(from));
    return end.has_value();
  };
  for (Operation *user : loop.getInductionVar().getUsers()) {
    auto store = dyn_cast<tile::StoreOp>(user);
    bool isKnown =
        isa<arith::CmpIOp>(user)
            ? isEnded(endOf(user->getResult(0), loop, numberOf))
            : (isa<tile::LoadOp>(user) ||
               (store && store.getValue() != loop.getInductionVar())) &&
                  isEnded(endOfSink(cast<tile::SinkOpInterface>(user), loop,
                                    numberOf));
    if (!isKnown)
      return std::nullopt;
  }
  WalkResult result = loop.getBody()->walk([&](tile::StoreOp store) {
    return isEnded(endOfSink(store, loop, numberOf)) ? WalkResult::advance()
                                                     : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(from);
}

std::optional<int64_t> idleFrom(scf::ForOp loop,
                                llvm::function_ref<int64_t(Value)> numberOf) {
  if (!loop.getStep().getDefiningOp<tile::BlockSizeOp>())
    return idleFromNumber(loop, numberOf);
  // An index that is used as a number tells steps apart.
  if (loop.getInductionVar().use_empty() ||
      !llvm::all_of(loop.getInductionVar().getUsers(),
                    llvm::IsaPred<tile::RangeOp>))
    return std::nullopt;
  int64_t from = 0;
  WalkResult result = loop.getBody()->walk([&](tile::SinkOpInterface sink) {
    if (!takesLanes(sink, loop))
      return WalkResult::advance();
    std::optional<int64_t> least = endOfSink(sink, loop, numberOf);
    if (!least)
      return WalkResult::interrupt();
    from = std::max(from, *least);
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(from);
}

} // namespace selvedge::reference
