// What follows from inequalities between whole numbers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/CaseSystem.h"

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

/// m and n from 0 to 2^31 - 1, the smaller of the two, and q = n / 64.
struct Smaller : testing::Test {
  static constexpr int64_t most = 0x7fffffff;
  CaseSystem system;
  Polynomial m = system.newSymbol(), n = system.newSymbol(), least, q;

  Smaller() {
    for (const Polynomial &dim : {m, n}) {
      system.assume(dim);
      system.assume(Polynomial(most) - dim);
    }
    least = system.newResult();
    system.define(m - least);
    system.define(n - least);
    system.assume(Choice{least, m, n, Choice::Kind::Smaller});
    q = system.newResult();
    system.define(n - q * 64);
    system.define(q * 64 + 63 - n);
  }
};

TEST_F(Smaller, isRefutedByNumbers) {
  Models models;
  llvm::SmallVector<Polynomial> facts{m,
                                      n,
                                      Polynomial(most) - m,
                                      Polynomial(most) - n,
                                      n - q * 64,
                                      q * 64 + 63 - n,
                                      m - least,
                                      n - least};
  llvm::SmallVector<Choice> choices{{least, m, n, Choice::Kind::Smaller}};
  models.learn(4, facts, {}, choices);
  // What is false of some numbers, small or large.
  EXPECT_TRUE(models.refute(n - m, {}, {}));
  EXPECT_TRUE(models.refute(Polynomial(most) - m - n, {}, {}));
  EXPECT_TRUE(models.refute(least - m, {}, {}));
  EXPECT_TRUE(models.refute(q * 64 - n, {}, {}));
  // Not what follows, and nothing where a constraint leaves no numbers.
  EXPECT_FALSE(models.refute(m - least, {}, {}));
  EXPECT_FALSE(models.refute(n - q * 64, {}, {}));
  EXPECT_FALSE(models.refute(n - m, {n - m}, {}));
  EXPECT_FALSE(models.refute(n - m, {}, {n - m}));
}

TEST_F(Smaller, learnsMore) {
  Models models;
  llvm::SmallVector<Polynomial> facts{m, n, Polynomial(most) - m,
                                      Polynomial(most) - n};
  models.learn(2, facts, {}, {});
  EXPECT_TRUE(models.refute(Polynomial(5) - n, {}, {}));
  // Numbers that a later fact excludes are chosen anew.
  facts.push_back(Polynomial(5) - n);
  models.learn(2, facts, {}, {});
  EXPECT_FALSE(models.refute(Polynomial(5) - n, {}, {}));
  EXPECT_TRUE(models.refute(Polynomial(4) - n, {}, {}));
  // Facts that leave no numbers refute nothing.
  facts.push_back(n - 6);
  models.learn(2, facts, {}, {});
  EXPECT_FALSE(models.refute(n - m, {}, {}));
}

TEST_F(Smaller, proofsAreAsBefore) {
  EXPECT_TRUE(system.impliesByCases(least, {}));
  EXPECT_FALSE(system.impliesByCases(least - m, {}));
  EXPECT_TRUE(system.impliesByCases(least - m, {n - m}));
  EXPECT_TRUE(system.impliesForIntegers(q * 64 - 1, {n - 64}));
  EXPECT_FALSE(system.impliesForIntegers(q * 64 - 65, {n - 64}));
}

} // namespace
