// Registers that kernels with roles have beside sums of products.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SUMREGISTERS_H
#define SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SUMREGISTERS_H

#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

/// Whether the elements of a vector that a lane computes with find registers
/// beside the sums of two products in flight: 16 do (gradients of heads of
/// 128), 32 spill (heads of 64 and steps of 128 rows, a sixth of the time of a
/// step).
inline bool fitsBesideSums(mlir::Type vector) {
  constexpr int64_t mostRegisters = 16;
  return sm::layoutOf(vector).getNumRegs() <= mostRegisters;
}

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_SUMREGISTERS_H
