// What elementwise operations do to the contents of absent lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/ElementStates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

namespace {

bool isInfinite(State s) { return s == State::NegInf || s == State::PosInf; }
bool isNumber(State s) { return s == State::Zero || s == State::Finite; }

State negate(State s) {
  return s == State::NegInf        ? State::PosInf
         : s == State::PosInf      ? State::NegInf
         : s == State::NegInfOrNaN ? State::Garbage
                                   : s;
}

State add(State a, State b) {
  if (a == State::Zero)
    return b;
  if (b == State::Zero || a == b)
    return isInfinite(a) || b == State::Zero ? a : State::Garbage;
  if (isInfinite(a) && isNumber(b))
    return a;
  return isInfinite(b) && isNumber(a) ? b : State::Garbage;
}

/// A product with 0 is 0 only beside a number: 0 * Inf is NaN.
State multiply(State a, State b) {
  return (a == State::Zero && isNumber(b)) || (b == State::Zero && isNumber(a))
             ? State::Zero
             : State::Garbage;
}

/// `v` is a finite constant other than 0.
bool isScale(Value v, bool &isNegative) {
  auto constant = strip(v).getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  Attribute attr = constant.getValue();
  if (auto dense = dyn_cast<SplatElementsAttr>(attr))
    attr = dense.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attr);
  if (!number || !number.getValue().isFiniteNonZero())
    return false;
  isNegative = number.getValue().isNegative();
  return true;
}

State scaled(State s, bool isNegative) {
  // A finite number may overflow.
  return isNumber(s) || isInfinite(s) ? s == State::Finite ? State::Garbage
                                        : isNegative       ? negate(s)
                                                           : s
                                      : State::Garbage;
}

/// The guard `select(m == -inf, number, m)`: never -inf. A compare that is true
/// for NaN, or an order compare, is no guard.
bool isGuarded(Value v) {
  auto select = strip(v).getDefiningOp<arith::SelectOp>();
  auto compare =
      select ? strip(select.getCondition()).getDefiningOp<arith::CmpFOp>()
             : arith::CmpFOp();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ ||
      !isNumber(stateOfConstant(select.getTrueValue())))
    return false;
  Value m = select.getFalseValue();
  auto tests = [&](Value x, Value y) {
    return isSame(x, m) && stateOfConstant(y) == State::NegInf;
  };
  return tests(compare.getLhs(), compare.getRhs()) ||
         tests(compare.getRhs(), compare.getLhs());
}

/// A row's guarded reference, to be taken from -inf. A NaN reference makes the
/// whole row NaN, which is what the row's present lanes demand; that holds only
/// if the reference is one for lanes that the predicate tells apart.
bool isReference(Value v, Value predicate, FactsOf factsOf) {
  Value reference = strip(v);
  return isGuarded(reference) && !within(predicate, reference) &&
         !factAt(factsOf(v), predicate);
}

/// A positive constant, or what is at least one and no NaN; in both arms of a
/// branch.
bool isPositive(Value v) {
  bool isNegative = false;
  if (isScale(v, isNegative))
    return !isNegative;
  auto result = dyn_cast<OpResult>(strip(v));
  if (auto branch =
          result ? dyn_cast<scf::IfOp>(result.getOwner()) : scf::IfOp())
    return isPositive(
               branch.thenYield()->getOperand(result.getResultNumber())) &&
           isPositive(branch.elseYield()->getOperand(result.getResultNumber()));
  auto most = strip(v).getDefiningOp<arith::MaxNumFOp>();
  return most && ((isScale(most.getLhs(), isNegative) && !isNegative) ||
                  (isScale(most.getRhs(), isNegative) && !isNegative));
}

class Transfer {
public:
  /// With `depth`, operands of which there are no facts are looked into.
  Transfer(Operation *op, Value predicate, FactsOf factsOf, unsigned depth = 0)
      : op(op), predicate(predicate), factsOf(factsOf), depth(depth) {}

  /// What the operation makes of its operands' states; where nothing special
  /// is known, a value made of determined ones is determined.
  State result() {
    State known = special();
    return known == State::Garbage ? mixed() : known;
  }

