// What follows from inequalities between whole numbers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Inequalities.h"

#include <gtest/gtest.h>

using namespace selvedge::verify;

namespace {

/// n in 1..2 and q = ceil(n / 64).
struct Quotient : testing::Test {
  Polynomial n = Polynomial::symbol(0), q = Polynomial::symbol(1);
  Polynomial facts[4] = {n - 1, Polynomial(2) - n, q * 64 - n, n + 63 - q * 64};
  llvm::SmallVector<const Polynomial *> rows{&facts[0], &facts[1], &facts[2],
                                             &facts[3]};
};

TEST_F(Quotient, isWhole) {
  // As whole numbers, 64 q >= 64 is q >= 1.
  EXPECT_TRUE(implies(rows, q * 64 - 64));
  EXPECT_TRUE(implies(rows, q * 64 - 1));
  // Of what no factor is common the last case takes cases.
  EXPECT_FALSE(implies(rows, q * 64 - n - 62));
  EXPECT_TRUE(impliesForIntegers(rows, q * 64 - n - 62));
  EXPECT_TRUE(impliesForIntegers(rows, Polynomial(64) - q * 64));
}

TEST_F(Quotient, doesNotImplyMore) {
  EXPECT_FALSE(implies(rows, q * 64 - 65));
  EXPECT_FALSE(impliesForIntegers(rows, q * 64 - 65));
  EXPECT_FALSE(impliesForIntegers(rows, n - 2));
}

TEST_F(Quotient, followsBySeveralCases) {
  // What is left of the steps, rounded up to whole ones again: 63 or 62.
  Polynomial r = Polynomial::symbol(2), rest = q * 64 - n;
  Polynomial more[] = {r * 64 - rest, rest + 63 - r * 64};
  rows.append({&more[0], &more[1]});
  EXPECT_FALSE(implies(rows, r * 64 - 64));
  EXPECT_TRUE(impliesForIntegers(rows, r * 64 - 64));
}

} // namespace
