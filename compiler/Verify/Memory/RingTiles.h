// What tells the tiles of a ring of shared memory apart.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_RINGTILES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_RINGTILES_H

#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// A ring, and the axes of the rows and columns of some of its tiles: those of
/// several tensors may take turns, and have axes of their own.
using RingTiles =
    std::pair<mlir::Value, std::pair<mlir::StringAttr, mlir::StringAttr>>;

inline RingTiles tilesOf(mlir::Value ring, mlir::Type tile) {
  auto type = llvm::cast<sm::BufferType>(tile);
  return {ring, {type.getRowAxis(), type.getColAxis()}};
}

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_RINGTILES_H
