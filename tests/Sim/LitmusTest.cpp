// Each wait, fence and barrier of a small kernel is needed on device `sim`.
// SPDX-License-Identifier: MIT
#include "Litmus.h"

#include <gtest/gtest.h>

namespace selvedge::testing {
namespace {

/// The extremes, and some at random.
constexpr uint64_t numSchedules = 8;

class LitmusTest : public ::testing::TestWithParam<const char *> {
protected:
  Litmus litmus =
      Litmus::read(std::string(SELVEDGE_INPUTS "/") + GetParam() + ".mlir");
};

TEST_P(LitmusTest, IsRightInEveryOrder) {
  ASSERT_NE(litmus.threads, 0U);
  for (uint64_t schedule = 0; schedule < numSchedules; ++schedule)
    EXPECT_EQ(execute(litmus, litmus.text, schedule), "")
        << "schedule " << schedule;
}

TEST_P(LitmusTest, IsWrongWithoutAnyGuard) {
  ASSERT_FALSE(litmus.mutants.empty());
  for (const Litmus::Mutant &mutant : litmus.mutants) {
    std::string text = litmus.apply(mutant);
    std::string fault;
    for (uint64_t schedule = 0; schedule < numSchedules && fault.empty();
         ++schedule)
      fault = execute(litmus, text, schedule);
    EXPECT_FALSE(fault.empty() || fault.rfind("does not load", 0) == 0)
        << "line " << mutant.line + 1 << " as '" << mutant.text
        << "': " << (fault.empty() ? "nothing is wrong" : fault);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, LitmusTest,
                         ::testing::Values("barrier", "warp-sync", "copies",
                                           "mailbox", "bulk", "reads",
                                           "products", "named-barriers",
                                           "registers"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
} // namespace selvedge::testing
