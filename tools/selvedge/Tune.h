// Measuring the plans of an op.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_TUNE_H
#define SELVEDGE_TOOLS_SELVEDGE_TUNE_H

#include "tools/selvedge/BenchTiming.h"

namespace selvedge::cli {

/// A candidate and what became of it.
struct Tried {
  PlanCandidate candidate;
  Timing timing;
  /// Why it was not measured; empty where it was.
  std::string dropped;
};

/// What tuning found.
struct Tuning {
  std::vector<Tried> tried;
  /// Position of the fastest.
  size_t winner = 0;
  /// The file that says so.
  std::string stored;
};

/// Compiles and measures up to `top` candidates, best first by the model, shows
/// progress on standard error and stores the winner. A candidate is dropped
/// where it cannot be compiled or launched, or, but for what would be used
/// without tuning, where ptxas spills a kernel that would be launched; Failed
/// where all are.
Result<Tuning> tune(const Problem &problem, const Device &device, size_t top);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_TUNE_H
