// Which thread holds or moves which element.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_LAYOUTCOVERAGE_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_LAYOUTCOVERAGE_H

#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// The threads of a block of `warps` warps, laid out by `layout`, write every
/// element of `buffer` and none outside; else an error at `op`.
llvm::LogicalResult checkCoverage(mlir::Operation *op, sm::LayoutAttr layout,
                                  sm::BufferType buffer, int64_t warps);

/// The lanes that a reduction combines are each index of its axis, once.
llvm::LogicalResult checkReduction(sm::ReduceOp reduce);

/// Whether `value` is a multiple of `factor`, a power of two, by its
/// definition. Wrapping and narrowing keep it.
bool isMultipleOf(mlir::Value value, int64_t factor);

/// `vector` registers side by side are elements side by side in memory, at an
/// index that is a multiple of `vector`.
llvm::LogicalResult checkVector(mlir::Operation *op, mlir::ValueRange indices,
                                int64_t vector);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_LAYOUTCOVERAGE_H
