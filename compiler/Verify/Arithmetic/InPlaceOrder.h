// A load and a store of one tensor in one kernel, of either dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INPLACEORDER_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INPLACEORDER_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace selvedge::verify {

/// Proves that `load` reads the elements that `store` writes, and before that:
/// equal indices, which take other values in each step of every loop around
/// both; the load stands first.
mlir::LogicalResult checkInPlace(mlir::Operation *load, mlir::ValueRange loaded,
                                 mlir::Operation *store,
                                 mlir::ValueRange stored);

/// Whether `value` is computed from `from`, of what stays the same.
bool isMadeOf(mlir::Value value, mlir::Value from);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INPLACEORDER_H
