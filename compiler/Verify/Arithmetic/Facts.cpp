// What is known of a value's absent lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

using namespace mlir;

Value strip(Value v) {
  while (auto *def = v.getDefiningOp()) {
    if (!isa<tile::BroadcastOp, tile::SplatOp, sm::BroadcastOp, sm::SplatOp,
             sm::RelayoutOp>(def))
      return v;
    v = def->getOperand(0);
  }
  return v;
}

SmallVector<StringAttr> axisNames(Type type) {
  if (auto buffer = dyn_cast<sm::BufferType>(type))
    return llvm::map_to_vector(buffer.getAxes(),
                               [](auto axis) { return axis.first; });
  if (sm::LayoutAttr layout = sm::layoutOf(type))
    return llvm::map_to_vector(layout.getAxes(), [](sm::AxisLayoutAttr axis) {
      return axis.getName();
    });
  return SmallVector<StringAttr>(tile::axesOf(type));
}

bool mentions(Value predicate, StringAttr axis) {
  return llvm::is_contained(axisNames(predicate.getType()), axis);
}

bool within(Value predicate, Value operand) {
  SmallVector<StringAttr> axes = axisNames(operand.getType());
  return llvm::all_of(axisNames(predicate.getType()), [&](StringAttr axis) {
    return llvm::is_contained(axes, axis);
  });
}

/// Equal types, whoever holds the lanes.
static bool isSameType(Type a, Type b) {
  if (!sm::layoutOf(a) || !sm::layoutOf(b))
    return a == b;
  return getElementTypeOrSelf(a) == getElementTypeOrSelf(b) &&
         cast<ShapedType>(a).getShape() == cast<ShapedType>(b).getShape() &&
         axisNames(a) == axisNames(b);
}

/// Whether two loads read the same elements: of a tensor that the kernel never
/// writes.
static bool isSameMemory(Operation *x) {
  auto load = dyn_cast<sm::LoadOp>(x);
  return load &&
         llvm::none_of(load.getTensor().getUsers(), llvm::IsaPred<sm::StoreOp>);
}

Attribute constantOf(Value v) {
  auto constant = v.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  auto dense = dyn_cast<SplatElementsAttr>(constant.getValue());
  return dense ? dense.getSplatValue<Attribute>() : constant.getValue();
}

std::optional<bool> compared(Operation *compare, Attribute a, Attribute b) {
  if (!a || !b)
    return std::nullopt;
  if (auto integers = dyn_cast<arith::CmpIOp>(compare))
    return arith::applyCmpPredicate(integers.getPredicate(),
                                    cast<IntegerAttr>(a).getValue(),
                                    cast<IntegerAttr>(b).getValue());
  if (auto floats = dyn_cast<arith::CmpFOp>(compare))
    return arith::applyCmpPredicate(floats.getPredicate(),
                                    cast<FloatAttr>(a).getValue(),
                                    cast<FloatAttr>(b).getValue());
  return std::nullopt;
}

Attribute zeroOf(Value v) {
  return Builder(v.getContext()).getZeroAttr(getElementTypeOrSelf(v.getType()));
}

bool isStable(Operation *op) {
  return op->getNumRegions() == 0 &&
         (isMemoryEffectFree(op) || isSameMemory(op));
}

/// Equal properties but for how a load is executed.
static bool hasSameProperties(Operation *x, Operation *y) {
  auto load = dyn_cast<sm::LoadOp>(x);
  return load ? load.getIndices().size() ==
                    cast<sm::LoadOp>(y).getIndices().size()
              : x->getPropertiesAsAttribute() == y->getPropertiesAsAttribute();
}

bool isSame(Value a, Value b) { return isSameWith(a, b, {}, {}); }

bool isSameWith(Value a, Value b, Value inA, Value inB) {
  a = strip(a);
  b = strip(b);
  if (a == b || (inA && inB && a == strip(inA) && b == strip(inB)))
    return true;
  // Most values differ in this alone: it is asked first.
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName())
    return false;
  if (Attribute constant = constantOf(a))
    return constant == constantOf(b);
  if (x->getNumOperands() != y->getNumOperands() || !isStable(x) ||
      !isSameType(a.getType(), b.getType()) ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber() ||
      !hasSameProperties(x, y))
    return false;
  return llvm::equal(x->getOperands(), y->getOperands(), [&](Value v, Value w) {
    return isSameWith(v, w, inA, inB);
  });
}

bool variesIn(Value value, Operation *loop) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return loop->isAncestor(value.getParentRegion()->getParentOp());
  // Predicates that were renamed stand nowhere in the program.
  bool isRenamed = !def->getBlock()->getParent();
  if (!isRenamed && !loop->isProperAncestor(def))
    return false;
  return !isStable(def) || llvm::any_of(def->getOperands(), [&](Value operand) {
    return variesIn(operand, loop);
  });
}

