// Integer tensors whose elements are promised to differ.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_UNIQUETENSORS_H
#define SELVEDGE_DIALECT_TILE_UNIQUETENSORS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace selvedge::tile {

/// Of a program, and of its plan: the i32 inputs of which the caller promises
/// that no two elements are equal, but for those below 0:
/// `tile.unique = ["slot"]`. Results rely on it, memory safety does not.
inline constexpr llvm::StringLiteral uniqueAttribute = "tile.unique";

/// Sets the attribute; without names there is none.
void setUniqueTensors(mlir::Operation *programOrPlan,
                      llvm::ArrayRef<mlir::StringAttr> names);
llvm::SmallVector<mlir::StringAttr>
getUniqueTensors(mlir::Operation *programOrPlan);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_UNIQUETENSORS_H
