// Which samples the first path of a trial takes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/Skeleton.h"

#include <gtest/gtest.h>

namespace selvedge::verify {

using Choice = SampleOrder::Choice;

static SampleOrder orderOf(llvm::ArrayRef<int64_t> values,
                           bool alternates = false,
                           std::optional<int64_t> callers = {},
                           bool flags = true) {
  return {values, alternates, callers, flags};
}

TEST(SampleOrder, BeginsWithWhatAnotherTook) {
  int64_t one[] = {7, 0, 5}, turned[] = {0, 5, 7}, ending[] = {7, 5, 0};
  SampleOrder order = orderOf(one);
  // Nothing was taken: samples make no difference.
  EXPECT_TRUE(orderOf(turned).beginsWith({}));
  Choice loaded{false, true, order.take(0, false, true)};
  EXPECT_EQ(loaded.value, 7);
  EXPECT_TRUE(orderOf(ending).beginsWith(loaded));
  EXPECT_FALSE(orderOf(turned).beginsWith(loaded));
}

TEST(SampleOrder, LaterLoadsCount) {
  int64_t one[] = {7, 0, 5}, ending[] = {7, 5, 0};
  SampleOrder order = orderOf(one, /*alternates=*/true);
  Choice first{false, true, order.take(0, false, true)},
      second{false, true, order.take(0, false, true)};
  EXPECT_EQ(second.value, 0);
  EXPECT_TRUE((orderOf(one, true).beginsWith({first, second})));
  EXPECT_FALSE((orderOf(ending, true).beginsWith({first, second})));
  EXPECT_FALSE((orderOf(one, false).beginsWith({first, second})));
}

TEST(SampleOrder, CallersAndFlagsCount) {
  int64_t values[] = {7, 0, 5};
  SampleOrder order = orderOf(values, false, /*callers=*/5, /*flags=*/false);
  Choice caller{false, false, order.take(0, false, false)},
      flag{true, false, order.take(0, true, false)};
  EXPECT_EQ(caller.value, 5);
  EXPECT_EQ(flag.value, 0);
  EXPECT_FALSE((orderOf(values, false, 7, false).beginsWith(caller)));
  EXPECT_FALSE((orderOf(values, false, 5, true).beginsWith(flag)));
}

} // namespace selvedge::verify