/// Whether `value` is at most `bound`: the same, or the least of values of
/// which one is.
static bool isAtMost(Value value, Value bound) {
  if (isSame(value, bound))
    return true;
  auto least = strip(value).getDefiningOp<arith::MinSIOp>();
  return least &&
         (isAtMost(least.getLhs(), bound) || isAtMost(least.getRhs(), bound));
}

/// Calls `test` for the values that `limit` is the least of.
static bool anyLimit(Value limit, llvm::function_ref<bool(Value)> test) {
  if (auto least = strip(limit).getDefiningOp<arith::MinSIOp>())
    return anyLimit(least.getLhs(), test) || anyLimit(least.getRhs(), test);
  return test(strip(limit));
}

/// Whether `j < limit` implies `j - i <= most`, of indices i and j, which are
/// not negative: one of the limits is i + m + 1 with m at most `most`. Should
/// that overflow it is negative, and no index is less.
static bool impliesAhead(Value limit, Value i, Value most) {
  return anyLimit(limit, [&](Value one) {
    auto next = one.getDefiningOp<arith::AddIOp>();
    auto sum = next ? strip(next.getLhs()).getDefiningOp<arith::AddIOp>()
                    : arith::AddIOp();
    auto step =
        next ? dyn_cast_or_null<IntegerAttr>(constantOf(strip(next.getRhs())))
             : IntegerAttr();
    return sum && step && step.getValue().isOne() && isSame(sum.getLhs(), i) &&
           isAtMost(sum.getRhs(), most);
  });
}

/// Whether `v` is an index: where a range of lanes lies.
static bool isIndex(Value v) {
  return bool(strip(v).getDefiningOp<sm::RangeOp>());
}

/// Whether `first` is at most what a tile has in each of its lanes: the number
/// that its range begins with, or that divided as the tile is.
static bool isFirst(Value first, Value tile) {
  first = strip(first);
  tile = strip(tile);
  if (auto range = tile.getDefiningOp<sm::RangeOp>())
    return isSame(range.getStart(), first);
  auto a = first.getDefiningOp<arith::FloorDivSIOp>(),
       b = tile.getDefiningOp<arith::FloorDivSIOp>();
  auto by = b ? dyn_cast_or_null<IntegerAttr>(constantOf(strip(b.getRhs())))
              : IntegerAttr();
  return a && by && by.getValue().isStrictlyPositive() &&
         isSame(a.getRhs(), b.getRhs()) && isFirst(a.getLhs(), b.getLhs());
}

/// Whether an index that is less than the least of several limits is so by
/// `predicate`, too.
static bool impliesLimit(Value condition, Value predicate) {
  using arith::CmpIPredicate;
  auto below = strip(condition).getDefiningOp<arith::CmpIOp>(),
       wanted = strip(predicate).getDefiningOp<arith::CmpIOp>();
  if (!below || !wanted || below.getPredicate() != CmpIPredicate::slt)
    return false;
  if (wanted.getPredicate() == CmpIPredicate::slt &&
      isSame(below.getRhs(), wanted.getRhs()) &&
      isFirst(wanted.getLhs(), below.getLhs()))
    return true;
  if (!isIndex(below.getLhs()))
    return false;
  if (wanted.getPredicate() == CmpIPredicate::slt)
    return isSame(below.getLhs(), wanted.getLhs()) &&
           isAtMost(below.getRhs(), wanted.getRhs());
  auto distance = strip(wanted.getLhs()).getDefiningOp<arith::SubIOp>();
  return wanted.getPredicate() == CmpIPredicate::sle && distance &&
         isSame(below.getLhs(), distance.getLhs()) &&
         isIndex(distance.getRhs()) &&
         impliesAhead(below.getRhs(), distance.getRhs(), wanted.getRhs());
}

bool impliesTrue(Value condition, Value predicate) {
  if (isSame(condition, predicate) || impliesLimit(condition, predicate))
    return true;
  auto both = strip(condition).getDefiningOp<arith::AndIOp>();
  return both && (impliesTrue(both.getLhs(), predicate) ||
                  impliesTrue(both.getRhs(), predicate));
}

/// Whether two compares of the same numbers are opposite ones.
static bool isOpposite(Value a, Value b) {
  auto x = strip(a).getDefiningOp<arith::CmpIOp>(),
       y = strip(b).getDefiningOp<arith::CmpIOp>();
  return x && y &&
         x.getPredicate() == arith::invertPredicate(y.getPredicate()) &&
         isSame(x.getLhs(), y.getLhs()) && isSame(x.getRhs(), y.getRhs());
}

