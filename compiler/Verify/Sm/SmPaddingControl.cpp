// Branches and loops in verify-sm-padding.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Renaming.h"
#include "compiler/Verify/Sm/SmPadding.h"

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
  if (!compare)
    return {};
  // Whatever they are compared with.
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

/// What is left of a predicate where `condition` is `holds`; null where that
/// makes it true.
static Value whatIsLeft(Value predicate, Value condition, bool holds) {
  bool isTrue = false;
  if (holds)
    conjuncts(condition, [&](Value part) {
      isTrue |= isSame(strip(predicate), strip(part));
    });
  if (isTrue)
    return {};
  auto either = strip(predicate).getDefiningOp<arith::OrIOp>();
  if (!either)
    return predicate;
  for (auto [side, other] : {std::pair(either.getLhs(), either.getRhs()),
                             std::pair(either.getRhs(), either.getLhs())}) {
    bool isNegated = isNegation(side, condition);
    if (isNegated || isSame(side, condition))
      return holds != isNegated ? Value() : whatIsLeft(other, condition, holds);
  }
  return predicate;
}

DenseMap<Value, Facts> SmPadding::assume(Value condition, bool holds) {
  DenseMap<Value, Facts> before;
  for (auto &[value, known] : facts) {
    Facts left;
    bool isChanged = false;
    for (Fact fact : known) {
      Value predicate = whatIsLeft(fact.predicate, condition, holds);
      isChanged |= predicate != fact.predicate;
      fact.predicate = predicate;
      if (predicate)
        addFact(left, fact);
    }
    if (!isChanged)
      continue;
    before[value] = known;
    known = left;
  }
  return before;
}

LogicalResult SmPadding::visitArm(scf::IfOp branch, Block *arm,
                                  SmallVectorImpl<Facts> &results, bool check) {
  Renaming names(branch, renamed);
  DenseMap<Value, Facts> replaced =
      assume(branch.getCondition(), arm == branch.thenBlock());
  DenseMap<Value, Facts> tested;
  if (FoldOp sums = testedForNaN(branch.getCondition());
      sums && arm == branch.elseBlock())
    tested = assumeNoNaN(sums, branch);
  if (failed(visit(*arm, check)))
    return failure();
  for (Value v : arm->getTerminator()->getOperands()) {
    Facts &known = results.emplace_back();
    for (const Fact &fact : of(v))
      addFact(known, *names.rename(fact, arm->getTerminator()->getOperands(),
                                   branch.getResults(), /*mustLeave=*/false));
  }
  for (auto *before : {&tested, &replaced})
    for (auto &[value, known] : *before)
      facts[value] = known;
  return success();
}

/// The conditions that an arm says are true in all its lanes, which
/// verify-sm-async demands.
static SmallVector<Value> claimedIn(Block *arm) {
  SmallVector<Value> claimed;
  for (auto whole : arm->getOps<WholeOp>())
    for (Value p : whole.getPresence())
      conjuncts(p, [&](Value part) { claimed.push_back(part); });
  return claimed;
}

/// A fact that such a condition excludes says nothing of the arm: it says of
/// the result what it does of the other one.
Facts SmPadding::joinArms(Facts a, Value resultA, ArrayRef<Value> claimedByA,
                          Facts b, Value resultB, ArrayRef<Value> claimedByB) {
  auto isClaimed = [&](ArrayRef<Value> claimed, const Fact &fact) {
    return !claimed.empty() &&
           (llvm::any_of(claimed, [&](Value p) { return excludes(p, fact); }) ||
            rows.follows(claimed, fact.predicate));
  };
  Facts alone;
  auto take = [&](Facts &from, ArrayRef<Value> own, ArrayRef<Value> others) {
    llvm::erase_if(from, [&](const Fact &fact) {
      if (isClaimed(own, fact))
        return true;
      if (!isClaimed(others, fact))
        return false;
      alone.push_back(fact);
      return true;
    });
  };
  take(a, claimedByA, claimedByB);
  take(b, claimedByB, claimedByA);
  Facts joined =
      joinFacts(a, stateOfConstant(resultA), b, stateOfConstant(resultB));
  for (const Fact &fact : alone)
    addFact(joined, fact);
  return joined;
}

