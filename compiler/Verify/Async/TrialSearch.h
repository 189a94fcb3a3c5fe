// Looks for sizes that reach code which no usual ones do.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H

#include "compiler/Verify/Async/LaunchTrials.h"

namespace selvedge::verify {

/// A number of a trial that should be more, or less: one of its sizes, then of
/// its samples, at last that of the caller.
struct TrialChange {
  size_t number;
  int64_t by;
};

/// How far an execution was from what is looked for, 0 where it was reached,
/// and what would bring it nearer: all changes of one of some ways.
struct TrialNeed {
  using Ways = std::vector<std::vector<TrialChange>>;

  TrialNeed(uint64_t distance, Ways ways = {})
      : distance(distance), ways(std::move(ways)) {}

  uint64_t distance;
  Ways ways;
};

/// None where the sizes are not to be taken at all.
using TrialDistance =
    llvm::function_ref<std::optional<TrialNeed>(const LaunchTrial &)>;

/// Changes a trial in a way of its need as long as the distance gets less,
/// within `attempts`: few where several numbers have to change at once.
void heedNeed(LaunchTrial &trial, TrialNeed &need, TrialDistance distanceOf,
              unsigned attempts);

/// Changes numbers of a trial, dims, integers in memory and those of the
/// caller, as long as the distance gets less: all of a way of its need, or else
/// one after the other, by what it lacks, by one, and by twice as much as
/// before, or where none of that helps by more (the alternating variable method
/// of search-based testing; Korel, "Automated software test data generation",
/// 1990). `lackOf` is the part of a distance that a number may make up for.
/// Returns whether the distance became 0 within `attempts`.
bool searchTrials(LaunchTrial trial, TrialDistance distanceOf,
                  llvm::function_ref<uint64_t(uint64_t)> lackOf,
                  unsigned attempts);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H
