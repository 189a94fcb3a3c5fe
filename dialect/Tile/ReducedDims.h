// Dims of gradients that a caller may sum over.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_REDUCEDDIMS_H
#define SELVEDGE_DIALECT_TILE_REDUCEDDIMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace selvedge::tile {

/// A dim that is the extent of an input's dimension, or 1 where the sum along
/// that dimension is asked for.
struct ReducedDim {
  mlir::StringAttr name;
  mlir::StringAttr tensor;
  int64_t dimension = 0;
};

/// Of a program, and of its plan: `tile.reduced = [{name = "d_bias_0", tensor =
/// "bias", dimension = 0}]`. It tells the runtime, which gives such a dim its
/// value where the caller does not.
inline constexpr llvm::StringLiteral reducedAttribute = "tile.reduced";

/// Sets the attribute; without dims there is none.
void setReducedDims(mlir::Operation *programOrPlan,
                    llvm::ArrayRef<ReducedDim> dims);
llvm::SmallVector<ReducedDim> getReducedDims(mlir::Operation *programOrPlan);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_REDUCEDDIMS_H
