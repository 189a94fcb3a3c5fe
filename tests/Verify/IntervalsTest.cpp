// Constant bounds that single facts give.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Intervals.h"

#include <gtest/gtest.h>

using namespace selvedge::verify;

namespace {

/// m in 0..100, and i in 0..m - 1.
struct Bounds : testing::Test {
  Bounds() {
    for (const Polynomial &fact :
         {m, Polynomial(100) - m, i, m - 1 - i, Polynomial(7) - k * 2})
      intervals.learn(fact);
  }

  Polynomial m = Polynomial::symbol(0), i = Polynomial::symbol(1),
             k = Polynomial::symbol(2);
  Intervals intervals;
};

TEST_F(Bounds, followOneFromAnother) {
  EXPECT_TRUE(intervals.isNonNegative(Polynomial(99) - i));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial(98) - i));
}

TEST_F(Bounds, areWhole) {
  EXPECT_TRUE(intervals.isNonNegative(Polynomial(3) - k));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial(2) - k));
}

TEST_F(Bounds, ofProductsNeedBothSigns) {
  EXPECT_TRUE(intervals.isNonNegative(m * i));
  EXPECT_TRUE(intervals.isNonNegative(Polynomial(9900) - m * i));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial(9899) - m * i));
  // Nothing bounds k from below.
  EXPECT_FALSE(intervals.isNonNegative(m * k));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial(1000) - m * k));
}

TEST_F(Bounds, sayNothingOfWhatIsUnknown) {
  EXPECT_FALSE(intervals.isNonNegative(k));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial::symbol(3) + 1));
  EXPECT_TRUE(intervals.isNonNegative(Polynomial(0)));
  EXPECT_FALSE(intervals.isNonNegative(Polynomial(-1)));
}

} // namespace
