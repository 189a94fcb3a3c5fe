// Versions for one part of what launches divide.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SINGLEPARTS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SINGLEPARTS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::verify {

/// Whether a version of which one kernel stands for two, where a launch makes
/// one part, stores what the program does then (`tile-single-parts`); fails
/// with a diagnostic.
llvm::LogicalResult checkSingleParts(tile::ProgramOp before,
                                     tile::ProgramOp after);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SINGLEPARTS_H
