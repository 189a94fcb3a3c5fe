// Arithmetic of floats on 32 lanes.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"
#include "compiler/Sim/HalfFloat.h"

#include <limits>

namespace selvedge::sim {

namespace {

float toFloat(uint32_t bits, uint8_t type) {
  return type == f32   ? std::bit_cast<float>(bits)
         : type == f16 ? f16ToFloat(bits)
                       : bf16ToFloat(bits);
}

uint32_t fromFloat(float value, uint8_t type) {
  return type == f32   ? std::bit_cast<uint32_t>(value)
         : type == f16 ? floatToF16(value)
                       : floatToBf16(value);
}

/// The largest finite value instead of what is beyond, Inf included; NaN stays
/// (PTX ISA, "cvt", `.satfinite`).
uint32_t saturate(float value, uint8_t type) {
  uint32_t bits = fromFloat(value, type);
  uint32_t infinity = type == f16 ? 0x7C00 : 0x7F80;
  return (bits & 0x7FFF) == infinity ? bits - 1 : bits;
}

float largest(float x, float y, bool keepsNaN) {
  if (x != x || y != y) {
    if (keepsNaN)
      return std::numeric_limits<float>::quiet_NaN();
    return x != x ? y : x;
  }
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

float smallest(float x, float y, bool keepsNaN) {
  return -largest(-x, -y, keepsNaN);
}

float apply(Float kind, float x, float y) {
  switch (kind) {
  case Float::Add:
    return x + y;
  case Float::Sub:
    return x - y;
  case Float::Mul:
    return x * y;
  case Float::Div:
    return x / y;
  case Float::Max:
  case Float::MaxNum:
    return largest(x, y, kind == Float::Max);
  case Float::Min:
  case Float::MinNum:
    return smallest(x, y, kind == Float::Min);
  }
  return 0;
}

float apply(Unary kind, float x) {
  switch (kind) {
  case Unary::Neg:
    return -x;
  case Unary::Abs:
    return std::fabs(x);
  case Unary::Sqrt:
    return std::sqrt(x);
  case Unary::Rsqrt:
    return 1 / std::sqrt(x);
  case Unary::Exp:
    return std::exp(x);
  case Unary::Exp2:
    return std::exp2(x);
  case Unary::Log:
    return std::log(x);
  case Unary::Log2:
    return std::log2(x);
  case Unary::Tanh:
    return std::tanh(x);
  case Unary::Floor:
    return std::floor(x);
  case Unary::Ceil:
    return std::ceil(x);
  case Unary::Trunc:
    return std::trunc(x);
  case Unary::RoundEven:
    return std::nearbyint(x);
  case Unary::Reciprocal:
    return 1 / x;
  }
  return 0;
}

/// f32 operations whose loops the compiler makes vectors of.
template <typename F>
void map(uint32_t *__restrict dst, const uint32_t *__restrict a,
         const uint32_t *__restrict b, F f) {
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    dst[lane] = std::bit_cast<uint32_t>(
        f(std::bit_cast<float>(a[lane]), std::bit_cast<float>(b[lane])));
}

bool mapAll(Float kind, uint32_t *dst, const uint32_t *a, const uint32_t *b) {
  switch (kind) {
  case Float::Add:
    map(dst, a, b, [](float x, float y) { return x + y; });
    return true;
  case Float::Sub:
    map(dst, a, b, [](float x, float y) { return x - y; });
    return true;
  case Float::Mul:
    map(dst, a, b, [](float x, float y) { return x * y; });
    return true;
  default:
    return false;
  }
}

uint32_t orderOf(float x, float y) {
  return x != x || y != y ? unordered : x == y ? equal : x > y ? greater : less;
}

uint32_t toInteger(float value, bool isSigned, unsigned width) {
  // Out of range is poison in LLVM; PTX saturates.
  double low = isSigned ? -std::ldexp(1.0, static_cast<int>(width) - 1) : 0,
         high =
             std::ldexp(1.0, static_cast<int>(width) - (isSigned ? 1 : 0)) - 1;
  double whole = value != value ? 0 : std::trunc(static_cast<double>(value));
  whole = std::min(std::max(whole, low), high);
  auto bits = static_cast<uint32_t>(static_cast<int64_t>(whole));
  return width == 32 ? bits : bits & ((uint32_t(1) << width) - 1);
}

} // namespace

void Block::executeFloat(Warp &w, const Instr &in, uint32_t lanes) {
  const uint32_t *a = w.word(in.a);
  const uint32_t *b = in.b == noSlot ? nullptr : w.word(in.b);
  const uint32_t *c = in.c == noSlot ? nullptr : w.word(in.c);
  uint32_t *dst = w.word(in.dst);
  // `other` is the type for operations of one type.
  uint8_t type = in.other;
  auto each = [&](auto f) {
    forLanes(lanes, [&](unsigned lane) { dst[lane] = f(lane); });
  };
  switch (in.op) {
  case Op::FloatBinary: {
    auto kind = static_cast<Float>(in.kind);
    if (type != f32 || lanes != allLanes || !mapAll(kind, dst, a, b))
      each([&](unsigned lane) {
        return fromFloat(
            apply(kind, toFloat(a[lane], type), toFloat(b[lane], type)), type);
      });
    return spread(w, in, lanes, 2);
  }
  case Op::FloatUnary:
    each([&](unsigned lane) {
      return fromFloat(
          apply(static_cast<Unary>(in.kind), toFloat(a[lane], type)), type);
    });
    return spread(w, in, lanes, 1);
  case Op::FloatFma:
    each([&](unsigned lane) {
      return fromFloat(std::fma(toFloat(a[lane], type), toFloat(b[lane], type),
                                toFloat(c[lane], type)),
                       type);
    });
    return spread(w, in, lanes, 3);
  case Op::FloatCompare:
    each([&](unsigned lane) -> uint32_t {
      return (in.kind &
              orderOf(toFloat(a[lane], type), toFloat(b[lane], type))) != 0;
    });
    return spread(w, in, lanes, 2);
  case Op::FloatConvert:
    each([&](unsigned lane) {
      return fromFloat(toFloat(a[lane], in.width), type);
    });
    return spread(w, in, lanes, 1);
  case Op::IntToFloat:
    each([&](unsigned lane) {
      uint32_t shift = 32 - in.width;
      uint32_t value = a[lane] << shift;
      float result =
          in.kind ? static_cast<float>(static_cast<int32_t>(value) >> shift)
                  : static_cast<float>(value >> shift);
      return fromFloat(result, type);
    });
    return spread(w, in, lanes, 1);
  case Op::FloatToInt:
    each([&](unsigned lane) {
      return toInteger(toFloat(a[lane], type), in.kind, in.width);
    });
    return spread(w, in, lanes, 1);
  case Op::Pair:
    // `a` is the upper half; `kind` whether it saturates.
    each([&](unsigned lane) {
      auto narrow = [&](uint32_t bits) {
        auto value = std::bit_cast<float>(bits);
        return in.kind ? saturate(value, type) : fromFloat(value, type);
      };
      return narrow(a[lane]) << 16 | narrow(b[lane]);
    });
    if (!w.isDirty[in.a] && !w.isDirty[in.b])
      return clean(w, in.dst, lanes);
    forLanes(lanes, [&](unsigned lane) {
      setShadow(w, in.dst, lane,
                Shadow((see(w, in.a, lane, in) ? 0xC : 0) |
                       (see(w, in.b, lane, in) ? 0x3 : 0)));
    });
    return;
  case Op::PairFma:
    each([&](unsigned lane) {
      uint32_t result = 0;
      for (unsigned shift : {0U, 16U})
        result |= fromFloat(std::fma(toFloat(a[lane] >> shift & 0xFFFF, type),
                                     toFloat(b[lane] >> shift & 0xFFFF, type),
                                     toFloat(c[lane] >> shift & 0xFFFF, type)),
                            type)
                  << shift;
      return result;
    });
    if (!w.isDirty[in.a] && !w.isDirty[in.b] && !w.isDirty[in.c])
      return clean(w, in.dst, lanes);
    forLanes(lanes, [&](unsigned lane) {
      Shadow any = see(w, in.a, lane, in) | see(w, in.b, lane, in) |
                   see(w, in.c, lane, in);
      setShadow(w, in.dst, lane,
                Shadow((any & 0xC ? 0xC : 0) | (any & 0x3 ? 0x3 : 0)));
    });
    return;
  default:
    return;
  }
}

} // namespace selvedge::sim