  /// The same where operands without facts may be data.
  State special() {
    using namespace arith;
    return llvm::TypeSwitch<Operation *, State>(op)
        .Case<tile::BroadcastOp, tile::SplatOp, sm::BroadcastOp, sm::SplatOp,
              sm::RelayoutOp, ExtFOp>([&](Operation *) { return in(0); })
        .Case<tile::ConvertOp, sm::ConvertOp>([&](auto convert) {
          bool mayOverflow = convert.getOverflow() == tile::Overflow::Inf,
               clamps = convert.getOverflow() == tile::Overflow::Clamp;
          bool isInf = in(0) == State::NegInf || in(0) == State::PosInf;
          if (clamps && (isInf || in(0) == State::NegInfOrNaN))
            return isInf ? State::Finite : State::Determined;
          return in(0) == State::Finite && mayOverflow ? State::Garbage : in(0);
        })
        .Case<TruncFOp>([&](Operation *) { return scaled(in(0), false); })
        .Case<NegFOp>([&](Operation *) { return negate(in(0)); })
        .Case<AddFOp>([&](Operation *) { return add(in(0), in(1)); })
        .Case([&](SubFOp sub) {
          return in(0) == State::NegInf &&
                         isReference(sub.getRhs(), predicate, factsOf)
                     ? State::NegInf
                     : add(in(0), negate(in(1)));
        })
        .Case<MulFOp>([&](Operation *) {
          bool isNegative = false;
          for (unsigned i : {0, 1})
            if (isScale(op->getOperand(1 - i), isNegative))
              return scaled(in(i), isNegative);
          for (unsigned i : {0, 1})
            if (isInfinite(in(i)) && isPositive(op->getOperand(1 - i)))
              return in(i);
          return multiply(in(0), in(1));
        })
        .Case<DivFOp>([&](Operation *) {
          bool isNegative = false;
          return isScale(op->getOperand(1), isNegative)
                     ? scaled(in(0), isNegative)
                     : State::Garbage;
        })
        .Case<math::ExpOp, math::Exp2Op>([&](Operation *) {
          return in(0) == State::NegInf        ? State::Zero
                 : in(0) == State::NegInfOrNaN ? State::ZeroOrNaN
                 : in(0) == State::Zero        ? State::Finite
                                               : State::Garbage;
        })
        .Case([&](math::FmaOp fma) {
          // -inf times a positive number, plus anything but +inf and NaN.
          if (in(0) != State::NegInf || !isPositive(fma.getB()))
            return State::Garbage;
          auto minus = strip(fma.getC()).getDefiningOp<arith::NegFOp>();
          if (minus && isReference(minus.getOperand(), predicate, factsOf))
            return State::NegInf;
          return mixed() != State::Garbage ? State::NegInfOrNaN
                                           : State::Garbage;
        })
        .Case<math::TanhOp>([&](Operation *) {
          return isInfinite(in(0)) ? State::Finite
                 : isNumber(in(0)) ? in(0)
                                   : State::Garbage;
        })
        .Case<MaximumFOp, MinimumFOp, MaxSIOp, MinSIOp>([&](Operation *) {
          return in(0) == in(1) && (isNumber(in(0)) || isInfinite(in(0)))
                     ? in(0)
                     : State::Garbage;
        })
        .Case<CmpFOp, CmpIOp>([&](Operation *) {
          return compared(op, numberIn(0), numberIn(1)) == false
                     ? State::Zero
                     : State::Garbage;
        })
        .Case<MulIOp>([&](Operation *) {
          return in(0) == State::Zero || in(1) == State::Zero ? State::Zero
                                                              : State::Garbage;
        })
        .Default([](Operation *) { return State::Garbage; });
  }

private:
  /// The number that operand `i` is where the predicate is false, if it is
  /// known.
  Attribute numberIn(unsigned i) {
    Value operand = op->getOperand(i);
    return in(i) == State::Zero ? zeroOf(operand) : constantOf(strip(operand));
  }

  /// Garbage if an operand may hold any bits where the predicate is false.
  State mixed() {
    for (Value operand : op->getOperands())
      if (stateAt(factsOf(operand), predicate) == State::Garbage)
        return State::Garbage;
    return State::Determined;
  }

  /// What operand `i` holds where the predicate is false.
  State in(unsigned i) {
    Value operand = op->getOperand(i);
    std::optional<State> state = stateAt(factsOf(operand), predicate);
    if (state)
      return *state;
    State constant = stateOfConstant(operand);
    Operation *def = operand.getDefiningOp();
    if (constant != State::Garbage || depth == 0 || !def)
      return constant;
    return Transfer(def, predicate, factsOf, depth - 1).special();
  }

  Operation *op;
  Value predicate;
  FactsOf factsOf;
  unsigned depth;
};

/// Whether a state says more than that there is something.
bool isTelling(State s) {
  return s != State::Garbage && s != State::Determined;
}

} // namespace

