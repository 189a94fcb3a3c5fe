// Reductions and products in verify-sm-padding.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/SmPadding.h"

#include "compiler/Verify/Arithmetic/ElementStates.h"
#include "compiler/Verify/Arithmetic/LayoutCoverage.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// Adds the lanes of `more` that do not exist, mixed with others along `over`.
static void addMixed(Facts &facts, const Facts &more,
                     ArrayRef<StringAttr> over = {}) {
  addAbsent(facts, more, over, State::Determined);
}

/// Whether rows that do not exist may hold any bits where `predicate` is false,
/// although those that exist do not (RowsThatExist).
static bool isGarbageInAbsentRows(const Facts &facts, Value predicate) {
  return stateAt(facts, predicate) == State::Garbage;
}

/// What is made of rows of any bits: the absent ones.
static void addGarbageRows(Facts &facts) {
  for (Fact &fact : facts)
    if (fact.origin == Origin::Absent)
      fact.state = State::Garbage;
}

/// A fact of the lanes that a reduction has to leave out. Where the identity is
/// in all arms it is not enough that those of one arm are left out: others in
/// their row are not.
static Fact ofLeftOut(Fact fact, State identity) {
  if (fact.inAllArms && fact.state == identity)
    fact.within.clear();
  return fact;
}

LogicalResult SmPadding::visitReduce(ReduceOp reduce, bool check) {
  State identity = identityOf(reduce.getKind());
  StringAttr over = reduce.getOverAttr();
  Facts rest, source = of(reduce.getSource());
  Value wrong;
  bool isGarbage = false;
  for (const Fact &fact : source) {
    if (mentions(fact.predicate, over)) {
      if (fact.origin == Origin::Absent && fact.state != identity &&
          rows.stateOf(source, fact.predicate, over) != identity)
        wrong = fact.predicate;
      isGarbage |= isGarbageInAbsentRows(source, fact.predicate);
    } else if (Fact lanes = ofLeftOut(fact, identity);
               excludes(reduce.getPresence(), lanes)) {
      // A row whose lanes are all left out is there: it is the identity.
      if (lanes.within.empty())
        addFact(rest, {fact.predicate, identity, Origin::Known});
    } else if (fact.state == identity && fact.isTotal()) {
      // Identities alone give the identity.
      addFact(rest, withoutArmsAlong(fact, over));
    } else {
      addMixed(rest, {fact}, over);
    }
  }
  auto stateWhere = [&](Value part) {
    std::optional<State> state = rows.stateOf(source, part, over);
    return state
               ? state
               : derivedState(reduce.getSource(), part,
                              [&](Value v) -> const Facts & { return of(v); });
  };
  for (Value p : reduce.getPresence())
    conjuncts(p, [&](Value part) {
      if (stateWhere(part) != identity)
        wrong = part;
    });
  if (isGarbage)
    addGarbageRows(rest);
  facts[reduce] = rest;
  if (!check)
    return success();
  if (wrong)
    return refuse(reduce, wrong,
                  "the identity at absent lanes of axis '" + reduce.getOver() +
                      "'");
  return checkReduction(reduce);
}

/// As a reduction. Weights that are zero or NaN give a sum that is wrong, or
/// NaN: whoever uses it must have tested it (assumeNoNaN).
LogicalResult SmPadding::visitFold(FoldOp fold, bool check) {
  State identity = identityOf(fold.getKind());
  StringAttr over = fold.getOverAttr();
  Facts rest, source = of(fold.getSource());
  Value wrong;
  bool isGarbage = false;
  auto combine = [&](Value predicate, std::optional<State> state) {
    if (state == State::ZeroOrNaN && identity == State::Zero)
      addFact(rest, {predicate, State::Determined});
    else if (state != identity)
      wrong = predicate;
  };
  for (const Fact &fact : source) {
    if (!mentions(fact.predicate, over)) {
      if (!excludes(fold.getPresence(), fact))
        addMixed(rest, {fact}, over);
      continue;
    }
    if (fact.origin == Origin::Absent)
      combine(fact.predicate, rows.stateOf(source, fact.predicate, over));
    isGarbage |= isGarbageInAbsentRows(source, fact.predicate);
  }
  for (Value p : fold.getPresence())
    conjuncts(p, [&](Value part) {
      combine(part, rows.stateOf(source, part, over));
    });
  if (isGarbage)
    addGarbageRows(rest);
  facts[fold] = rest;
  if (check && wrong)
    return refuse(fold, wrong,
                  "the identity at absent lanes of axis '" + fold.getOver() +
                      "'");
  return success();
}

