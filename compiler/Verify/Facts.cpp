// What is known of a value's absent lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

using namespace mlir;

Value strip(Value v) {
  while (auto *def = v.getDefiningOp()) {
    if (!isa<tile::BroadcastOp, tile::SplatOp, sm::BroadcastOp, sm::SplatOp>(
            def))
      return v;
    v = def->getOperand(0);
  }
  return v;
}

SmallVector<StringAttr> axisNames(Type type) {
  if (auto buffer = dyn_cast<sm::BufferType>(type))
    return {buffer.getRowAxis(), buffer.getColAxis()};
  if (sm::DistAttr dist = sm::distOf(type))
    return llvm::map_to_vector(
        dist.getAxes(), [](sm::AxisDistAttr axis) { return axis.getName(); });
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
  if (!sm::distOf(a) || !sm::distOf(b))
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

/// The one element of a constant; null for other values.
static Attribute constantOf(Value v) {
  auto constant = v.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  auto dense = dyn_cast<SplatElementsAttr>(constant.getValue());
  return dense ? dense.getSplatValue<Attribute>() : constant.getValue();
}

bool isSame(Value a, Value b) {
  a = strip(a);
  b = strip(b);
  if (a == b)
    return true;
  if (Attribute constant = constantOf(a))
    return constant == constantOf(b);
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() ||
      x->getNumOperands() != y->getNumOperands() ||
      !(isMemoryEffectFree(x) || isSameMemory(x)) || x->getNumRegions() != 0 ||
      !isSameType(a.getType(), b.getType()) ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber() ||
      x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute())
    return false;
  return llvm::equal(x->getOperands(), y->getOperands(), isSame);
}

bool variesIn(Value value, scf::ForOp loop) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return loop.getRegion().isAncestor(value.getParentRegion());
  if (!loop->isProperAncestor(def))
    return false;
  return !(isMemoryEffectFree(def) || isSameMemory(def)) ||
         def->getNumRegions() != 0 ||
         llvm::any_of(def->getOperands(),
                      [&](Value operand) { return variesIn(operand, loop); });
}

bool impliesTrue(Value condition, Value predicate) {
  if (isSame(condition, predicate))
    return true;
  auto both = strip(condition).getDefiningOp<arith::AndIOp>();
  return both && (impliesTrue(both.getLhs(), predicate) ||
                  impliesTrue(both.getRhs(), predicate));
}

bool impliesTrue(ValueRange presence, Value predicate) {
  return llvm::any_of(presence,
                      [&](Value p) { return impliesTrue(p, predicate); });
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
  const Fact *fact = factAt(facts, predicate);
  return fact ? std::optional(fact->state) : std::nullopt;
}

bool addFact(Facts &facts, Fact fact) {
  for (Fact &known : facts)
    if (isSame(known.predicate, fact.predicate)) {
      Fact before = known;
      if (known.state != fact.state)
        known.state = State::Garbage;
      known.origin = std::min(known.origin, fact.origin);
      return known.state != before.state || known.origin != before.origin;
    }
  facts.push_back(fact);
  return true;
}

Facts joinFacts(const Facts &a, State constantA, const Facts &b,
                State constantB) {
  Facts result = a;
  for (const Fact &fact : a)
    if (!factAt(b, fact.predicate))
      addFact(result, {fact.predicate, constantB, fact.origin});
  for (const Fact &fact : b) {
    if (!factAt(a, fact.predicate))
      addFact(result, {fact.predicate, constantA, fact.origin});
    addFact(result, fact);
  }
  return result;
}

State stateOfConstant(Value value) {
  Attribute attr = constantOf(strip(value));
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