LogicalResult SmPadding::visitIf(scf::IfOp branch, bool check) {
  if (check &&
      failed(demandNoGarbage(branch, branch.getCondition(), "condition")))
    return failure();
  Memory before = memory;
  SmallVector<Facts> fromThen, fromElse;
  if (failed(visitArm(branch, branch.thenBlock(), fromThen, check)))
    return failure();
  Memory afterThen = memory;
  memory = before;
  if (Block *otherwise = branch.elseBlock()) {
    if (failed(visitArm(branch, otherwise, fromElse, check)))
      return failure();
    SmallVector<Value> byThen = claimedIn(branch.thenBlock()),
                       byElse = claimedIn(otherwise);
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      facts[result] =
          joinArms(fromThen[i], branch.thenYield().getOperand(i), byThen,
                   fromElse[i], branch.elseYield().getOperand(i), byElse);
  }
  memory = joined(afterThen, memory);
  return success();
}

static bool isSameFacts(const Facts &a, const Facts &b) {
  return llvm::equal(a, b, [](const Fact &x, const Fact &y) {
    return isSame(x.predicate, y.predicate) && x.state == y.state &&
           x.origin == y.origin && x.within.size() == y.within.size();
  });
}

LogicalResult SmPadding::visitTile(scf::WhileOp loop, bool check) {
  // What an iteration before wrote is not known, nor after the loop.
  memory.clear();
  scf::ConditionOp test = loop.getConditionOp();
  if (failed(visit(*loop.getBeforeBody(), check)) ||
      (check &&
       failed(demandNoGarbage(test, test.getCondition(), "condition"))))
    return failure();
  Renaming edges(loop, renamed);
  auto handOn = [&](ValueRange to) {
    for (auto [passed, there] : llvm::zip_equal(test.getArgs(), to)) {
      Facts known;
      for (const Fact &fact : of(passed))
        addFact(known, *edges.rename(fact, test.getArgs(), to,
                                     /*mustLeave=*/false));
      facts[there] = known;
    }
  };
  handOn(loop.getAfterArguments());
  handOn(loop.getResults());
  LogicalResult result = visit(*loop.getAfterBody(), check);
  memory.clear();
  return result;
}

/// Visits a loop until its facts stay the same; `visitOnce` says whether some
/// have changed.
static LogicalResult settle(Operation *loop,
                            llvm::function_ref<FailureOr<bool>()> visitOnce) {
  constexpr unsigned maxRounds = 32;
  for (unsigned round = 0; round < maxRounds; ++round) {
    FailureOr<bool> changed = visitOnce();
    if (failed(changed))
      return failure();
    if (!*changed)
      return success();
  }
  return loop->emitOpError("expects facts that settle in ")
         << maxRounds << " rounds to verify, found that they do not";
}

LogicalResult SmPadding::visitWhile(scf::WhileOp loop, bool check) {
  ValueRange inits = loop.getInits(), arguments = loop.getBeforeArguments(),
             yields = loop.getYieldOp().getResults();
  for (auto [init, argument] : llvm::zip_equal(inits, arguments))
    facts[argument] = Facts(of(init));
  Renaming edges(loop, renamed);
  // States only lose meaning.
  auto visitOnce = [&]() -> FailureOr<bool> {
    if (failed(visitTile(loop, /*check=*/false)))
      return failure();
    bool changed = false;
    SmallVector<Facts> heads;
    for (auto [init, yield] : llvm::zip_equal(inits, yields)) {
      Facts next;
      for (const Fact &fact : of(yield)) {
        std::optional<Fact> there =
            edges.rename(fact, yields, arguments, /*mustLeave=*/true);
        if (there)
          addFact(next, *there);
        else if (fact.origin == Origin::Absent)
          return refuse(loop, fact.predicate,
                        "no lanes that are absent by a predicate of one tile "
                        "to be carried to the next");
      }
      heads.push_back(joinFacts(of(init), stateOfConstant(init), next,
                                stateOfConstant(yield)));
    }
    for (auto [argument, head] : llvm::zip_equal(arguments, heads)) {
      changed |= !isSameFacts(head, of(argument));
      facts[argument] = head;
    }
    return changed;
  };
  if (failed(settle(loop, visitOnce)))
    return failure();
  return check ? visitTile(loop, check) : success();
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
    if (check && failed(demandNoGarbage(loop, bound, "loop bound")))
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
  auto visitOnce = [&]() -> FailureOr<bool> {
    memory = entry;
    if (failed(visit(*loop.getBody(), /*check=*/false)))
      return failure();
    Memory next = joined(entry, carried(loop));
    bool changed =
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
    return changed;
  };
  if (failed(settle(loop, visitOnce)))
    return failure();
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
