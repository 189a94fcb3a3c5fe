// Kernels that load what they store, or add to what is there.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_INPLACEUSES_H
#define SELVEDGE_COMPILER_VERIFY_TILE_INPLACEUSES_H

#include "dialect/Tile/Tile.h"

namespace selvedge::verify {

/// Proves of each kernel that stores and loads one tensor that it loads the
/// elements that it stores, before it stores them; and that nobody loads or
/// stores what the same kernel adds to, as its iterations run in any order.
mlir::LogicalResult checkInPlaceUses(tile::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_INPLACEUSES_H
