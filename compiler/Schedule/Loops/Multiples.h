// Integers that are multiples of others.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_MULTIPLES_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_MULTIPLES_H

#include "mlir/IR/Value.h"

#include <cstdint>

namespace selvedge::schedule {

/// Whether the integer `value` is a multiple of `factor` by its definition.
bool isMultipleOf(mlir::Value value, int64_t factor);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_MULTIPLES_H
