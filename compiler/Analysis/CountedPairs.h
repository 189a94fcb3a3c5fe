// Which pairs of a kernel's range 32 bits count.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_COUNTEDPAIRS_H
#define SELVEDGE_COMPILER_ANALYSIS_COUNTEDPAIRS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::analysis {

/// Whether 32 bits count what a range of `program` with that extent goes
/// through, wherever the program is launched: a dim, an extent that a tensor
/// has, or one that the program's conditions limit.
bool countsPairs(tile::ProgramOp program, mlir::AffineExpr extent);

/// The same of the kernel's range that `range` is a block of; none where it is
/// a block of none.
std::optional<bool> countsPairs(tile::RangeOp range);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_COUNTEDPAIRS_H
