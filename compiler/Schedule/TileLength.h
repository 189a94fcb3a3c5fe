// How long the tiles of a kernel take beside each other.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_TILELENGTH_H
#define SELVEDGE_COMPILER_SCHEDULE_TILELENGTH_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// How the steps of a tile depend on its place in the grid: not at all, along
/// the fastest axis, or otherwise.
enum class TileLength { Equal, Grows, Shrinks, Varies };

/// The same for all loops of a kernel of form seq together, whose ranges follow
/// each other. What is read from memory counts as the same for all tiles.
TileLength tileLength(llvm::ArrayRef<mlir::scf::ForOp> loops);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_TILELENGTH_H
