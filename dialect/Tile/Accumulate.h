// Stores that add.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_ACCUMULATE_H
#define SELVEDGE_DIALECT_TILE_ACCUMULATE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace selvedge::tile {

class ProgramOp;

/// On `tile.store` and `sm.store`: each present lane is added to its element,
/// f32 or i32, by one atomic operation. Iterations may meet in one element, and
/// add in any order.
inline constexpr llvm::StringLiteral addsAttribute = "tile.adds";

inline bool addsToMemory(mlir::Operation *store) {
  return store->hasAttr(addsAttribute);
}

/// On `tile.store` and `sm.store` beside the former, by the front end:
/// iterations or stores may meet in one element, so a sum of f32 may round
/// otherwise in each call. Without it who adds to an element is one thread, in
/// the order of the kernel's loops.
inline constexpr llvm::StringLiteral anyOrderAttribute = "tile.any_order";

inline bool addsInAnyOrder(mlir::Operation *store) {
  return store->hasAttr(anyOrderAttribute);
}

inline void setAddsToMemory(mlir::Operation *store, bool anyOrder = false) {
  auto unit = mlir::UnitAttr::get(store->getContext());
  store->setAttr(addsAttribute, unit);
  if (anyOrder)
    store->setAttr(anyOrderAttribute, unit);
}

/// The tensors of a program that may differ by rounding from call to call: what
/// is added to in any order, and what kernels store that load such a temp.
llvm::StringSet<> tensorsOfAnyOrder(ProgramOp program);

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_ACCUMULATE_H