/// Whether `value` is `condition` with its bit flipped.
static bool isFlipped(Value value, Value condition) {
  auto negation = strip(value).getDefiningOp<arith::XOrIOp>();
  if (!negation)
    return false;
  auto isTrue = [](Value v) {
    auto constant = dyn_cast_or_null<IntegerAttr>(constantOf(strip(v)));
    return constant && constant.getValue().isAllOnes();
  };
  return (isTrue(negation.getRhs()) && isSame(negation.getLhs(), condition)) ||
         (isTrue(negation.getLhs()) && isSame(negation.getRhs(), condition));
}

bool isNegation(Value value, Value condition) {
  return isOpposite(value, condition) || isFlipped(value, condition) ||
         isFlipped(condition, value);
}

/// The parts of a disjunction that do not exclude the fact.
static void collectOthers(Value condition, const Fact &fact,
                          SmallVectorImpl<Value> &others) {
  condition = strip(condition);
  if (auto either = condition.getDefiningOp<arith::OrIOp>()) {
    collectOthers(either.getLhs(), fact, others);
    collectOthers(either.getRhs(), fact, others);
  } else if (!excludes(condition, fact)) {
    others.push_back(condition);
  }
}

/// Whether two parts of a conjunction exclude the fact together: `a or p` and
/// `not a or p` are p.
static bool excludeTogether(ArrayRef<Value> parts, const Fact &fact) {
  SmallVector<Value> otherwise;
  for (Value part : parts) {
    SmallVector<Value> others;
    collectOthers(part, fact, others);
    if (others.size() == 1)
      otherwise.push_back(others.front());
  }
  for (size_t i = 0; i < otherwise.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (isNegation(otherwise[i], otherwise[j]))
        return true;
  return false;
}

bool excludes(Value condition, const Fact &fact) {
  condition = strip(condition);
  if (auto either = condition.getDefiningOp<arith::OrIOp>();
      either && excludes(either.getLhs(), fact) &&
      excludes(either.getRhs(), fact))
    return true;
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    if (excludes(both.getLhs(), fact) || excludes(both.getRhs(), fact))
      return true;
    SmallVector<Value> parts;
    conjuncts(condition, [&](Value part) { parts.push_back(part); });
    if (excludeTogether(parts, fact))
      return true;
  }
  return isSame(condition, fact.predicate) ||
         impliesLimit(condition, fact.predicate) ||
         llvm::any_of(fact.within, [&](const Arm &arm) {
           return arm.holds ? isNegation(condition, arm.condition)
                            : isSame(condition, arm.condition);
         });
}

State join(State a, State b) {
  auto isZero = [](State s) {
    return s == State::Zero || s == State::ZeroOrData;
  };
  if (a == b)
    return a;
  if (a == State::Garbage || b == State::Garbage)
    return State::Garbage;
  return isZero(a) && isZero(b) ? State::ZeroOrData : State::Determined;
}

bool excludes(ValueRange presence, const Fact &fact) {
  return llvm::any_of(presence, [&](Value p) { return excludes(p, fact); }) ||
         excludeTogether(llvm::to_vector(presence), fact);
}

void conjuncts(Value condition, llvm::function_ref<void(Value)> visit) {
  condition = strip(condition);
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return visit(condition);
  conjuncts(both.getLhs(), visit);
  conjuncts(both.getRhs(), visit);
}

const Fact *factAt(const Facts &facts, Value predicate) {
  for (const Fact &fact : facts)
    if (isSame(fact.predicate, predicate))
      return &fact;
  return nullptr;
}

std::optional<State> stateAt(const Facts &facts, Value predicate) {
  std::optional<State> state;
  for (const Fact &fact : facts) {
    if (!isSame(fact.predicate, predicate))
      continue;
    State known =
        fact.isTotal() ? fact.state : join(fact.state, State::Determined);
    state = state ? join(*state, known) : known;
  }
  if (state)
    return state;
  // Where a limit is passed so is the least of several.
  auto least = llvm::find_if(facts, [&](const Fact &fact) {
    return impliesLimit(fact.predicate, predicate);
  });
  return least == facts.end() ? std::nullopt : stateAt(facts, least->predicate);
}

/// Whether each of `few` is one of `arms`.
static bool areAmong(ArrayRef<Arm> few, ArrayRef<Arm> arms) {
  return llvm::all_of(few, [&](const Arm &arm) {
    return llvm::any_of(arms, [&](const Arm &other) {
      return arm.holds == other.holds && isSame(arm.condition, other.condition);
    });
  });
}

bool hasSameArms(const Fact &a, const Fact &b) {
  return areAmong(a.within, b.within) && areAmong(b.within, a.within);
}

