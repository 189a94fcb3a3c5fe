// Dense matrix products on packed panels.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_PRODUCT_H
#define SELVEDGE_COMPILER_REFERENCE_PRODUCT_H

#include <cstdint>
#include <vector>

namespace selvedge::reference {

/// Rows (of a left operand) or columns (of a right one) in panels of 4, padded
/// with zeros: element (line, k) stands at [line / 4][k][line % 4], so that the
/// product reads both operands contiguously.
struct Panels {
  int64_t lines = 0;
  int64_t depth = 0;
  std::vector<double> data;

  Panels(int64_t lines, int64_t depth);
  double &at(int64_t line, int64_t k) {
    return data[(line / 4 * depth + k) * 4 + line % 4];
  }
};

/// result[m * rhs.lines + n] += sum over k of lhs(m, k) * rhs(n, k).
void multiplyAccumulate(const Panels &lhs, const Panels &rhs, double *result);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_PRODUCT_H
