// How far apart two integers can be.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H
#define SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::analysis {

/// What two integers are compared by: minima, maxima, sums with constants,
/// multiples rounded up and choices by one condition, or also by what sums have
/// in common and which numbers are not negative.
enum class By { Limits, Sums };

/// What `high - low` is at most. Narrowing is taken to keep values.
std::optional<int64_t> mostAbove(mlir::Value high, mlir::Value low,
                                 By by = By::Sums);

/// Whether a loop has one step at most.
bool hasOneStep(mlir::scf::ForOp loop, By by = By::Sums);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H
