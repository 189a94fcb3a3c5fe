// What is known of a value's absent lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

using namespace mlir;

static Value strip(Value v) {
  while (auto *def = v.getDefiningOp()) {
    if (!isa<tile::BroadcastOp, tile::SplatOp>(def))
      return v;
    v = def->getOperand(0);
  }
  return v;
}

bool isSame(Value a, Value b) {
  a = strip(a);
  b = strip(b);
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() ||
      x->getNumOperands() != y->getNumOperands() || !isMemoryEffectFree(x) ||
      x->getNumRegions() != 0 || x->getResultTypes() != y->getResultTypes() ||
      x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute())
    return false;
  for (auto [p, q] : llvm::zip_equal(x->getOperands(), y->getOperands()))
    if (!isSame(p, q))
      return false;
  return true;
}

bool impliesTrue(Value condition, Value predicate) {
  if (isSame(condition, predicate))
    return true;
  auto both = strip(condition).getDefiningOp<arith::AndIOp>();
  return both && (impliesTrue(both.getLhs(), predicate) ||
                  impliesTrue(both.getRhs(), predicate));
}

std::optional<State> stateAt(const Facts &facts, Value predicate) {
  for (const Fact &fact : facts)
    if (isSame(fact.predicate, predicate))
      return fact.state;
  return std::nullopt;
}

bool addFact(Facts &facts, Fact fact) {
  for (Fact &known : facts)
    if (isSame(known.predicate, fact.predicate)) {
      if (known.state == fact.state || known.state == State::Garbage)
        return false;
      known.state = State::Garbage;
      return true;
    }
  facts.push_back(fact);
  return true;
}

State stateOfConstant(Value value) {
  auto constant = strip(value).getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return State::Garbage;
  Attribute attr = constant.getValue();
  if (auto dense = dyn_cast<SplatElementsAttr>(attr))
    attr = dense.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    APInt v = integer.getValue();
    return v.isZero()             ? State::Zero
           : v.isMinSignedValue() ? State::NegInf
           : v.isMaxSignedValue() ? State::PosInf
                                  : State::Finite;
  }
  auto number = dyn_cast<FloatAttr>(attr);
  if (!number || number.getValue().isNaN())
    return State::Garbage;
  APFloat v = number.getValue();
  if (v.isInfinity())
    return v.isNegative() ? State::NegInf : State::PosInf;
  return v.isZero() ? State::Zero : State::Finite;
}

} // namespace selvedge::verify
