// Looks for sizes that reach code which no usual ones do.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H

#include "compiler/Verify/Async/LaunchTrials.h"

namespace selvedge::verify {

/// How far an execution was from what is looked for: 0 where it was reached,
/// none where the sizes are not to be taken at all.
using TrialDistance =
    llvm::function_ref<std::optional<uint64_t>(const LaunchTrial &)>;

/// Changes one number of a trial after the other, dims, integers in memory and
/// those of the caller, as long as the distance gets less: by what it lacks,
/// by one, and by twice as much as before, or where none of that helps by more
/// (the alternating variable method of
/// search-based testing; Korel, "Automated software test data generation",
/// 1990). `lackOf` is the part of a distance that a number may make up for.
/// Returns whether the distance became 0 within `attempts`.
bool searchTrials(LaunchTrial trial, TrialDistance distanceOf,
                  llvm::function_ref<uint64_t(uint64_t)> lackOf,
                  unsigned attempts);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALSEARCH_H
