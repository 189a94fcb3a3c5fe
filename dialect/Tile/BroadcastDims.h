// Dimensions of inputs that a caller may broadcast.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_BROADCASTDIMS_H
#define SELVEDGE_DIALECT_TILE_BROADCASTDIMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace selvedge::tile {

/// The dimensions of an input that may have the extent 1 instead of their own:
/// one element then stands for all.
struct BroadcastDims {
  mlir::StringAttr tensor;
  llvm::SmallVector<int64_t> dims;
};

/// Of a program, and of its plan: `tile.broadcast = {bias = [0, 1]}`. It tells
/// the runtime, which gives such a dimension the stride 0; kernels see whole
/// shapes.
inline constexpr llvm::StringLiteral broadcastAttribute = "tile.broadcast";

/// Sets the attribute; without inputs there is none.
void setBroadcastDims(mlir::Operation *programOrPlan,
                      llvm::ArrayRef<BroadcastDims> inputs);
llvm::SmallVector<BroadcastDims>
getBroadcastDims(mlir::Operation *programOrPlan);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_BROADCASTDIMS_H
