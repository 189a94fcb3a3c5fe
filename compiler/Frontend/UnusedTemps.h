// Temps that no kernel of an op uses.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_UNUSEDTEMPS_H
#define SELVEDGE_COMPILER_FRONTEND_UNUSEDTEMPS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::frontend {

/// Removes temps that no kernel uses, as where parameters leave out all kernels
/// that would: a launch neither has memory for them nor initialises it.
void eraseUnusedTemps(tile::ProgramOp program);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_UNUSEDTEMPS_H
