// The operands of one product of a warp.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_TENSORCORE_H
#define SELVEDGE_COMPILER_SIM_TENSORCORE_H

#include "compiler/Sim/HalfFloat.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvedge::sim {

/// 16 rows times 16, and 16 times a number of columns. `open` are elements that
/// are not defined; unused unless `isOpen`.
struct Fragments {
  float a[16][16];
  std::vector<float> b, sums;
  uint8_t openA[16][16];
  std::vector<uint8_t> openB, openSums;
  bool isOpen = false;

  /// Makes room for a number of columns.
  void resize(uint32_t columns) {
    b.resize(size_t(16) * columns);
    sums.resize(size_t(16) * columns);
    openB.resize(size_t(16) * columns);
    openSums.resize(size_t(16) * columns);
  }
  /// Adds the product to the sums, in f32 and ascending order.
  void multiply(uint32_t columns);
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_TENSORCORE_H
