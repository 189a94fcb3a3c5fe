// The error model, operation by operation; a' and ea are a kernel's value of a
// and its bound, so |a' - a| <= ea.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace selvedge::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double ln2 = 0.6931471805599453;

/// The largest power of two that is at most |x|, 0 for 0 and fp64 subnormals.
double powerBelow(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) &
                               0x7ff0000000000000ull);
}

bool unbounded(Num a) { return std::isinf(a.bound); }
bool unbounded(Num a, Num b) { return unbounded(a) || unbounded(b); }

/// Half the ulp of magnitudes up to `top`.
double halfUlp(double top, const Format &format) {
  return std::max(powerBelow(top) * format.unit, format.subnormal);
}

/// An approximation with a relative error: no result of it counts as exact.
Num approximated(double value, double bound, Num x, const Format &format) {
  double extra = std::max(approximation, 2 * format.unit) * std::abs(value);
  Num r = rounded(withBound(value, bound + extra, unbounded(x)), format);
  if (std::isfinite(r.value))
    r.bound += format.flush;
  return r;
}

} // namespace

const Format &binary32() {
  static const Format f32{0x1p-24, 0x1p-126, 0x1p-150, 0x1.fffffep127,
                          0x1.ffffffp127};
  return f32;
}

const Format &formatOf(mlir::Type type) {
  static const Format f64{0x1p-53, 0, 0, 0x1.fffffffffffffp1023, infinity};
  static const Format bf16{0x1p-8, 0, 0x1p-134, 0x1.fep127, 0x1.ffp127};
  static const Format f16{0x1p-11, 0, 0x1p-25, 65504, 65520};
  static const Format e4m3{0x1p-4, 0, 0x1p-10, 448, 464};
  static const Format e5m2{0x1p-3, 0, 0x1p-17, 57344, 61440};
  if (type.isBF16())
    return bf16;
  if (type.isF16())
    return f16;
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return e4m3;
  if (mlir::isa<mlir::Float8E5M2Type>(type))
    return e5m2;
  return type.isF64() ? f64 : binary32();
}

double quantize(double value, mlir::Type type) {
  if (!mlir::isa<mlir::FloatType>(type) || !std::isfinite(value) ||
      value == 0 || type.isF64())
    return value;
  const Format &format = formatOf(type);
  if (std::abs(value) >= format.overflow)
    return std::copysign(infinity, value);
  double power = std::ldexp(1.0, std::ilogb(value));
  double ulp = 2 * std::max(power * format.unit, format.subnormal);
  return std::nearbyint(value / ulp) * ulp;
}

Num withBound(double value, double bound, bool unbounded) {
  if (unbounded)
    return {value, infinity};
  if (!std::isfinite(value))
    return {value, 0};
  return {value, std::isnan(bound) ? infinity : bound};
}

Num rounded(Num x, const Format &format) {
  if (!std::isfinite(x.value) || std::isinf(x.bound))
    return x;
  double size = std::abs(x.value), top = size + x.bound;
  if (size - x.bound >= format.overflow)
    return {std::copysign(infinity, x.value), infinity};
  if (top >= format.overflow)
    return {x.value, infinity};
  double half = halfUlp(top, format);
  if (x.bound == 0) {
    double steps = x.value / (2 * half);
    bool representable = half == 0 || steps == std::nearbyint(steps);
    if (representable && (size == 0 || size >= format.flush))
      return x;
  }
  if (size - x.bound < format.flush)
    half = std::max(half, format.flush);
  return {x.value, x.bound + half};
}

Num narrowed(Num x, const Format &format, tile::Overflow overflow) {
  if (overflow == tile::Overflow::Clamp && std::isinf(x.value))
    return {std::copysign(format.maxFinite, x.value), 0};
  if (!std::isfinite(x.value))
    return x;
  bool sat = overflow != tile::Overflow::Inf;
  // A source that may itself be Inf stays Inf; else clamping is a contraction.
  if (std::isinf(x.bound))
    return {sat ? std::clamp(x.value, -format.maxFinite, format.maxFinite)
                : x.value,
            infinity};
  double size = std::abs(x.value);
  if (sat && size - x.bound >= format.maxFinite)
    return {std::copysign(format.maxFinite, x.value), 0};
  if (sat && size + x.bound >= format.overflow) {
    double clamped = std::min(size, format.maxFinite);
    return {std::copysign(clamped, x.value),
            x.bound + halfUlp(format.maxFinite, format)};
  }
  // IEEE overflow is definite here, unlike that of an f32 intermediate: the
  // narrow type is the declared one.
  if (!sat && size - x.bound >= format.overflow)
    return {std::copysign(infinity, x.value), 0};
  if (sat)
    x.value = std::clamp(x.value, -format.maxFinite, format.maxFinite);
  return rounded(x, format);
}

Num add(Num a, Num b, const Format &format) {
  return rounded(
      withBound(a.value + b.value, a.bound + b.bound, unbounded(a, b)), format);
}

Num subtract(Num a, Num b, const Format &format) {
  return add(a, negate(b), format);
}

// |a'b' - ab| <= |a| eb + ea |b| + ea eb.
Num multiply(Num a, Num b, const Format &format) {
  double bound = std::abs(a.value) * b.bound + a.bound * std::abs(b.value) +
                 a.bound * b.bound;
  return rounded(withBound(a.value * b.value, bound, unbounded(a, b)), format);
}

