// What the kernels that check promises do, on the CPU.
// SPDX-License-Identifier: MIT
//
// tests/Sim executes the kernels themselves.
#include "tests/tools/FakePromises.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace selvedge::test {

namespace {

/// The parameters that both kernels have come first.
enum Param {
  data,
  isWide,
  count,
  outer,
  inner,
  walk,
  found,
  lo,
  table = lo,
  hi,
  reads,
  isInside
};

template <typename T>
T param(void **params, Param which) {
  T value;
  std::memcpy(&value, params[which], sizeof(value));
  return value;
}

int64_t elementAt(void **params, int64_t position) {
  const auto *dimensions = param<const int64_t *>(params, walk);
  const auto *address = param<const char *>(params, data);
  for (int d = 0; d < param<int>(params, inner) / 16; ++d) {
    int64_t extent = dimensions[2 * d];
    address += position % extent * dimensions[2 * d + 1];
    position /= extent;
  }
  address += position * param<int64_t>(params, outer);
  return param<int>(params, isWide)
             ? *reinterpret_cast<const int64_t *>(address)
             : *reinterpret_cast<const int32_t *>(address);
}

template <typename Breaks>
void find(void **params, Breaks breaks) {
  auto *result = param<int64_t *>(params, found);
  for (int64_t i = 0; i < param<int64_t>(params, count); ++i)
    if (breaks(i)) {
      ++result[0];
      result[1] = std::min(result[1], i);
    }
}

} // namespace

void runPromises(const std::string &kernel, void **params) {
  if (kernel == "selvedge_outside") {
    bool isOrder = param<int>(params, reads) == 2;
    find(params, [&](int64_t i) {
      int64_t value = elementAt(params, i);
      int64_t low = isOrder ? elementAt(params, std::max<int64_t>(i - 1, 0))
                            : param<int64_t>(params, lo);
      bool isOutside = value < low || value > param<int64_t>(params, hi);
      return isOutside != (param<int>(params, isInside) != 0);
    });
  }
  if (kernel == "selvedge_repeated") {
    // The table is as empty as the kernel needs it.
    if (*param<const int64_t *>(params, table) != -1)
      std::abort();
    std::map<int64_t, int64_t> places;
    find(params, [&](int64_t i) {
      int64_t value = elementAt(params, i);
      return value >= 0 && !places.try_emplace(value, i).second;
    });
  }
}

} // namespace selvedge::test
