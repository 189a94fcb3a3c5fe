// Proof that loops have no steps, and that none of theirs takes a branch.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/Orders.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/KernelDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
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

/// The operations of one kind that numbers are computed from.
template <typename Op>
static SmallVector<Operation *> madeOf(ValueRange numbers) {
  SetVector<Value> made(numbers.begin(), numbers.end());
  SetVector<Operation *> found;
  for (size_t i = 0; i < made.size(); ++i)
    if (Operation *def = made[i].getDefiningOp()) {
      if (isa<Op>(def))
        found.insert(def);
      if (isa<arith::ArithDialect>(def->getDialect()))
        made.insert_range(def->getOperands());
    }
  return found.takeVector();
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
    SmallVector<Polynomial> dimValues;
    IndexValues values = seeded(dimValues);
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
           SmallVector<Polynomial> dimValues;
           IndexValues values = seeded(dimValues);
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

/// What is at least 0 where a condition has a value.
static void collectWhere(Value condition, bool value, IndexValues &values,
                         SmallVectorImpl<Polynomial> &constraints) {
  follow(condition, value);
  if (value)
    values.collect(condition, constraints);
  else
    collectWhereFalse(condition, values, constraints);
}

bool AccessBounds::isNever(Value condition, bool value, IndexValues &values,
                           SmallVector<Polynomial> conditions,
                           bool isThorough) {
  size_t given = conditions.size();
  collectWhere(condition, value, values, conditions);
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

bool AccessBounds::isNeverAnyWay(Value condition, bool value,
                                 IndexValues &values,
                                 ArrayRef<Polynomial> dimValues,
                                 ArrayRef<Polynomial> conditions,
                                 bool isThorough) {
  auto isNeverWhere = [&](ArrayRef<Polynomial> where) {
    return isNever(condition, value, values, SmallVector<Polynomial>(where),
                   isThorough);
  };
  return isThorough ? holdsAllWays(condition, values, dimValues, conditions,
                                   isNeverWhere)
                    : isNeverWhere(conditions);
}

bool AccessBounds::isNeverTaken(scf::IfOp branch, bool arm, bool isThorough) {
  auto [values, dimValues, conditions] = placeOf(branch);
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (compare && arm && compare.getPredicate() == arith::CmpIPredicate::slt &&
      Orders(values).isAtMost(compare.getRhs(), compare.getLhs()))
    return true;
  return isNeverAnyWay(branch.getCondition(), arm, values, dimValues,
                       conditions, isThorough);
}

IndexValues AccessBounds::valuesOf(const TileWords &posted, Operation *op,
                                   SmallVectorImpl<Polynomial> &dimValues,
                                   SmallVectorImpl<Polynomial> &constraints) {
  IndexValues values = seeded(dimValues);
  auto loop = op->getParentOfType<scf::WhileOp>();
  // The loop's test, which no word after the last tile's passes, has arguments
  // of its own.
  for (auto [argument, tested] : llvm::zip_equal(
           loop.getAfterArguments(), loop.getConditionOp().getArgs()))
    if (const auto *word = posted.find(argument); word != posted.end()) {
      values.define(argument, values.of(word->second));
      values.define(tested, values.of(word->second));
    }
  values.collect(loop.getConditionOp().getCondition(), constraints);
  return values;
}

bool AccessBounds::isNeverTakenOfWords(scf::IfOp branch, bool arm,
                                       bool isThorough) {
  std::vector<TileWords> words = tileWordsAt(branch);
  return !words.empty() && llvm::all_of(words, [&](const TileWords &posted) {
    SmallVector<Polynomial> dimValues, constraints;
    IndexValues values = valuesOf(posted, branch, dimValues, constraints);
    return isNeverAnyWay(branch.getCondition(), arm, values, dimValues,
                         constraints, isThorough);
  });
}

SmallVector<Polynomial>
AccessBounds::promisedOf(sm::LoadOp load, IndexValues &values,
                         ArrayRef<Polynomial> dimValues) {
  if (!promises)
    return {};
  for (auto promise : promises.getAsRange<tile::RequireAttr>())
    if (promise.getTensor() == tensorName(load.getTensor()) &&
        promise.getHi().getNumDims() == 0) {
      Polynomial number = values.of(load.getResult());
      return {number - values.of(promise.getLo().getResult(0), dimValues),
              values.of(promise.getHi().getResult(0), dimValues) - number};
    }
  return {};
}

/// A number in memory is there, or it is not, and then is 0.
AccessBounds::Ways AccessBounds::waysOf(sm::LoadOp load, IndexValues &values,
                                        ArrayRef<Polynomial> dimValues) {
  SmallVector<Polynomial> present = promisedOf(load, values, dimValues), absent;
  if (load.getPresence().empty())
    return {present, {Polynomial(-1)}};
  for (Value p : load.getPresence())
    values.collect(p, present);
  // Which one of several is false is not known.
  if (load.getPresence().size() == 1)
    collectWhereFalse(load.getPresence().front(), values, absent);
  Polynomial number = values.of(load.getResult());
  absent.append({number, Polynomial() - number});
  return {std::move(present), std::move(absent)};
}

/// Numbers are each one or the other, as their condition says.
static std::array<SmallVector<Polynomial>, 2>
waysOf(Value condition, ArrayRef<arith::SelectOp> selects,
       IndexValues &values) {
  std::array<SmallVector<Polynomial>, 2> ways;
  for (bool arm : {true, false}) {
    SmallVector<Polynomial> &where = ways[arm ? 0 : 1];
    collectWhere(condition, arm, values, where);
    for (arith::SelectOp select : selects) {
      Polynomial rest =
          values.of(select.getResult()) -
          values.of(arm ? select.getTrueValue() : select.getFalseValue());
      where.append({rest, Polynomial() - rest});
    }
  }
  return ways;
}

/// The numbers that `made` are chosen of, by the condition that chooses.
static llvm::MapVector<Value, SmallVector<arith::SelectOp>>
choicesOf(ValueRange made) {
  llvm::MapVector<Value, SmallVector<arith::SelectOp>> choices;
  for (Operation *op : madeOf<arith::SelectOp>(made))
    if (auto select = cast<arith::SelectOp>(op); select.getType().isInteger(32))
      choices[select.getCondition()].push_back(select);
  return choices;
}

bool AccessBounds::holdsAllWays(
    ValueRange numbers, IndexValues &values, ArrayRef<Polynomial> dimValues,
    ArrayRef<Polynomial> conditions,
    llvm::function_ref<bool(ArrayRef<Polynomial>)> holds) {
  if (holds(conditions))
    return true;
  // Cases double with each.
  constexpr size_t mostWays = 5;
  SmallVector<Ways> open;
  for (Operation *op : madeOf<sm::LoadOp>(numbers))
    if (auto load = cast<sm::LoadOp>(op); load.getType().isInteger(32))
      open.push_back(waysOf(load, values, dimValues));
  // What two numbers decide comes before what several do.
  llvm::MapVector<Value, SmallVector<arith::SelectOp>> choices =
      choicesOf(numbers);
  for (bool several : {false, true})
    for (auto &[condition, selects] : choices) {
      bool isCompare = !!condition.getDefiningOp<arith::CmpIOp>();
      if (several != isCompare && (!several || open.size() < mostWays))
        open.push_back(verify::waysOf(condition, selects, values));
    }
  if (open.empty() || open.size() > mostWays)
    return false;
  std::vector<SmallVector<Polynomial>> cases{
      SmallVector<Polynomial>(conditions)};
  for (const Ways &ways : open) {
    std::vector<SmallVector<Polynomial>> both;
    for (const SmallVector<Polynomial> &way : ways)
      for (SmallVector<Polynomial> where : cases) {
        where.append(way);
        both.push_back(std::move(where));
      }
    cases = std::move(both);
  }
  return llvm::all_of(cases, holds);
}

bool AccessBounds::isEmptyAllWays(scf::ForOp loop, Value end,
                                  IndexValues &values,
                                  ArrayRef<Polynomial> dimValues,
                                  ArrayRef<Polynomial> conditions) {
  Polynomial lower = values.of(loop.getLowerBound()), upper = values.of(end);
  return holdsAllWays({loop.getLowerBound(), end}, values, dimValues,
                      conditions, [&](ArrayRef<Polynomial> where) {
                        return isNonNegative(values, lower - upper, where,
                                             /*isThorough=*/true);
                      });
}

bool AccessBounds::endsBeforeItBegins(scf::ForOp loop, Value end, Effort effort,
                                      Place place) {
  auto &[values, dimValues, conditions] = place;
  Polynomial lower = values.of(loop.getLowerBound()), upper = values.of(end);
  if (effort == Effort::Quick)
    return values.isNonNegative(lower - upper, conditions);
  // Where all that there is fits into one step, that lies between both.
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (step && values.isNonNegativeByCases(*step - upper, conditions) &&
      values.isNonNegativeByCases(lower - *step, conditions))
    return true;
  return effort == Effort::Thorough
             ? isEmptyAllWays(loop, end, values, dimValues, conditions)
             : values.isNonNegativeByCases(lower - upper, conditions);
}

bool AccessBounds::isEmpty(scf::ForOp loop, Effort effort) {
  Value upper = loop.getUpperBound();
  Place place = placeOf(loop);
  if (Orders(place.values).isAtMost(upper, loop.getLowerBound()))
    return true;
  SmallVector<Value> ends = leastOf(upper);
  if (ends.size() > 1)
    ends.insert(ends.begin(), upper);
  return llvm::any_of(ends, [&](Value end) {
    return endsBeforeItBegins(loop, end, effort, place);
  });
}

/// Whether `goal` is at least 0 wherever a condition holds.
static bool isImplied(const Polynomial &goal, Value condition,
                      IndexValues &values, ArrayRef<Polynomial> constraints) {
  if (auto either = condition.getDefiningOp<arith::OrIOp>())
    return llvm::all_of(either->getOperands(), [&](Value side) {
      return isImplied(goal, side, values, constraints);
    });
  SmallVector<Polynomial> where(constraints);
  values.collect(condition, where);
  return isNonNegative(values, goal, where, /*isThorough=*/true);
}

bool AccessBounds::isSameForAllTiles(scf::IfOp branch) {
  auto kernel = branch->getParentOfType<sm::KernelOp>();
  std::vector<TileWords> words = tileWordsAt(branch);
  // Where it is from `least` on, and nowhere else.
  auto isDecidedBy = [&](Value number, int64_t least) {
    return llvm::all_of(words, [&](const TileWords &posted) {
      SmallVector<Polynomial> dimValues, constraints;
      IndexValues values = valuesOf(posted, branch, dimValues, constraints);
      Polynomial above = values.of(number) - least;
      if (!isImplied(above, branch.getCondition(), values, constraints))
        return false;
      collectWhereFalse(branch.getCondition(), values, constraints);
      return isNonNegative(values, Polynomial(-1) - above, constraints,
                           /*isThorough=*/true);
    });
  };
  if (words.empty())
    return false;
  // Windows of the caller that are less than nothing still have steps, until
  // they lie a step further.
  SmallVector<int64_t> steps = stepsOf(kernel, mostStep);
  return llvm::any_of(
      llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()),
      [&](auto argument) {
        auto [passed, number] = argument;
        if (isa<sm::DimArgAttr>(passed))
          return isDecidedBy(number, 1);
        return isa<sm::ScalarArgAttr>(passed) &&
               number.getType().isInteger(32) &&
               llvm::any_of(steps, [&](int64_t step) {
                 return isDecidedBy(number, 2 - step);
               });
      });
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
  SmallVector<Operation *> selects =
      madeOf<arith::SelectOp>(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step)
    return false;
  SmallVector<Value> ends = leastOf(loop.getUpperBound());
  if (llvm::any_of(ends, [&](Value end) { return isPostedEmpty(loop, end); }))
    return true;
  auto isOnly = [&](Value end) {
    if (!isOneStep(loop, end, isThorough))
      return false;
    Place place = placeOf(loop);
    place.values.assume(Polynomial(*step) - place.values.of(end) +
                        place.values.of(loop.getLowerBound()));
    return isEmptyByWays(loop, std::move(place), selects);
  };
  if (selects.size() <= mostSelects && llvm::any_of(ends, isOnly))
    return true;
  std::vector<TileWords> words = tileWordsAt(loop);
  return isThorough && !words.empty() &&
         llvm::all_of(words, [&](const TileWords &posted) {
           SmallVector<Polynomial> dimValues, constraints;
           IndexValues values = valuesOf(posted, loop, dimValues, constraints);
           return isEmptyAllWays(loop, loop.getUpperBound(), values, dimValues,
                                 constraints);
         });
}

/// What a condition is that one of several is false; empty for others.
///
///     !%p || !%q, or that %p && %q is false
static llvm::SmallDenseSet<Value, 4> oneIsFalse(Value condition, bool value) {
  llvm::SmallDenseSet<Value, 4> parts;
  if (!value) {
    conjuncts(condition, [&](Value part) { parts.insert(part); });
    return parts;
  }
  if (auto either = condition.getDefiningOp<arith::OrIOp>()) {
    for (Value side : either->getOperands()) {
      llvm::SmallDenseSet<Value, 4> more = oneIsFalse(side, true);
      if (more.empty())
        return {};
      parts.insert(more.begin(), more.end());
    }
    return parts;
  }
  auto negated = condition.getDefiningOp<arith::XOrIOp>();
  if (negated && matchPattern(negated.getRhs(), m_One()))
    parts.insert(negated.getLhs());
  return parts;
}

/// Whether a branch's condition has a value only where some branch around it is
/// not taken.
static bool contradictsOuter(scf::IfOp branch, bool arm, IndexValues &values,
                             SmallVector<Polynomial> conditions) {
  collectWhere(branch.getCondition(), arm, values, conditions);
  for (Operation *at = branch; !isa<sm::KernelOp>(at); at = at->getParentOp())
    if (auto outer = dyn_cast<scf::IfOp>(at->getParentOp());
        outer && at->getBlock() == outer.thenBlock() &&
        isImplied(Polynomial(-1), outer.getCondition(), values, conditions))
      return true;
  return false;
}

bool AccessBounds::isNeverTakenInside(scf::IfOp branch, bool arm) {
  auto [values, dimValues, conditions] = placeOf(branch);
  auto kernel = branch->getParentOfType<sm::KernelOp>();
  llvm::SmallDenseSet<Value, 4> tested = oneIsFalse(branch.getCondition(), arm);
  for (Operation *at = branch; at != kernel && !tested.empty();
       at = at->getParentOp())
    for (auto load : at->getBlock()->getOps<sm::LoadOp>())
      if (load.getType().isInteger(32) && load->isBeforeInBlock(at) &&
          llvm::SmallDenseSet<Value, 4>(load.getPresence().begin(),
                                        load.getPresence().end()) == tested) {
        Polynomial number = values.of(load.getResult());
        conditions.append({number, Polynomial() - number});
      }
  if (contradictsOuter(branch, arm, values, conditions))
    return true;
  std::vector<TileWords> words = tileWordsAt(branch);
  return !words.empty() && llvm::all_of(words, [&](const TileWords &posted) {
    SmallVector<Polynomial> dims, constraints;
    IndexValues ofWords = valuesOf(posted, branch, dims, constraints);
    return contradictsOuter(branch, arm, ofWords, constraints);
  });
}

} // namespace selvedge::verify