// a'/b' - a/b = (a' - a - (a/b)(b' - b)) / b'.
Num divide(Num a, Num b, const Format &format) {
  double value = a.value / b.value, smallest = std::abs(b.value) - b.bound;
  bool poles = b.bound > 0 && smallest <= 0;
  double bound = (a.bound + std::abs(value) * b.bound) / smallest;
  if (a.value == 0 && a.bound == 0 && !poles)
    return withBound(value, 0, unbounded(b));
  if (std::isinf(b.value) && std::isfinite(a.value))
    bound = 0;
  if (poles || unbounded(a, b))
    return {value, infinity};
  return approximated(value, bound, a, format);
}

// The kernel's value lies between the maxima of the lower and upper ends.
Num maximum(Num a, Num b) {
  if (std::isnan(a.value) || std::isnan(b.value))
    return withBound(std::numeric_limits<double>::quiet_NaN(), 0,
                     unbounded(a, b));
  double value = std::max(a.value, b.value);
  if (std::isinf(value))
    return withBound(value, 0, unbounded(a, b));
  // -Inf, exact or beyond the range, never exceeds a finite value.
  auto low = [](Num x) {
    return std::isinf(x.value) ? x.value : x.value - x.bound;
  };
  auto high = [](Num x) {
    return std::isinf(x.value) ? x.value : x.value + x.bound;
  };
  return {value, std::max(std::max(high(a), high(b)) - value,
                          value - std::max(low(a), low(b)))};
}

Num minimum(Num a, Num b) { return negate(maximum(negate(a), negate(b))); }

Num negate(Num x) { return {-x.value, x.bound}; }

Num absolute(Num x) { return {std::abs(x.value), x.bound}; }

double growth(double bound) {
  // e^x - 1 <= x + x^2 up to x = 1.79; the common case needs no library call.
  return bound < 0.5 ? bound + bound * bound : std::expm1(bound);
}

double exponentialError(double x, double bound) {
  // A score of the smallest float stays without weight however large the error
  // of its distance is in absolute terms.
  return bound < 0.5 ? std::exp(x) * growth(bound)
                     : std::exp(x + bound) - std::exp(x);
}

// The argument is multiplied by log2(e) in f32: an error of 2u|x|.
Num exponential(Num x, const Format &format) {
  double value = std::exp(x.value);
  if (x.value == -infinity)
    return {0, unbounded(x) ? format.flush : 0};
  double argument = x.bound + 2 * format.unit * std::abs(x.value);
  return approximated(value, exponentialError(x.value, argument), x, format);
}

Num exponential2(Num x, const Format &format) {
  double value = std::exp2(x.value);
  if (x.value == -infinity)
    return {0, unbounded(x) ? format.flush : 0};
  return approximated(value, exponentialError(x.value * ln2, x.bound * ln2), x,
                      format);
}

// |log x' - log x| <= ex / (x - ex). Near 1 the approximation's error is
// absolute.
Num logarithm(Num x, const Format &format) {
  double value = std::log(x.value);
  if (x.bound > 0 && std::abs(x.value) <= x.bound)
    return {value, infinity};
  double bound = x.value == infinity ? 0 : x.bound / (x.value - x.bound);
  return approximated(value, bound + approximation, x, format);
}

Num logarithm2(Num x, const Format &format) {
  double value = std::log2(x.value);
  if (x.bound > 0 && std::abs(x.value) <= x.bound)
    return {value, infinity};
  double bound = x.value == infinity ? 0 : x.bound / (x.value - x.bound) / ln2;
  return approximated(value, bound + approximation, x, format);
}

// The slope is at most 1. 1 - 2 / (1 + e^2x) has an absolute error: that of
// the exponential and of the quotient, which is at most 2.
Num hyperbolicTangent(Num x, const Format &format) {
  double value = std::tanh(x.value);
  return approximated(value, std::min(x.bound, 2.0) + 2 * approximation,
                      std::isinf(x.value) ? Num{} : x, format);
}

// |sqrt x' - sqrt x| = |x' - x| / (sqrt x' + sqrt x).
Num squareRoot(Num x, const Format &format) {
  double value = std::sqrt(x.value);
  if (x.value == 0 && x.bound == 0)
    return x;
  if (x.bound > 0 && std::abs(x.value) <= x.bound)
    return {value, infinity};
  return approximated(value, x.bound / value, x, format);
}

// With t = ex / x: 1 / sqrt(1 - t) - 1.
Num reciprocalSquareRoot(Num x, const Format &format) {
  double value = 1 / std::sqrt(x.value);
  if (x.bound > 0 && std::abs(x.value) <= x.bound)
    return {value, infinity};
  double bound =
      value == 0 ? 0 : value * (1 / std::sqrt(1 - x.bound / x.value) - 1);
  return approximated(value, bound, x, format);
}

Num roundDown(Num x) {
  double value = std::floor(x.value);
  return withBound(value,
                   std::max(std::floor(x.value + x.bound) - value,
                            value - std::floor(x.value - x.bound)),
                   unbounded(x));
}

Num roundUp(Num x) { return negate(roundDown(negate(x))); }

Num either(Num taken, Num other) {
  double apart = std::abs(taken.value - other.value) + other.bound;
  return {taken.value,
          std::isfinite(apart) ? std::max(taken.bound, apart) : infinity};
}

bool orderUnsure(Num a, Num b) {
  if (unbounded(a, b))
    return true;
  if (a.bound == 0 && b.bound == 0)
    return false;
  return std::abs(a.value - b.value) <= a.bound + b.bound;
}

} // namespace selvedge::reference
