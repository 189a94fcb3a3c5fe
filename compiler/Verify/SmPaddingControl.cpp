// Branches and loops in verify-sm-padding.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Renaming.h"
#include "compiler/Verify/SmPadding.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

SmPadding::Memory SmPadding::joined(const Memory &a, const Memory &b) {
  Memory result;
  for (const auto &[buffer, known] : a)
    if (auto it = b.find(buffer); it != b.end())
      result[buffer] =
          joinFacts(known, State::Garbage, it->second, State::Garbage);
  return result;
}

/// The sums whose test for NaN by all lanes of a warp decides `condition`,
/// false where none is NaN.
static FoldOp testedForNaN(Value condition) {
  using arith::CmpFPredicate;
  auto any = strip(condition).getDefiningOp<AnyOp>();
  auto compare = any ? strip(any.getCondition()).getDefiningOp<arith::CmpFOp>()
                     : arith::CmpFOp();
  if (!compare || stateOfConstant(compare.getRhs()) == State::Garbage)
    return {};
  switch (compare.getPredicate()) {
  case CmpFPredicate::UEQ:
  case CmpFPredicate::UGT:
  case CmpFPredicate::UGE:
  case CmpFPredicate::ULT:
  case CmpFPredicate::ULE:
  case CmpFPredicate::UNE:
  case CmpFPredicate::UNO: {
    auto fold = strip(compare.getLhs()).getDefiningOp<FoldOp>();
    return fold && fold.getKind() == tile::Combine::Add ? fold : FoldOp();
  }
  default:
    return {};
  }
}

DenseMap<Value, Facts> SmPadding::assumeNoNaN(FoldOp sums, scf::IfOp branch) {
  DenseMap<Value, Facts> before;
  Value source = sums.getSource();
  Operation *def = source.getDefiningOp();
  if (!def || def->getBlock() != branch->getBlock())
    return before;
  before[source] = of(source);
  for (Fact &fact : facts[source])
    if (fact.state == State::ZeroOrNaN)
      fact.state = State::Zero;
  // What was computed from them before the branch.
  for (Operation &op :
       llvm::make_range(std::next(def->getIterator()), branch->getIterator())) {
    if (op.getNumRegions() != 0 || op.getNumResults() == 0 ||
        llvm::none_of(op.getOperands(),
                      [&](Value v) { return before.contains(v); }))
      continue;
    for (Value result : op.getResults())
      before[result] = of(result);
    (void)visit(op, /*check=*/false);
  }
  return before;
}

LogicalResult SmPadding::visitIf(scf::IfOp branch, bool check) {
  if (check && failed(demandPresent(branch, branch.getCondition(), {},
                                    "a condition that exists on every path")))
    return failure();
  auto yielded = [&](Block *arm) {
    SmallVector<std::pair<Facts, State>> result;
    if (branch.getNumResults() != 0)
      for (Value v : arm->getTerminator()->getOperands())
        result.push_back({of(v), stateOfConstant(v)});
    return result;
  };
  Memory before = memory;
  if (failed(visit(*branch.thenBlock(), check)))
    return failure();
  auto fromThen = yielded(branch.thenBlock());
  Memory afterThen = memory;
  memory = before;
  if (Block *otherwise = branch.elseBlock()) {
    DenseMap<Value, Facts> replaced;
    if (FoldOp sums = testedForNaN(branch.getCondition()))
      replaced = assumeNoNaN(sums, branch);
    if (failed(visit(*otherwise, check)))
      return failure();
    for (auto [result, one, other] :
         llvm::zip_equal(branch.getResults(), fromThen, yielded(otherwise)))
      facts[result] =
          joinFacts(one.first, one.second, other.first, other.second);
    for (auto &[value, known] : replaced)
      facts[value] = known;
  }
  memory = joined(afterThen, memory);
  return success();
}

