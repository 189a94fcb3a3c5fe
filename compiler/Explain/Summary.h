// An explanation in numbers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_SUMMARY_H
#define SELVEDGE_COMPILER_EXPLAIN_SUMMARY_H

#include "compiler/Explain/Explanation.h"

#include <optional>

namespace selvedge::explain {

/// The operations of one kernel of the program that safety takes.
struct KernelCounts {
  std::string kernel;
  int64_t loads = 0;
  /// Loads whose absent lanes hold 0.
  int64_t fills = 0;
  int64_t masks = 0, guards = 0, stores = 0, inits = 0;
};

/// Instructions of one thread, of a compiled kernel, that a kernel without
/// safety would not execute; nothing where there is no such step.
struct KernelCost {
  std::string variant, kernel;
  /// Per step of loops that are split into whole and partial steps, and of
  /// those that are not; of the costliest loop.
  std::optional<int64_t> whole, partial, step;
  /// Outside of loops. An operation that the program has twice, in places of
  /// which a tile passes one, is counted once.
  int64_t perTile = 0;
};

/// What the page says first.
struct Summary {
  std::vector<KernelCounts> kernels;
  /// Conditions of operations that the program has.
  int64_t tested = 0, partialOnly = 0, proved = 0, untested = 0;
  /// Operations that it no longer has.
  int64_t operationsProved = 0, operationsMerged = 0, operationsUnused = 0;
  std::vector<KernelCost> costs;
};

Summary summarise(const Explanation &explanation);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_SUMMARY_H
