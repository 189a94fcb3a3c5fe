// Variables that loops carry and nobody reads.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_UNREADVARIABLES_H
#define SELVEDGE_COMPILER_FRONTEND_UNREADVARIABLES_H

#include "dialect/Tile/Tile.h"

namespace selvedge::frontend {

/// Removes what loops carry for nothing that is stored: later passes drop it in
/// some kernels and keep it in others. What was computed for that is dead.
void eraseUnreadVariables(tile::KernelOp kernel);

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_UNREADVARIABLES_H
