// Arithmetic of tiles as hardware rounds it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_ARITHMETIC_H
#define SELVEDGE_COMPILER_PHYSICAL_ARITHMETIC_H

#include "compiler/Reference/TileValue.h"

namespace selvedge::physical {

/// An `arith` or `math` operation, each lane rounded to the result's type; null
/// for an unknown one.
reference::TileRef evaluateElementwise(mlir::Operation *op,
                                       llvm::ArrayRef<reference::TileRef> tiles,
                                       const reference::TileShape &shape);

/// Narrows with the rounding and overflow of `tile.convert`.
reference::TileRef convert(const reference::TileRef &source,
                           mlir::Type elementType, tile::Overflow overflow);

/// init + sum over the axes `over` of lhs * rhs, in f32 and ascending order;
/// all lanes contribute.
reference::TileRef contract(const reference::TileRef &lhs,
                            const reference::TileRef &rhs,
                            const reference::TileRef &init,
                            llvm::ArrayRef<mlir::StringAttr> over,
                            const reference::TileShape &shape);

/// Combines all lanes along `over`.
reference::TileRef reduce(tile::Combine kind, const reference::TileRef &source,
                          llvm::ArrayRef<mlir::StringAttr> over,
                          const reference::TileShape &shape,
                          mlir::Type elementType);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_ARITHMETIC_H
