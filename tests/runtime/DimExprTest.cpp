// Evaluation and inversion of dim expressions.
// SPDX-License-Identifier: MIT
#include "selvedge/DimExpr.h"

#include <gtest/gtest.h>
#include <limits>

using namespace selvedge;
using Kind = DimExpr::Kind;

namespace {

const std::vector<std::string> names = {"A", "B"};

DimExpr apply(Kind kind, int64_t a, int64_t b) {
  return DimExpr::binary(kind, DimExpr::constant(a), DimExpr::constant(b));
}

int64_t value(Kind kind, int64_t a, int64_t b) {
  auto result = apply(kind, a, b).evaluate({}, {});
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : 0;
}

TEST(DimExpr, divisionAndModuloFloor) {
  EXPECT_EQ(value(Kind::FloorDiv, -7, 2), -4);
  EXPECT_EQ(value(Kind::FloorDiv, 7, 2), 3);
  EXPECT_EQ(value(Kind::CeilDiv, -7, 2), -3);
  EXPECT_EQ(value(Kind::CeilDiv, 7, 2), 4);
  EXPECT_EQ(value(Kind::Mod, -7, 2), 1);
  EXPECT_EQ(value(Kind::Mod, 6, 3), 0);
}

TEST(DimExpr, otherOperations) {
  EXPECT_EQ(value(Kind::Add, 2, 3), 5);
  EXPECT_EQ(value(Kind::Sub, 2, 3), -1);
  EXPECT_EQ(value(Kind::Mul, 2, 3), 6);
  EXPECT_EQ(value(Kind::Min, 2, 3), 2);
  EXPECT_EQ(value(Kind::Max, 2, 3), 3);
  EXPECT_EQ(value(Kind::Gcd, 64, 7), 1);
  EXPECT_EQ(value(Kind::Gcd, 64, 40), 8);
}

TEST(DimExpr, overflowAndBadDivisorsAreErrors) {
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  constexpr int64_t min = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(apply(Kind::Add, max, 1).evaluate({}, {}).ok());
  EXPECT_FALSE(apply(Kind::Sub, min, 1).evaluate({}, {}).ok());
  EXPECT_FALSE(apply(Kind::Mul, max, 2).evaluate({}, {}).ok());
  EXPECT_FALSE(apply(Kind::Mul, min, -1).evaluate({}, {}).ok());
  for (Kind kind : {Kind::FloorDiv, Kind::CeilDiv, Kind::Mod}) {
    EXPECT_FALSE(apply(kind, 1, 0).evaluate({}, {}).ok());
    EXPECT_FALSE(apply(kind, min, -1).evaluate({}, {}).ok());
  }
  EXPECT_EQ(value(Kind::CeilDiv, min, 1), min);
  EXPECT_FALSE(apply(Kind::Gcd, 64, 0).evaluate({}, {}).ok());
  EXPECT_FALSE(apply(Kind::Gcd, min, 64).evaluate({}, {}).ok());
}

TEST(DimExpr, unknownDimIsAnError) {
  auto result = DimExpr::dim(1).evaluate({4, std::nullopt}, names);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("'B'"), std::string::npos);
}

TEST(DimExpr, solvesProductsAndSums) {
  DimExpr product =
      DimExpr::binary(Kind::Mul, DimExpr::dim(0), DimExpr::dim(1));
  DimExpr expr = DimExpr::binary(Kind::Add, product, DimExpr::constant(1));
  DimValues dims = {4, std::nullopt};
  auto bound = solveFor(expr, 13, dims, names);
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(*bound, 1u);
  EXPECT_EQ(dims[1], 3);

  dims = {4, std::nullopt};
  EXPECT_FALSE(solveFor(expr, 12, dims, names).ok());
}

TEST(DimExpr, zeroFactorSaysNothing) {
  DimExpr product =
      DimExpr::binary(Kind::Mul, DimExpr::dim(0), DimExpr::dim(1));
  DimValues dims = {0, std::nullopt};
  auto bound = solveFor(product, 0, dims, names);
  ASSERT_TRUE(bound.ok());
  EXPECT_FALSE(bound->has_value());
  EXPECT_FALSE(dims[1].has_value());
}

} // namespace
