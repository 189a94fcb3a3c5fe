// Integers that are multiples of others.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_MULTIPLES_H
#define SELVEDGE_COMPILER_ANALYSIS_MULTIPLES_H

#include "mlir/IR/Value.h"

#include <cstdint>

namespace selvedge::analysis {

/// Whether the integer `value` is a multiple of `factor` by its definition.
bool isMultipleOf(mlir::Value value, int64_t factor);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_MULTIPLES_H
