// How long the tiles of a kernel take beside each other.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_TILELENGTH_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_TILELENGTH_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// How the steps of a tile depend on its place in the grid: not at all, along
/// the fastest axis, or otherwise. Those of segments may grow or shrink along
/// the axis in each of them; those of pairs grow along the slowest axis, that
/// of the pairs.
enum class TileLength {
  Equal,
  Grows,
  Shrinks,
  Varies,
  GrowsInSegments,
  ShrinksInSegments,
  GrowsAcross
};

/// The same for all loops of a kernel of form seq together, whose ranges follow
/// each other. What is read from memory counts as the same for all tiles, of a
/// segment where it is read or searched at the place along the fastest axis.
TileLength tileLength(llvm::ArrayRef<mlir::scf::ForOp> loops);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_TILELENGTH_H
