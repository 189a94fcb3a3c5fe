// How far apart two integers can be.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H
#define SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::analysis {

/// What `high - low` is at most, by what the two are made of: minima, maxima,
/// sums with constants, multiples rounded up, choices by one condition.
/// Narrowing is taken to keep values.
std::optional<int64_t> mostAbove(mlir::Value high, mlir::Value low);

/// Whether that is at most `most`.
bool isAtMostAbove(mlir::Value high, mlir::Value low, int64_t most);

/// Whether a loop has one step at most.
bool hasOneStep(mlir::scf::ForOp loop);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_DISTANCE_H