LogicalResult SmPadding::checkContributes(ContributesOp contributes) {
  Value wrong;
  for (Value p : contributes.getPresence())
    conjuncts(p, [&](Value part) {
      if (rows.stateOf(of(contributes.getSource()), part,
                       contributes.getOverAttr()) != State::Zero)
        wrong = part;
    });
  return wrong ? LogicalResult(refuse(contributes, wrong,
                                      "zero at absent lanes of axis '" +
                                          contributes.getOver() + "'"))
               : success();
}

LogicalResult SmPadding::visitProduct(Operation *op, ArrayRef<Pair> pairs,
                                      Value init, ValueRange presence,
                                      bool check) {
  Facts rest;
  for (auto [i, pair] : llvm::enumerate(pairs))
    if (failed(
            visitPair(op, pair, i == 0 ? presence : ValueRange(), rest, check)))
      return failure();
  if (init)
    addMixed(rest, of(init));
  facts[op->getResult(0)] = rest;
  return success();
}

bool SmPadding::isAnnihilated(ArrayRef<Facts> operands, ArrayRef<Value> values,
                              Value predicate, StringAttr over) {
  auto stateOf = [&](unsigned i) {
    return rows.stateOf(operands[i], predicate, over);
  };
  // Data beside a zero is allowed only where the predicate speaks of axes that
  // the operand lacks: then the same element is present for other rows; or
  // where the path is one on which the lane exists.
  auto isHarmless = [&](unsigned i) {
    std::optional<State> s = stateOf(i);
    return s ? *s == State::Zero || *s == State::Finite ||
                   *s == State::ZeroOrData
             : !within(predicate, values[i]);
  };
  auto isZero = [&](unsigned i) { return stateOf(i) == State::Zero; };
  return (isZero(0) && isHarmless(1)) || (isZero(1) && isHarmless(0));
}

LogicalResult SmPadding::visitPair(Operation *op, Pair pair,
                                   ValueRange presence, Facts &rest,
                                   bool check) {
  Facts operands[2];
  Value values[] = {pair.lhs, pair.rhs};
  int64_t extents[2];
  for (auto [i, operand] : llvm::enumerate(values)) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    auto written = memory.find(operand);
    if (buffer && written == memory.end()) {
      if (!check)
        return success();
      return op->emitOpError("expects a buffer that every path has written "
                             "in this iteration, but got ")
             << operand;
    }
    if (check && operand.getDefiningOp<SlotOp>() &&
        !described.contains(operand))
      return op->emitOpError("expects a slot that says which tile it holds, "
                             "but got ")
             << operand;
    operands[i] = buffer ? written->second : of(operand);
    SmallVector<StringAttr> axes = axisNames(operand.getType());
    bool isFirst = axes.front() == pair.over;
    extents[i] = buffer ? (isFirst ? buffer.getRows() : buffer.getCols())
                        : cast<RankedTensorType>(operand.getType())
                              .getDimSize(isFirst ? 0 : 1);
  }
  if (extents[0] != extents[1])
    return op->emitOpError("expects operands of one extent along '")
           << pair.over.getValue() << "', but got " << extents[0] << " and "
           << extents[1];
  SmallVector<Value> removed;
  for (const Facts &known : operands)
    for (const Fact &fact : known) {
      if (!mentions(fact.predicate, pair.over))
        addMixed(rest, {fact}, pair.over);
      else if (fact.origin == Origin::Absent)
        removed.push_back(fact.predicate);
    }
  bool isGarbage = llvm::any_of(removed, [&](Value predicate) {
    return llvm::any_of(operands, [&](const Facts &known) {
      return isGarbageInAbsentRows(known, predicate);
    });
  });
  if (isGarbage)
    addGarbageRows(rest);
  if (!check)
    return success();
  for (Value p : presence)
    conjuncts(p, [&](Value part) { removed.push_back(part); });
  for (Value predicate : removed)
    if (!isAnnihilated(operands, values, predicate, pair.over))
      return refuse(op, predicate,
                    "zero in one operand and zero, or data of other rows, "
                    "in the other at absent lanes of the contracted axis");
  return success();
}

} // namespace selvedge::verify
