// Dense matrix products on packed panels.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/Product.h"

#include <algorithm>
#include <cstring>

namespace selvedge::reference {

namespace {

/// Four doubles; two SSE registers where there is no AVX.
typedef double Double4 __attribute__((vector_size(32)));

} // namespace

Panels::Panels(int64_t lines, int64_t depth)
    : lines(lines), depth(depth), data((lines + 3) / 4 * 4 * depth) {}

void multiplyAccumulate(const Panels &lhs, const Panels &rhs, double *result) {
  int64_t depth = lhs.depth;
  for (int64_t m = 0; m < lhs.lines; m += 4) {
    for (int64_t n = 0; n < rhs.lines; n += 4) {
      const double *a = lhs.data.data() + m * depth;
      const double *b = rhs.data.data() + n * depth;
      Double4 rows[4] = {};
      for (int64_t k = 0; k < depth; ++k) {
        Double4 column;
        std::memcpy(&column, b + 4 * k, sizeof(column));
        for (int r = 0; r < 4; ++r)
          rows[r] += a[4 * k + r] * column;
      }
      int64_t columns = std::min<int64_t>(4, rhs.lines - n);
      for (int64_t r = 0; r < std::min<int64_t>(4, lhs.lines - m); ++r)
        for (int64_t c = 0; c < columns; ++c)
          result[(m + r) * rhs.lines + n + c] += rows[r][c];
    }
  }
}

} // namespace selvedge::reference