LogicalResult SmPadding::visitWhile(scf::WhileOp loop, bool check) {
  Operation *ends[] = {loop, loop.getConditionOp(), loop.getYieldOp()};
  // What an iteration before wrote is not known, nor after the loop.
  memory.clear();
  if (failed(visit(*loop.getBeforeBody(), check)) ||
      failed(visit(*loop.getAfterBody(), check)))
    return failure();
  memory.clear();
  if (check)
    for (Operation *end : ends)
      for (Value v : end->getOperands())
        if (failed(demandPresent(end, v, {},
                                 "no absent lanes to be carried from tile to "
                                 "tile")))
          return failure();
  return success();
}

SmPadding::Memory SmPadding::carried(scf::ForOp loop) const {
  Memory result;
  for (const auto &[buffer, known] : memory) {
    if (llvm::any_of(known, [&](const Fact &fact) {
          return variesIn(fact.predicate, loop);
        }))
      continue;
    Facts &kept = result[buffer];
    for (const Fact &fact : known)
      addFact(kept, verify::carried(fact, loop));
  }
  return result;
}

static bool isSameFacts(const Facts &a, const Facts &b) {
  return llvm::equal(a, b, [](const Fact &x, const Fact &y) {
    return isSame(x.predicate, y.predicate) && x.state == y.state &&
           x.origin == y.origin && x.within.size() == y.within.size();
  });
}

LogicalResult SmPadding::merge(scf::ForOp loop, SmallVectorImpl<Facts> &heads,
                               bool check) {
  Renaming edges(loop, renamed);
  for (auto [init, yield] :
       llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues())) {
    Facts next, first;
    for (const Fact &fact : of(yield)) {
      if (std::optional<Fact> there = edges.toNext(fact))
        addFact(next, *there);
      else if (check && fact.origin == Origin::Absent)
        return refuse(loop, fact.predicate,
                      "no lanes that are absent by a predicate of one "
                      "iteration to be carried to the next");
    }
    for (const Fact &fact : of(init))
      addFact(first, edges.toFirst(fact, next));
    heads.push_back(
        joinFacts(first, stateOfConstant(init), next, stateOfConstant(yield)));
  }
  return success();
}

LogicalResult SmPadding::visitFor(scf::ForOp loop, bool check) {
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (check &&
        failed(demandPresent(loop, bound, {}, "loop bounds that always exist")))
      return failure();
  Renaming edges(loop, renamed);
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    Facts first;
    for (const Fact &fact : of(init))
      addFact(first, edges.toFirst(fact, {}));
    facts[argument] = first;
  }
  Memory entry = memory;
  // States only lose meaning, predicates are those of the body.
  constexpr unsigned maxRounds = 32;
  bool changed = true;
  for (unsigned round = 0; changed; ++round) {
    if (round == maxRounds)
      return loop.emitOpError("expects facts that settle in ")
             << maxRounds << " rounds to verify, found that they do not";
    memory = entry;
    if (failed(visit(*loop.getBody(), /*check=*/false)))
      return failure();
    Memory next = joined(entry, carried(loop));
    changed =
        next.size() != entry.size() ||
        !llvm::all_of(next, [&](const auto &left) {
          auto it = entry.find(left.first);
          return it != entry.end() && isSameFacts(left.second, it->second);
        });
    entry = std::move(next);
    SmallVector<Facts> heads;
    (void)merge(loop, heads, /*check=*/false);
    for (auto [argument, head] :
         llvm::zip_equal(loop.getRegionIterArgs(), heads)) {
      changed |= !isSameFacts(head, of(argument));
      facts[argument] = head;
    }
  }
  memory = entry;
  if (check) {
    SmallVector<Facts> heads;
    if (failed(visit(*loop.getBody(), check)) ||
        failed(merge(loop, heads, check)))
      return failure();
  }
  memory = entry;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    Facts last;
    for (const Fact &fact : of(argument))
      addFact(last, edges.toExit(fact));
    facts[result] = last;
  }
  return success();
}

} // namespace selvedge::verify
