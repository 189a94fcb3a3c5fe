// Proof that loops have no steps, and that none of theirs takes a branch.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/Orders.h"
#include "compiler/Verify/Arithmetic/TileWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

/// The numbers that a bound is the least of.
static SmallVector<Value> leastOf(Value bound) {
  SmallVector<Value> open{bound}, least;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto minimum = value.getDefiningOp<arith::MinSIOp>())
      llvm::append_range(open, minimum->getOperands());
    else
      least.push_back(value);
  }
  return least;
}

/// The selects that a number is made of.
static SmallVector<Operation *> selectsOf(Value value) {
  SetVector<Value> made;
  SmallVector<Operation *> selects;
  made.insert(value);
  for (size_t i = 0; i < made.size(); ++i)
    if (Operation *def = made[i].getDefiningOp();
        def && isa<arith::ArithDialect>(def->getDialect())) {
      made.insert_range(def->getOperands());
      if (isa<arith::SelectOp>(def))
        selects.push_back(def);
    }
  return selects;
}

/// Whether `p` is at least 0 wherever `constraints` hold; if `isThorough`, also
/// where that follows for whole numbers alone.
static bool isNonNegative(const IndexValues &values, const Polynomial &p,
                          ArrayRef<Polynomial> constraints, bool isThorough) {
  return values.isNonNegativeByCases(p, constraints) ||
         (isThorough && values.isNonNegativeForIntegers(p, constraints));
}

bool AccessBounds::isPostedEmpty(scf::ForOp loop, Value end) {
  std::vector<TileWords> words = tileWordsAt(loop);
  return !words.empty() && llvm::all_of(words, [&](const TileWords &posted) {
    if (!posted.contains(end) || !posted.contains(loop.getLowerBound()))
      return false;
    IndexValues values;
    SmallVector<Polynomial> dimValues;
    seedSignature(dims, tensors, values, dimValues);
    seed(values, dimValues);
    return values.isNonNegativeByCases(
        values.of(posted.lookup(loop.getLowerBound())) -
        values.of(posted.lookup(end)));
  });
}

bool AccessBounds::isOneStep(scf::ForOp loop, Value end, bool isThorough) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::vector<TileWords> words = tileWordsAt(loop);
  return step && !words.empty() &&
         llvm::all_of(words, [&](const TileWords &posted) {
           if (!posted.contains(end) || !posted.contains(loop.getLowerBound()))
             return false;
           IndexValues values;
           SmallVector<Polynomial> dimValues;
           seedSignature(dims, tensors, values, dimValues);
           seed(values, dimValues);
           Polynomial length = values.of(posted.lookup(end)) -
                               values.of(posted.lookup(loop.getLowerBound()));
           return isNonNegative(values, Polynomial(*step) - length, {},
                                isThorough);
         });
}

bool AccessBounds::isEmptyByWays(scf::ForOp loop, Place place,
                                 ArrayRef<Operation *> selects) {
  auto &[values, dimValues, conditions] = place;
  if (selects.empty()) {
    Polynomial lower = values.of(loop.getLowerBound()),
               upper = values.of(loop.getUpperBound());
    return values.isNonNegativeByCases(lower - upper, conditions);
  }
  auto select = cast<arith::SelectOp>(selects.front());
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return isEmptyByWays(loop, std::move(place), selects.drop_front());
  return llvm::all_of(ArrayRef{true, false}, [&](bool way) {
    Place taken = place;
    Polynomial difference =
        taken.values.of(compare.getRhs()) - taken.values.of(compare.getLhs());
    taken.values.assume(way ? difference - 1 : Polynomial() - difference);
    taken.values.define(select, taken.values.of(way ? select.getTrueValue()
                                                    : select.getFalseValue()));
    return isEmptyByWays(loop, std::move(taken), selects.drop_front());
  });
}

/// What is at least 0 where an arm of a branch on `a < b` and the like is
/// taken; none for other conditions.
static std::optional<Polynomial> whereTaken(arith::CmpIPredicate predicate,
                                            bool arm, const Polynomial &a,
                                            const Polynomial &b) {
  using arith::CmpIPredicate;
  switch (arm ? predicate : arith::invertPredicate(predicate)) {
  case CmpIPredicate::slt:
    return b - a - 1;
  case CmpIPredicate::sle:
    return b - a;
  case CmpIPredicate::sgt:
    return a - b - 1;
  case CmpIPredicate::sge:
    return a - b;
  default:
    return std::nullopt;
  }
}

static int64_t constantTermOf(const Polynomial &p) {
  const llvm::DynamicAPInt *constant = p.coefficientOf({});
  return constant ? int64_t(*constant) : 0;
}

/// What is at least 0 where a condition is false.
static void collectWhereFalse(Value condition, IndexValues &values,
                              SmallVectorImpl<Polynomial> &constraints) {
  if (auto either = condition.getDefiningOp<arith::OrIOp>())
    for (Value part : either->getOperands())
      collectWhereFalse(part, values, constraints);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  if (std::optional<Polynomial> p =
          whereTaken(compare.getPredicate(), /*arm=*/false,
                     values.of(compare.getLhs()), values.of(compare.getRhs())))
    constraints.push_back(*p);
}

