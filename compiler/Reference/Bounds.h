// The error model of device `ref`: numbers that carry a running error bound.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_BOUNDS_H
#define SELVEDGE_COMPILER_REFERENCE_BOUNDS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::reference {

/// A value and how far a kernel's value may be from it. For a finite value the
/// kernel's value lies in value +- bound; an infinite bound promises nothing. A
/// value that is not finite has bound 0 (the kernel's is not finite either) or
/// infinity: Inf with an infinite bound is a result beyond the format's range,
/// finite where a kernel contracts or reorders operations.
struct Num {
  double value = 0;
  double bound = 0;
};

/// What rounding to a floating point type does.
struct Format {
  /// Unit roundoff 2^-p for a significand of p bits, hidden one included.
  /// Round to nearest is off by at most 2^-p times the power of two below the
  /// value: p is 24 for f32, 8 for bf16 and 11 for f16.
  double unit;
  /// Below this magnitude a result may be flushed to zero. For f32 this is the
  /// smallest normal number (ptxas may choose `.ftz` approximations), for the
  /// narrow types nothing is flushed.
  double flush;
  /// Half the distance of subnormals.
  double subnormal;
  double maxFinite;
  /// Magnitudes from here on round to Inf: maxFinite + half an ulp.
  double overflow;
};

/// Unit roundoff of f32, in which all arithmetic on tiles is done.
inline constexpr double unit32 = 0x1p-24;
/// Relative error allowed to the approximations of a GPU (`ex2.approx`,
/// `lg2.approx`, `rcp.approx` and what is built from one of them).
inline constexpr double approximation = 0x1p-21;
/// What flushing a weight of a softmax to zero may cost, where the kernel's
/// reference exceeds ours by up to 2^8 (lazy rescaling).
inline constexpr double weightFloor = 0x1p-118;

/// The format of f32.
const Format &binary32();
/// The format of f16, bf16, f32, f64 or a float of 8 bits.
const Format &formatOf(mlir::Type type);

/// `value` as an element of `type`: the nearest float, Inf when out of range;
/// itself for integers.
double quantize(double value, mlir::Type type);

/// A correctly rounded result: adds half an ulp, or nothing where an exact
/// result is representable.
Num rounded(Num x, const Format &format);
/// `tile.convert` and `arith.truncf`: rounding and overflow to `format`.
Num narrowed(Num x, const Format &format, tile::Overflow overflow);

Num add(Num a, Num b, const Format &format);
Num subtract(Num a, Num b, const Format &format);
Num multiply(Num a, Num b, const Format &format);
Num divide(Num a, Num b, const Format &format);
Num maximum(Num a, Num b);
Num minimum(Num a, Num b);
Num negate(Num x);
Num absolute(Num x);
Num exponential(Num x, const Format &format);
Num exponential2(Num x, const Format &format);
Num logarithm(Num x, const Format &format);
Num logarithm2(Num x, const Format &format);
Num hyperbolicTangent(Num x, const Format &format);
Num squareRoot(Num x, const Format &format);
Num reciprocalSquareRoot(Num x, const Format &format);
/// floor and ceil: a step inside the bound makes the bound that step.
Num roundDown(Num x);
Num roundUp(Num x);

/// A choice that may have gone the other way: the union of both.
Num either(Num taken, Num other);
/// Whether the order of a and b is within their bounds.
bool orderUnsure(Num a, Num b);
/// e^bound - 1, rounded up: relative error of e^x for an error of x.
double growth(double bound);
/// Error of e^x for an error of x, also where e^x underflows.
double exponentialError(double x, double bound);
/// A bound for a result: infinite where it depends on an infinite one, else 0
/// for values that are not finite, else `bound` (NaN counts as infinite).
Num withBound(double value, double bound, bool unbounded);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_BOUNDS_H
