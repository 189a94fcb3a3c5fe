// Uses of a tensor that lie in segments of its rows.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTUSES_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTUSES_H

#include "compiler/Verify/Memory/RequiredStores.h"

namespace selvedge::verify {

/// Proves that whatever kernels other than `init` load, store or add to lies
/// between two ends of segments, so that it is no row before the first segment,
/// or behind the last one:
///
///     tile.load %sums[%i] where(%i < (%b < B ? ends[%b + 1] : 0))
///     // %i = %from + lane, %from >= ends[%b]
bool areUsesInSegments(tile::ProgramOp program, const SegmentRows &rows,
                       tile::KernelOp init);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTUSES_H
