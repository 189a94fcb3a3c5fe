// sm-byte-floats: floats of 8 bits as bytes.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/Passes.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AttrTypeSubElements.h"

#include <bit>
#include <cmath>
#include <limits>

namespace selvedge::lanes {

#define GEN_PASS_DEF_SMBYTEFLOATS
#include "compiler/Target/Lanes/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

constexpr int32_t f32Mantissa = 23, f32Bias = 127;

int32_t bitsOf(double value) {
  return std::bit_cast<int32_t>(static_cast<float>(value));
}

/// What distinguishes e4m3 from e5m2.
struct ByteFormat {
  int32_t mantissa, bias;
  double largest;

  explicit ByteFormat(Type type)
      : mantissa(isa<Float8E4M3FNType>(type) ? 3 : 2),
        bias(isa<Float8E4M3FNType>(type) ? 7 : 15),
        largest(isa<Float8E4M3FNType>(type) ? 448 : 57344) {}
};

/// Emits operations on tiles, or scalars, of one shape.
class TileEmitter {
public:
  explicit TileEmitter(Operation *op)
      : b(op), loc(op->getLoc()), shape(op->getResult(0).getType()) {}

  Value i32(int32_t value) { return splat(b.getI32IntegerAttr(value)); }
  Value f32(double value) {
    return splat(b.getF32FloatAttr(static_cast<float>(value)));
  }
  template <typename Op>
  Value binary(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  template <typename Op>
  Value cast(Type element, Value x) {
    return Op::create(b, loc, tile::withElementType(shape, element), x);
  }
  Value bitcast(Type element, Value x) {
    return cast<arith::BitcastOp>(element, x);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  /// Whether |x| > limit.
  Value isLarger(Value x, double limit) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                 math::AbsFOp::create(b, loc, x), f32(limit));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  OpBuilder b;

private:
  Value splat(TypedAttr value) {
    Value scalar = arith::ConstantOp::create(b, loc, value);
    if (!isa<RankedTensorType>(shape))
      return scalar;
    return SplatOp::create(
        b, loc, tile::withElementType(shape, value.getType()), scalar);
  }

  Location loc;
  Type shape;
};

/// Exponent and mantissa at the place of f32's make a number that is a power of
/// two too small, subnormal numbers too.
Value widenE4M3(TileEmitter &emit, Value wide) {
  ByteFormat format(Float8E4M3FNType::get(emit.b.getContext()));
  int32_t shift = f32Mantissa - format.mantissa;
  Value bits = emit.binary<arith::AndIOp>(
      emit.binary<arith::ShLIOp>(wide, emit.i32(shift)),
      emit.i32(static_cast<int32_t>(0x80000000) | 0x7f << shift));
  Value number = emit.binary<arith::MulFOp>(
      emit.bitcast(emit.b.getF32Type(), bits),
      emit.f32(std::ldexp(1.0, f32Bias - format.bias)));
  // The byte of NaN would be the next larger number.
  Value isNan = emit.isLarger(number, format.largest);
  return emit.select(isNan, emit.f32(std::numeric_limits<double>::quiet_NaN()),
                     number);
}

/// The upper byte of an f16.
Value widenE5M2(TileEmitter &emit, Value wide) {
  Value shifted = emit.binary<arith::ShLIOp>(wide, emit.i32(8));
  Value half = emit.cast<arith::TruncIOp>(emit.b.getI16Type(), shifted);
  return emit.cast<arith::ExtFOp>(emit.b.getF32Type(),
                                  emit.bitcast(emit.b.getF16Type(), half));
}

void widen(arith::ExtFOp op) {
  TileEmitter emit(op);
  bool isE4M3 =
      isa<Float8E4M3FNType>(getElementTypeOrSelf(op.getIn().getType()));
  Value wide = emit.cast<arith::ExtSIOp>(emit.b.getI32Type(), op.getIn());
  op.replaceAllUsesWith(isE4M3 ? widenE4M3(emit, wide) : widenE5M2(emit, wide));
  op.erase();
}

void narrow(ConvertOp op) {
  TileEmitter emit(op);
  ByteFormat format(getElementTypeOrSelf(op.getType()));
  Type i32 = emit.b.getI32Type(), f32 = emit.b.getF32Type();
  int32_t shift = f32Mantissa - format.mantissa, minExponent = 1 - format.bias;
  Value bits = emit.bitcast(i32, op.getSource());
  Value sign = emit.binary<arith::AndIOp>(
      emit.binary<arith::ShRUIOp>(bits, emit.i32(24)), emit.i32(0x80));
  Value size = emit.binary<arith::AndIOp>(
      bits, emit.i32(std::numeric_limits<int32_t>::max()));
  Value isNan =
      emit.compare(arith::CmpIPredicate::sgt, size,
                   emit.i32(bitsOf(std::numeric_limits<double>::infinity())));
  Value most =
      emit.binary<arith::MinSIOp>(size, emit.i32(bitsOf(format.largest)));
  // Bits that go away round to nearest even; a carry reaches the exponent.
  Value odd = emit.binary<arith::AndIOp>(
      emit.binary<arith::ShRUIOp>(most, emit.i32(shift)), emit.i32(1));
  Value rounded = emit.binary<arith::AddIOp>(
      emit.binary<arith::AddIOp>(most, emit.i32((1 << (shift - 1)) - 1)), odd);
  Value normal = emit.binary<arith::SubIOp>(
      emit.binary<arith::ShRUIOp>(rounded, emit.i32(shift)),
      emit.i32((f32Bias - format.bias) << format.mantissa));
  // Where the last place of an f32 is the distance of subnormal numbers the
  // sum rounds to them.
  double step = std::ldexp(1.0, f32Mantissa + minExponent - format.mantissa);
  Value sum =
      emit.binary<arith::AddFOp>(emit.bitcast(f32, most), emit.f32(step));
  Value subnormal = emit.binary<arith::SubIOp>(emit.bitcast(i32, sum),
                                               emit.i32(bitsOf(step)));
  Value isSmall = emit.compare(arith::CmpIPredicate::slt, most,
                               emit.i32(bitsOf(std::ldexp(1.0, minExponent))));
  Value byte = emit.select(
      isNan, emit.i32(0x7f),
      emit.binary<arith::OrIOp>(emit.select(isSmall, subnormal, normal), sign));
  op.replaceAllUsesWith(emit.cast<arith::TruncIOp>(emit.b.getI8Type(), byte));
  op.erase();
}

/// A constant's bits.
void expandConstant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  auto number = dyn_cast_or_null<FloatAttr>(value);
  if (!number)
    return;
  OpBuilder b(op);
  auto bits =
      b.getIntegerAttr(b.getI8Type(), number.getValue().bitcastToAPInt());
  auto tensor = dyn_cast<RankedTensorType>(op.getType());
  TypedAttr replaced = bits;
  if (tensor)
    replaced = SplatElementsAttr::get(
        cast<ShapedType>(tile::withElementType(tensor, b.getI8Type())),
        bits.getValue());
  op.replaceAllUsesWith(
      arith::ConstantOp::create(b, op.getLoc(), replaced).getResult());
  op.erase();
}

struct SmByteFloatsPass : impl::SmByteFloatsBase<SmByteFloatsPass> {
  void runOnOperation() override {
    auto isByte = [](Value v) {
      return tile::isByteFloat(getElementTypeOrSelf(v.getType()));
    };
    // What is narrowed may be widened again: its type is asked before it goes.
    getOperation()->walk([&](arith::ExtFOp extend) {
      if (isByte(extend.getIn()))
        widen(extend);
    });
    getOperation()->walk([&](Operation *op) {
      if (auto convert = dyn_cast<ConvertOp>(op);
          convert && isByte(convert.getResult()))
        narrow(convert);
      else if (auto constant = dyn_cast<arith::ConstantOp>(op);
               constant && isByte(constant.getResult()))
        expandConstant(constant);
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FloatType type) -> Type {
      return tile::isByteFloat(type) ? IntegerType::get(type.getContext(), 8)
                                     : Type(type);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace selvedge::lanes
