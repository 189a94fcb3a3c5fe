// Masks that several products of one tile share.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_SHAREDMASKS_H
#define SELVEDGE_COMPILER_SAFETY_SHAREDMASKS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::safety {

/// Whether `operand` has all axes of a predicate.
bool concerns(mlir::Value predicate, mlir::Value operand);

/// Predicates on a contracted axis of `op` that concern `operand`.
llvm::SmallVector<mlir::Value> demandsOn(tile::DotOp op, mlir::Value operand);

/// Later products of `operand` that may share the mask of `op`, which makes it
/// zero where one of `open` is false: what one of them has to make zero and
/// another not does not exist.
llvm::SmallVector<tile::DotOp> sharersOf(tile::DotOp op, mlir::Value operand,
                                         mlir::ValueRange open);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_SHAREDMASKS_H
