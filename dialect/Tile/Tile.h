// The tile dialect's C++ interface.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_TILE_H
#define SELVEDGE_DIALECT_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"

#include "dialect/Tile/TileDialect.h.inc"

#include "dialect/Tile/TileInterfaces.h.inc"

namespace selvedge::tile {

/// True for a ranked tensor that carries #tile.axes, one name per dimension.
bool isTile(mlir::Type type);

/// Bytes of an element in memory; a bool takes one.
int64_t bytesOf(mlir::Type element);

/// The language's name of an element type: "f32", "u8", "e4m3"; empty for what
/// the language does not have.
llvm::StringRef nameOf(mlir::Type element);

/// Whether a type is one of the floats of 8 bits, which only memory holds.
bool isByteFloat(mlir::Type element);

/// The type of a tensor's elements inside kernels: bytes have no sign there,
/// the operations that widen them do.
mlir::Type signlessOf(mlir::Type element);

/// The predicates of `presence` that are tested: those whose position is not in
/// `garbage`.
llvm::SmallVector<mlir::Value> testedOf(mlir::ValueRange presence,
                                        llvm::ArrayRef<int64_t> garbage);

/// Refuses positions in `garbage` that `presence` does not have.
llvm::LogicalResult checkGarbage(mlir::Operation *op, mlir::ValueRange presence,
                                 llvm::ArrayRef<int64_t> garbage);

/// Axes of a value's type; empty for scalars.
llvm::ArrayRef<mlir::StringAttr> axesOf(mlir::Type type);

/// Tile of `elementType` with the given axes and sizes; the plain element type
/// when there are no axes.
mlir::Type tileType(mlir::Type elementType,
                    llvm::ArrayRef<mlir::StringAttr> axes,
                    llvm::ArrayRef<int64_t> sizes);

/// The same axes and sizes with another element type; scalars map to scalars.
mlir::Type withElementType(mlir::Type type, mlir::Type elementType);

/// `value` repeated to the axes of `shape` (a tile type, or a scalar type for
/// none); keeps the element type. The axes of `value` must be among them.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, mlir::Type shape);

} // namespace selvedge::tile

#define GET_OP_CLASSES
#include "dialect/Tile/TileComputeOps.h.inc" // all ops: the file includes TileOps.td

#endif // SELVEDGE_DIALECT_TILE_TILE_H
