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
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
        ++attempts;
        return lack(t.sizes[1], 4096, t.samples[0], 70);
      },
      same, 100));
  EXPECT_LT(attempts, 40u);
}

/// How many more steps a loop from `begin` lacks, which begins where `end` says
/// up to 128, and the ways to it.
std::optional<TrialNeed> needOfLoop(const LaunchTrial &t) {
  int64_t begin = std::min<int64_t>(t.samples[0], 128),
          end = std::min(t.samples[0], t.sizes[0]) - 31;
  if (begin < end)
    return TrialNeed(0);
  int64_t by = begin - end + 1;
  // The first sample is number 1, behind one size: fewer do not help.
  return TrialNeed(by, {{{1, -by}}, {{0, by}, {1, by}}});
}

TEST(TrialSearch, changesAllOfAWayAtOnce) {
  LaunchTrial trial = trialOf({64});
  trial.samples = {64, 0};
  std::optional<TrialNeed> need = needOfLoop(trial);
  heedNeed(trial, *need, needOfLoop, 24);
  EXPECT_EQ(need->distance, 0u);
  EXPECT_GT(trial.sizes[0], 159);
  EXPECT_GT(trial.samples[0], 159);
}

TEST(TrialSearch, keepsWhatNoWayBringsNearer) {
  unsigned attempts = 0;
  LaunchTrial trial = trialOf({64});
  TrialNeed need(5, {{{0, 5}}});
  heedNeed(
      trial, need,
      [&](const LaunchTrial &) -> std::optional<TrialNeed> {
        ++attempts;
        return TrialNeed(5, {{{0, 5}}});
      },
      24);
  EXPECT_EQ(need.distance, 5u);
  EXPECT_EQ(trial.sizes[0], 64);
  EXPECT_LE(attempts, 3u);
}

TEST(TrialSearch, goesBackAndTakesTheCallers) {
  EXPECT_TRUE(searchTrials(
      trialOf({900}),
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
        return std::abs(t.sizes[0] - 3) + std::abs(t.callers + 5);
      },
      same, 100));
}

TEST(TrialSearch, leapsOverWhatIsNoNearer) {
  EXPECT_TRUE(searchTrials(
      trialOf({1}),
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
        return t.sizes[0] < 64 ? 5 : 0;
      },
      same, 200));
}

TEST(TrialSearch, keepsToSizesThatAreTaken) {
  bool isLess = false;
  EXPECT_FALSE(searchTrials(
      trialOf({8}),
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
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
      [&](const LaunchTrial &) -> std::optional<TrialNeed> {
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
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
        return t.sizes[0] + (t.hasOptionals && t.sizes[0] < 3 ? 7 : 0);
      },
      same, 100));
  EXPECT_FALSE(searchTrials(
      trialOf({3}),
      [&](const LaunchTrial &t) -> std::optional<TrialNeed> {
        return t.hasOptionals || t.takesOthers ? 2 : 1;
      },
      same, 100));
}

} // namespace