/// One side of `or` or `and` matters where the other does not decide: the arm
/// in which it does.
static std::optional<Arm> armOf(Operation *op, unsigned operand) {
  bool isEither = isa<arith::OrIOp>(op);
  if (!(isEither || isa<arith::AndIOp>(op)) ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return std::nullopt;
  return Arm{op->getOperand(1 - operand), !isEither};
}

Facts elementwiseFacts(Operation *op, FactsOf factsOf) {
  Facts result;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (const Fact &fact : factsOf(operand)) {
      // Of lanes that are data only what they hold is worth a fact.
      State state = Transfer(op, fact.predicate, factsOf).result();
      if (fact.origin != Origin::Absent && !isTelling(state))
        continue;
      Fact next{fact.predicate, state, fact.origin, fact.within,
                /*inAllArms=*/true};
      if (std::optional<Arm> arm = armOf(op, i);
          arm && !factAt(factsOf(arm->condition), fact.predicate)) {
        next.within.push_back(*arm);
        next.inAllArms = false;
      }
      addFact(result, next);
    }
  return result;
}

std::optional<State> derivedState(Value value, Value predicate,
                                  FactsOf factsOf) {
  // A weight of a softmax is four operations from its score.
  constexpr unsigned maxDepth = 6;
  if (std::optional<State> state = stateAt(factsOf(value), predicate))
    return state;
  State state = stateOfConstant(value);
  Operation *def = value.getDefiningOp();
  if (state == State::Garbage && def && factsOf(value).empty())
    state = Transfer(def, predicate, factsOf, maxDepth).special();
  return state == State::Garbage ? std::nullopt : std::optional(state);
}

Facts selectFacts(Value condition, Value a, Value b, FactsOf factsOf) {
  const Facts &chosen = factsOf(a), &otherwise = factsOf(b),
              &tested = factsOf(condition);
  State constant = stateOfConstant(b);
  Facts result;
  auto ended = [&](const Fact &fact) { return excludes(condition, fact); };
  // Where the condition is false the lanes hold the false arm.
  for (const Fact &fact : otherwise)
    if (ended(fact))
      addFact(result, fact);
  auto fill = [&](const Fact &fact) {
    if (constant != State::Garbage && !factAt(result, fact.predicate))
      result.push_back(fact);
  };
  auto heldBy = [](Value arm, const Facts &facts, Value predicate) {
    return stateAt(facts, predicate).value_or(stateOfConstant(arm));
  };
  // What is filled in some lanes may be the constant in the others, too.
  for (const Facts *facts : {&chosen, &tested})
    for (const Fact &fact : *facts)
      if (ended(fact) && fact.origin != Origin::Known)
        fill({fact.predicate, constant, Origin::Filled, fact.within,
              impliesTrue(condition, fact.predicate) ||
                  heldBy(a, chosen, fact.predicate) == constant});
  conjuncts(condition,
            [&](Value part) { fill({part, constant, Origin::Known}); });
  // Under a condition that never holds, too, what both arms hold is known.
  for (const Fact &fact : chosen)
    if (ended(fact) && fact.origin == Origin::Known && fact.state == constant)
      fill(fact);
  // Elsewhere a lane is what the arm that is taken has.
  auto take = [&](const Facts &arm, const Facts &other, Value otherArm,
                  bool holds) {
    for (const Fact &fact : arm) {
      if (ended(fact))
        continue;
      // What the other arm holds there.
      std::optional<State> beside;
      bool isTotal = fact.isTotal(), isEither = false;
      for (const Fact &same : other) {
        if (!isSame(same.predicate, fact.predicate))
          continue;
        beside = beside ? join(*beside, same.state) : same.state;
        isTotal &= same.isTotal();
        // A lane that one arm fills is absent in the other one alone.
        bool isFilled =
            (fact.origin == Origin::Absent) != (same.origin == Origin::Absent);
        isEither |= hasSameArms(same, fact) && !isFilled;
      }
      State constant = stateOfConstant(otherArm);
      if (!beside) {
        isTotal &= constant == fact.state;
        beside = constant == State::Garbage ? State::Determined : constant;
      }
      State state = join(fact.state, *beside);
      Fact taken{fact.predicate, state, fact.origin, fact.within, isTotal};
      if (!isEither)
        taken.within.push_back({condition, holds});
      if (fact.origin == Origin::Absent || isTelling(state))
        addFact(result, taken);
    }
  };
  take(chosen, otherwise, b, true);
  take(otherwise, chosen, a, false);
  for (const Fact &fact : tested) {
    if (ended(fact) || fact.origin != Origin::Absent)
      continue;
    // Whichever arm is taken, if both hold the same.
    State held = heldBy(a, chosen, fact.predicate);
    bool isEither =
        isTelling(held) && held == heldBy(b, otherwise, fact.predicate);
    addFact(result, {fact.predicate,
                     isEither ? held : join(fact.state, State::Determined),
                     fact.origin, fact.within, isEither});
  }
  return result;
}

} // namespace selvedge::verify
