// The error model: bounds hold for f32 arithmetic and are not loose.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Bounds.h"
#include "TestPrograms.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace selvedge::reference {
namespace {

using testing::inf;
using testing::nan;

TEST(Bounds, RoundingIsHalfAnUlp) {
  // 1 + 2^-24 lies between two floats of distance 2^-23.
  EXPECT_EQ(rounded({1 + 0x1p-24, 0}, binary32()).bound, 0x1p-24);
  EXPECT_EQ(rounded({1 + 0x1p-23, 0}, binary32()).bound, 0);
  mlir::MLIRContext context;
  const Format &bf16 = formatOf(mlir::BFloat16Type::get(&context));
  const Format &f16 = formatOf(mlir::Float16Type::get(&context));
  EXPECT_EQ(narrowed({1.001, 0}, bf16, tile::Overflow::Sat).bound, 0x1p-8);
  EXPECT_EQ(narrowed({1.999, 0}, bf16, tile::Overflow::Sat).bound, 0x1p-8);
  EXPECT_EQ(narrowed({1.001, 0}, f16, tile::Overflow::Inf).bound, 0x1p-11);
  // Subnormals of f16 are 2^-24 apart.
  EXPECT_EQ(narrowed({1e-6, 0}, f16, tile::Overflow::Inf).bound, 0x1p-25);
}

TEST(Bounds, NarrowingCoversBothSidesOfAThreshold) {
  mlir::MLIRContext context;
  const Format &f16 = formatOf(mlir::Float16Type::get(&context));
  EXPECT_EQ(narrowed({65519, 2}, f16, tile::Overflow::Inf).bound, inf);
  EXPECT_EQ(narrowed({65521, 2}, f16, tile::Overflow::Inf).bound, inf);
  Num clamped = narrowed({65540, 100}, f16, tile::Overflow::Sat);
  EXPECT_EQ(clamped.value, 65504);
  EXPECT_GE(clamped.bound, 64);
  EXPECT_LE(clamped.bound, 120);
  // Nothing beyond the largest number, whatever rounds to it.
  EXPECT_EQ(narrowed({65509, 8}, f16, tile::Overflow::Sat).value, 65504);
}

TEST(Bounds, BeyondTheRangeOfSinglePrecision) {
  Num big = multiply({1e30, 0}, {1e30, 0}, binary32());
  EXPECT_EQ(big.value, inf);
  EXPECT_EQ(big.bound, inf);
  Num low = exponential(negate(big), binary32());
  EXPECT_EQ(low.value, 0);
  EXPECT_LE(low.bound, 1e-37);
  // Adding a small number to the smallest float is not an overflow.
  EXPECT_EQ(add({-0x1.fffffep127, 0}, {-10, 0}, binary32()).value,
            -0x1.fffffep127);
  EXPECT_TRUE(
      std::isfinite(add({-0x1.fffffep127, 0}, {-10, 0}, binary32()).bound));
}

TEST(Bounds, PolesAreUnbounded) {
  EXPECT_EQ(divide({1, 0}, {0.5, 0.5}, binary32()).bound, inf);
  EXPECT_EQ(logarithm({0.5, 0.5}, binary32()).bound, inf);
  EXPECT_EQ(squareRoot({0.5, 0.6}, binary32()).bound, inf);
  EXPECT_EQ(reciprocalSquareRoot({0.5, 0.5}, binary32()).bound, inf);
}

TEST(Bounds, NonFiniteValuesAreCertain) {
  for (double x : {inf, -inf, nan}) {
    EXPECT_EQ(add({x, 0}, {1, 0.5}, binary32()).bound, 0);
    EXPECT_EQ(multiply({x, 0}, {0, 0}, binary32()).bound, 0);
    EXPECT_EQ(maximum({x, 0}, {x, 0}).bound, 0);
  }
  EXPECT_TRUE(std::isnan(maximum({nan, 0}, {1, 0}).value));
  EXPECT_TRUE(std::isnan(minimum({1, 0}, {nan, 0}).value));
  EXPECT_EQ(maximum({-inf, 0}, {1, 0.25}).bound, 0.25);
}

TEST(Bounds, MaximumIgnoresWhatCannotReachIt) {
  EXPECT_NEAR(maximum({1, 0.1}, {-5, 2}).bound, 0.1, 1e-15);
  EXPECT_NEAR(maximum({1, 0.1}, {0.5, 2}).bound, 1.5, 1e-15);
}

/// Computes in f32 from perturbed operands and compares.
void expectContains(const std::function<Num(Num, Num)> &model,
                    const std::function<float(float, float)> &kernel,
                    bool positive) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> value(positive ? 0.1 : -4, 4);
  std::uniform_real_distribution<double> unit(-1, 1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    // Operands of the kernel are floats within the bounds.
    auto operand = [&](float &seen) {
      double bound = i % 2 ? 0 : 1e-5;
      Num x{value(engine), bound};
      if (bound == 0)
        x.value = static_cast<float>(x.value);
      seen = static_cast<float>(x.value + unit(engine) * bound * 0.9);
      return x;
    };
    float a, b;
    Num x = operand(a), y = operand(b), r = model(x, y);
    double error = std::abs(kernel(a, b) - r.value);
    ASSERT_LE(error, r.bound) << x.value << ' ' << y.value;
    if (i % 2)
      worst = std::max(worst, r.bound / std::max(std::abs(r.value), 1e-3));
  }
  // With exact operands: the approximation or rounding alone.
  EXPECT_LE(worst, 2e-3);
}

TEST(Bounds, ContainSinglePrecision) {
  auto f32 = [](auto fn) {
    return [=](Num a, Num b) { return fn(a, b, binary32()); };
  };
  auto unary = [](auto fn) {
    return [=](Num a, Num) { return fn(a, binary32()); };
  };
  expectContains(f32(add), [](float a, float b) { return a + b; }, false);
  expectContains(f32(subtract), [](float a, float b) { return a - b; }, false);
  expectContains(f32(multiply), [](float a, float b) { return a * b; }, false);
  expectContains(
      f32(divide), [](float a, float b) { return a * (1 / b); }, true);
  expectContains(
      unary(exponential), [](float a, float) { return exp2f(a * 1.44269504f); },
      false);
  expectContains(
      unary(exponential2), [](float a, float) { return exp2f(a); }, false);
  expectContains(
      unary(logarithm), [](float a, float) { return log2f(a) * 0.693147181f; },
      true);
  expectContains(
      unary(logarithm2), [](float a, float) { return log2f(a); }, true);
  expectContains(
      unary(hyperbolicTangent),
      [](float a, float) {
        return 1 - 2 * (1 / (1 + exp2f(2 * 1.44269504f * a)));
      },
      false);
  expectContains(
      unary(squareRoot), [](float a, float) { return sqrtf(a); }, true);
  expectContains(
      unary(reciprocalSquareRoot), [](float a, float) { return 1 / sqrtf(a); },
      true);
}

} // namespace
} // namespace selvedge::reference
