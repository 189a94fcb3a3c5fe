// Sizes are found step by step that reach what usual ones do not.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/TrialSearch.h"

#include <gtest/gtest.h>

using namespace selvedge::verify;

namespace {

uint64_t same(uint64_t distance) { return distance; }

LaunchTrial trialOf(std::initializer_list<int64_t> sizes) {
  LaunchTrial trial;
  trial.sizes = sizes;
  trial.samples = {0, 0};
  return trial;
}

/// How much two numbers lack to be as large as `first` and `second`.
uint64_t lack(int64_t a, int64_t first, int64_t b, int64_t second) {
  return std::max<int64_t>(0, first - a) + std::max<int64_t>(0, second - b);
}

TEST(TrialSearch, changesOneNumberAfterTheOther) {
  unsigned attempts = 0;
  EXPECT_TRUE(searchTrials(
      trialOf({1, 1}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        ++attempts;
        return lack(t.sizes[1], 4096, t.samples[0], 70);
      },
      same, 100));
  EXPECT_LT(attempts, 40u);
}

TEST(TrialSearch, goesBackAndTakesTheCallers) {
  EXPECT_TRUE(searchTrials(
      trialOf({900}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        return std::abs(t.sizes[0] - 3) + std::abs(t.callers + 5);
      },
      same, 100));
}

TEST(TrialSearch, leapsOverWhatIsNoNearer) {
  EXPECT_TRUE(searchTrials(
      trialOf({1}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        return t.sizes[0] < 64 ? 5 : 0;
      },
      same, 200));
}

TEST(TrialSearch, keepsToSizesThatAreTaken) {
  bool isLess = false;
  EXPECT_FALSE(searchTrials(
      trialOf({8}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        isLess |= t.sizes[0] < 0;
        if (t.sizes[0] % 2 != 0)
          return std::nullopt;
        return 1 + t.sizes[0];
      },
      same, 100));
  EXPECT_FALSE(isLess);
}

TEST(TrialSearch, ends) {
  unsigned attempts = 0;
  EXPECT_FALSE(searchTrials(
      trialOf({1, 1, 1}),
      [&](const LaunchTrial &) -> std::optional<uint64_t> {
        ++attempts;
        return 1;
      },
      same, 50));
  // With and without optional tensors.
  EXPECT_LE(attempts, 102u);
}

TEST(TrialSearch, leavesOptionalTensorsOut) {
  // What lacks a length that is not passed, where there is no element of it.
  EXPECT_TRUE(searchTrials(
      trialOf({3}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        return t.sizes[0] + (t.hasOptionals && t.sizes[0] < 3 ? 7 : 0);
      },
      same, 100));
  EXPECT_FALSE(searchTrials(
      trialOf({3}),
      [&](const LaunchTrial &t) -> std::optional<uint64_t> {
        return t.hasOptionals || t.takesOthers ? 2 : 1;
      },
      same, 100));
}

} // namespace