/// Whether both are truth values that are known, the second one the other.
static bool areOpposite(Value first, Value second, bool isTrue) {
  auto is = [&](Value v, bool expected) {
    Attribute constant = constantOf(v);
    return constant == BoolAttr::get(v.getContext(), expected);
  };
  return is(first, isTrue) && is(second, !isTrue);
}

/// Follows `c ? true : false`, and the negation, to what it asks.
static void follow(Value &condition, bool &value) {
  while (Operation *def = condition.getDefiningOp()) {
    auto select = dyn_cast<arith::SelectOp>(def);
    if (select &&
        areOpposite(select.getTrueValue(), select.getFalseValue(), false))
      value = !value;
    else if (!select ||
             !areOpposite(select.getTrueValue(), select.getFalseValue(), true))
      return;
    condition = select.getCondition();
  }
}

bool AccessBounds::isNever(Value condition, bool value, IndexValues &values,
                           SmallVector<Polynomial> conditions,
                           bool isThorough) {
  follow(condition, value);
  size_t given = conditions.size();
  if (value)
    values.collect(condition, conditions);
  else
    collectWhereFalse(condition, values, conditions);
  if (values.isNonNegativeByCases(Polynomial(-1), conditions))
    return true;
  // The others contradict one: a proof begins with what it is made of.
  for (size_t i = given; i < conditions.size(); ++i) {
    SmallVector<Polynomial> others(conditions);
    Polynomial condition = others[i];
    others.erase(others.begin() + i);
    if (isNonNegative(values, Polynomial(-1) - condition, others, isThorough))
      return true;
  }
  return false;
}

bool AccessBounds::isNeverTaken(scf::IfOp branch, bool arm) {
  auto [values, dimValues, conditions] = placeOf(branch);
  return isNever(branch.getCondition(), arm, values, std::move(conditions));
}

bool AccessBounds::isNeverTakenOfWords(scf::IfOp branch, bool arm,
                                       bool isThorough) {
  std::vector<TileWords> words = tileWordsAt(branch);
  auto loop = branch->getParentOfType<scf::WhileOp>();
  return !words.empty() && llvm::all_of(words, [&](const TileWords &posted) {
    IndexValues values;
    SmallVector<Polynomial> dimValues, constraints;
    seedSignature(dims, tensors, values, dimValues);
    seed(values, dimValues);
    // The loop's test, which no word after the last tile's passes, has
    // arguments of its own.
    for (auto [argument, tested] : llvm::zip_equal(
             loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      if (const auto *word = posted.find(argument); word != posted.end()) {
        values.define(argument, values.of(word->second));
        values.define(tested, values.of(word->second));
      }
    values.collect(loop.getConditionOp().getCondition(), constraints);
    return isNever(branch.getCondition(), arm, values, std::move(constraints),
                   isThorough);
  });
}

bool AccessBounds::isEmpty(scf::ForOp loop, bool isThorough) {
  auto [values, dimValues, conditions] = placeOf(loop);
  if (Orders(values).isAtMost(loop.getUpperBound(), loop.getLowerBound()))
    return true;
  Polynomial lower = values.of(loop.getLowerBound()),
             upper = values.of(loop.getUpperBound());
  return isNonNegative(values, lower - upper, conditions, isThorough);
}

bool AccessBounds::isNeverTakenBySteps(scf::IfOp branch, bool arm) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto loop = branch->getParentOfType<scf::ForOp>();
  std::optional<int64_t> step =
      loop ? getConstantIntValue(loop.getStep()) : std::nullopt;
  if (!compare || !step || *step < 2 || !llvm::isPowerOf2_64(*step))
    return false;
  auto [values, dimValues, conditions] = placeOf(branch);
  std::optional<Polynomial> taken =
      whereTaken(compare.getPredicate(), arm, values.of(compare.getLhs()),
                 values.of(compare.getRhs()));
  if (!taken)
    return false;
  // Whole steps after its first one.
  Polynomial index = values.of(loop.getInductionVar()), atFirst = *taken;
  if (const llvm::DynamicAPInt *times =
          taken->coefficientOf(index.getTerms().front().first))
    atFirst +=
        (values.of(loop.getLowerBound()) - index) * Polynomial(int64_t(*times));
  int64_t constant = constantTermOf(atFirst),
          rest = constant - llvm::divideFloorSigned(constant, *step) * *step;
  if (!values.isMultipleByCases(atFirst - rest, *step, conditions))
    return false;
  conditions.push_back(*taken - rest);
  return values.isNonNegativeByCases(Polynomial(-1), conditions);
}

bool AccessBounds::isEmptyOfWords(scf::ForOp loop, bool isThorough) {
  // Ways double with each.
  constexpr size_t mostSelects = 3;
  SmallVector<Operation *> selects = selectsOf(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step || selects.size() > mostSelects)
    return false;
  SmallVector<Value> ends = leastOf(loop.getUpperBound());
  if (llvm::any_of(ends, [&](Value end) { return isPostedEmpty(loop, end); }))
    return true;
  return llvm::any_of(ends, [&](Value end) {
    if (!isOneStep(loop, end, isThorough))
      return false;
    Place place = placeOf(loop);
    place.values.assume(Polynomial(*step) - place.values.of(end) +
                        place.values.of(loop.getLowerBound()));
    return isEmptyByWays(loop, std::move(place), selects);
  });
}

} // namespace selvedge::verify
