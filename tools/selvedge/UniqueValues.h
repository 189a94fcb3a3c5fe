// Integers of tensors that are promised to be unique.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_UNIQUEVALUES_H
#define SELVEDGE_TOOLS_SELVEDGE_UNIQUEVALUES_H

#include "selvedge/Result.h"
#include "tools/selvedge/CheckData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::cli {

/// Where `count` integers lie that differ, but for those below 0.
struct UniqueRange {
  /// Both inclusive.
  int64_t lo = 0, hi = 0;
  /// Whether some may lie outside.
  bool mayMiss = false;
};

/// `count` random ones, a part of the range in any order; of those that may
/// lie outside one of eight does, in every second case. None where the range
/// has too few.
std::optional<std::vector<int64_t>>
drawUnique(int64_t count, const UniqueRange &range, RandomSequence &random);

/// The values of `--fill` for a tensor of `count` elements whose integers
/// select one of `things`, or "" for random ones.
std::string makeUnique(SelectionPattern pattern, int64_t count, int64_t things);

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_UNIQUEVALUES_H
