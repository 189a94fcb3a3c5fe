// Stores that add.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_ACCUMULATE_H
#define SELVEDGE_DIALECT_TILE_ACCUMULATE_H

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

/// On `tile.store` and `sm.store`: each present lane is added to its element,
/// f32 or i32, by one atomic operation. Iterations may meet in one element, and
/// add in any order.
inline constexpr llvm::StringLiteral addsAttribute = "tile.adds";

inline bool addsToMemory(mlir::Operation *store) {
  return store->hasAttr(addsAttribute);
}

inline void setAddsToMemory(mlir::Operation *store) {
  store->setAttr(addsAttribute, mlir::UnitAttr::get(store->getContext()));
}

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_ACCUMULATE_H
