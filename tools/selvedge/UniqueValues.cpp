// Integers of tensors that are promised to be unique.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/UniqueValues.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace selvedge::cli {

std::optional<std::vector<int64_t>>
drawUnique(int64_t count, const UniqueRange &range, RandomSequence &random) {
  int64_t first = std::max<int64_t>(range.lo, 0);
  int64_t there = std::max<int64_t>(range.hi - first + 1, 0);
  bool hasNegative = range.lo < 0 || range.mayMiss;
  if (there < count && !hasNegative)
    return std::nullopt;
  // What outside is: nothing of that number, the first that there is not.
  auto outside = [&](int64_t i) {
    constexpr int64_t negative[] = {-1, std::numeric_limits<int32_t>::min()};
    int64_t beyond = range.hi + 1 + i;
    if (!range.mayMiss)
      return std::max<int64_t>(range.lo, -1);
    return i % 3 == 2 && beyond <= std::numeric_limits<int32_t>::max()
               ? beyond
               : negative[i % 2];
  };
  bool misses = range.mayMiss && random.uniform(0, 1) == 1;
  // The numbers of the range, shuffled: those that are not where they were.
  std::unordered_map<int64_t, int64_t> moved;
  auto numberAt = [&](int64_t place) {
    auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    if (i >= there || (misses && random.uniform(0, 7) == 0)) {
      values.push_back(outside(i));
      continue;
    }
    int64_t from = random.uniform(i, there - 1), number = numberAt(from);
    moved[from] = numberAt(i);
    values.push_back(first + number);
  }
  return values;
}

std::string makeUnique(SelectionPattern pattern, int64_t count,
                       int64_t things) {
  // What is longer than any command line is left to chance.
  constexpr int64_t most = 512;
  if (pattern == SelectionPattern::None)
    return fmt::format("-1,{}", std::numeric_limits<int32_t>::min());
  if (pattern != SelectionPattern::Equal || count > most)
    return "";
  // The last ones, backwards: both ends, if there are as many.
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.rbegin(), values.rend(),
            std::max<int64_t>(0, things - count));
  return fmt::format("{}", fmt::join(values, ","));
}

} // namespace selvedge::cli