/// Makes one fact of two about the same predicate; returns whether `known`
/// changed.
static bool merge(Fact &known, const Fact &fact) {
  // Without an arm the fact speaks of more lanes, whose contents are unknown.
  size_t arms = known.within.size();
  bool wasTotal = known.isTotal(), areTotal = wasTotal && fact.isTotal();
  llvm::erase_if(known.within,
                 [&](const Arm &arm) { return !areAmong(arm, fact.within); });
  bool isSameSet = known.within.size() == arms && fact.within.size() == arms;
  State state = join(known.state, fact.state);
  if (!isSameSet && !areTotal)
    state = join(state, State::Determined);
  Origin origin = std::min(known.origin, fact.origin);
  bool changed = known.within.size() != arms || state != known.state ||
                 origin != known.origin;
  known.state = state;
  known.origin = origin;
  known.inAllArms = areTotal;
  return changed || wasTotal != known.isTotal();
}

bool addFact(Facts &facts, Fact fact) {
  // Nested choices would double their number with each.
  constexpr size_t maxFacts = 4;
  Fact *last = nullptr;
  size_t count = 0;
  for (Fact &known : facts) {
    if (!isSame(known.predicate, fact.predicate))
      continue;
    if (areAmong(known.within, fact.within) ||
        areAmong(fact.within, known.within))
      return merge(known, fact);
    last = &known;
    ++count;
  }
  if (count == maxFacts)
    return merge(*last, fact);
  facts.push_back(fact);
  return true;
}

Fact withoutArmsAlong(Fact fact, ArrayRef<StringAttr> over) {
  llvm::erase_if(fact.within, [&](const Arm &arm) {
    return llvm::any_of(over, [&](StringAttr axis) {
      return mentions(strip(arm.condition), axis);
    });
  });
  return fact;
}

void addAbsent(Facts &facts, const Facts &more, ArrayRef<StringAttr> over,
               State state) {
  for (const Fact &fact : more) {
    if (fact.origin != Origin::Absent)
      continue;
    addFact(facts, withoutArmsAlong({fact.predicate, join(fact.state, state),
                                     fact.origin, fact.within},
                                    over));
  }
}

Fact carried(Fact fact, scf::ForOp loop) {
  size_t arms = fact.within.size();
  llvm::erase_if(fact.within,
                 [&](const Arm &arm) { return variesIn(arm.condition, loop); });
  if (fact.within.size() != arms && !fact.inAllArms)
    fact.state = join(fact.state, State::Determined);
  return fact;
}

/// What a path without the fact holds there: a constant, or data.
static Fact besideData(const Fact &fact, State constant) {
  bool isZero = join(fact.state, State::Zero) != State::Determined;
  State state = constant != State::Garbage ? constant
                : isZero                   ? State::ZeroOrData
                                           : State::Determined;
  return {fact.predicate, join(fact.state, state), fact.origin, fact.within,
          fact.isTotal()};
}

Facts joinFacts(const Facts &a, State constantA, const Facts &b,
                State constantB) {
  Facts result = a;
  for (const Fact &fact : a)
    if (!factAt(b, fact.predicate))
      addFact(result, besideData(fact, constantB));
  for (const Fact &fact : b) {
    if (!factAt(a, fact.predicate))
      addFact(result, besideData(fact, constantA));
    addFact(result, fact);
  }
  return result;
}

State identityOf(tile::Combine kind) {
  return kind == tile::Combine::Add   ? State::Zero
         : kind == tile::Combine::Max ? State::NegInf
                                      : State::PosInf;
}

/// Identities alone give the identity.
template <typename Reduce>
static State stateOfReduction(Reduce reduce) {
  State identity = identityOf(reduce.getKind());
  return stateOfConstant(reduce.getSource()) == identity ? identity
                                                         : State::Garbage;
}

State stateOfConstant(Value value) {
  value = strip(value);
  if (auto reduce = value.getDefiningOp<tile::ReduceOp>())
    return stateOfReduction(reduce);
  if (auto reduce = value.getDefiningOp<sm::ReduceOp>())
    return stateOfReduction(reduce);
  Attribute attr = constantOf(value);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr)) {
    APInt v = integer.getValue();
    return v.isZero()             ? State::Zero
           : v.isMinSignedValue() ? State::NegInf
           : v.isMaxSignedValue() ? State::PosInf
                                  : State::Finite;
  }
  auto number = dyn_cast_or_null<FloatAttr>(attr);
  if (!number || number.getValue().isNaN())
    return State::Garbage;
  APFloat v = number.getValue();
  if (v.isInfinity())
    return v.isNegative() ? State::NegInf : State::PosInf;
  return v.isZero() ? State::Zero : State::Finite;
}

} // namespace selvedge::verify
