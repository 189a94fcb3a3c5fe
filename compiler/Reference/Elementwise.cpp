// Floating point operations, lane by lane.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace selvedge::reference {

namespace {

template <typename Fn>
TileRef mapFloats(const TileShape &shape, Fn lane) {
  std::shared_ptr<TileValue> result = makeFloats(shape);
  bool exact = true;
  for (size_t i = 0; i < result->values.size(); ++i) {
    Num r = lane(i);
    result->values[i] = r.value;
    result->bounds[i] = r.bound;
    exact &= r.bound == 0;
  }
  if (exact)
    result->bounds.clear();
  return result;
}

template <typename Fn>
TileRef unary(const TileShape &shape, ArrayRef<TileRef> operands, Fn fn) {
  return mapFloats(shape, [&](size_t i) { return fn(operands[0]->at(i)); });
}

template <typename Fn>
TileRef binary(const TileShape &shape, ArrayRef<TileRef> operands, Fn fn) {
  return mapFloats(shape, [&](size_t i) {
    return fn(operands[0]->at(i), operands[1]->at(i));
  });
}

TileRef constant(arith::ConstantOp op, const TileShape &shape) {
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return broadcast(makeScalar(number.getValueAsDouble()), shape);
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  if (!number)
    return nullptr;
  int64_t integer = number.getType().isInteger(1)
                        ? static_cast<int64_t>(number.getValue().getBoolValue())
                        : number.getValue().getSExtValue();
  return broadcast(makeScalar(integer), shape);
}

bool holds(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return unordered || a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

TileRef compare(arith::CmpFOp op, ArrayRef<TileRef> operands,
                const TileShape &shape) {
  std::shared_ptr<TileValue> result = makeInts(shape);
  result->unsure.resize(result->ints.size());
  bool sure = true;
  for (size_t i = 0; i < result->ints.size(); ++i) {
    Num a = operands[0]->at(i), b = operands[1]->at(i);
    result->ints[i] = holds(op.getPredicate(), a.value, b.value);
    result->unsure[i] = orderUnsure(a, b);
    sure &= !result->unsure[i];
  }
  if (sure)
    result->unsure.clear();
  return result;
}

TileRef selectFloats(ArrayRef<TileRef> operands, const TileShape &shape) {
  const TileValue &condition = *operands[0];
  bool uniform = condition.shape.axes.empty();
  return mapFloats(shape, [&](size_t i) {
    size_t at = uniform ? 0 : i;
    Num taken = operands[condition.ints[at] ? 1 : 2]->at(i);
    if (!condition.unsureAt(at))
      return taken;
    return either(taken, operands[condition.ints[at] ? 2 : 1]->at(i));
  });
}

/// Signed or unsigned integers to float; integers that depend on a rounding
/// have no bound.
TileRef fromIntegers(Operation *op, ArrayRef<TileRef> operands,
                     const TileShape &shape, const Format &format) {
  unsigned width =
      getElementTypeOrSelf(op->getOperand(0).getType()).getIntOrFloatBitWidth();
  bool isUnsigned = isa<arith::UIToFPOp>(op);
  return mapFloats(shape, [&](size_t i) {
    int64_t integer = operands[0]->ints[i];
    double value = static_cast<double>(integer);
    if (isUnsigned && width < 64)
      value = static_cast<double>(integer & ((int64_t(1) << width) - 1));
    else if (isUnsigned)
      value = static_cast<double>(static_cast<uint64_t>(integer));
    bool unsure = operands[0]->unsureAt(i);
    return rounded(withBound(value, 0, unsure), format);
  });
}

} // namespace

TileRef evaluateConvert(tile::ConvertOp op, const TileRef &source) {
  const Format &format = formatOf(getElementTypeOrSelf(op.getType()));
  return mapFloats(source->shape, [&](size_t i) {
    Num narrow = narrowed(source->at(i), format, op.getOverflow());
    // A kernel rounds the value times an unknown factor, which may be the first
    // one of its power of two.
    if (source->relative && std::isfinite(narrow.value)) {
      double top = std::abs(narrow.value) + source->at(i).bound;
      narrow.bound =
          std::max(narrow.bound, source->at(i).bound + format.unit * top);
    }
    return narrow;
  });
}

TileRef evaluateElementwise(Operation *op, ArrayRef<TileRef> operands,
                            const TileShape &shape) {
  if (op->getNumResults() != 1)
    return nullptr;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(constantOp, shape);
  if (auto compareOp = dyn_cast<arith::CmpFOp>(op))
    return compare(compareOp, operands, shape);
  if (!isa<FloatType>(type))
    return evaluateInteger(op, operands, shape);

  const Format &format = formatOf(type);
  auto with = [&](auto fn) {
    return [&, fn](auto... x) { return fn(x..., format); };
  };
  return TypeSwitch<Operation *, TileRef>(op)
      .Case([&](arith::AddFOp) { return binary(shape, operands, with(add)); })
      .Case([&](arith::SubFOp) {
        return binary(shape, operands, with(subtract));
      })
      .Case([&](arith::MulFOp) {
        return binary(shape, operands, with(multiply));
      })
      .Case(
          [&](arith::DivFOp) { return binary(shape, operands, with(divide)); })
      .Case([&](arith::MaximumFOp) { return binary(shape, operands, maximum); })
      .Case([&](arith::MinimumFOp) { return binary(shape, operands, minimum); })
      .Case([&](arith::NegFOp) { return unary(shape, operands, negate); })
      .Case([&](math::AbsFOp) { return unary(shape, operands, absolute); })
      .Case([&](math::FloorOp) { return unary(shape, operands, roundDown); })
      .Case([&](math::CeilOp) { return unary(shape, operands, roundUp); })
      .Case([&](math::ExpOp) {
        return unary(shape, operands, with(exponential));
      })
      .Case([&](math::Exp2Op) {
        return unary(shape, operands, with(exponential2));
      })
      .Case(
          [&](math::LogOp) { return unary(shape, operands, with(logarithm)); })
      .Case([&](math::Log2Op) {
        return unary(shape, operands, with(logarithm2));
      })
      .Case([&](math::TanhOp) {
        return unary(shape, operands, with(hyperbolicTangent));
      })
      .Case([&](math::SqrtOp) {
        return unary(shape, operands, with(squareRoot));
      })
      .Case([&](math::RsqrtOp) {
        return unary(shape, operands, with(reciprocalSquareRoot));
      })
      .Case([&](arith::ExtFOp) { return operands[0]; })
      .Case([&](arith::TruncFOp) {
        return unary(shape, operands, [&](Num x) {
          return narrowed(x, format, tile::Overflow::Inf);
        });
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](Operation *conversion) {
        return fromIntegers(conversion, operands, shape, format);
      })
      .Case([&](arith::SelectOp) { return selectFloats(operands, shape); })
      .Default([](Operation *) { return nullptr; });
}

} // namespace selvedge::reference
