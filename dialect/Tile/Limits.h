// Limits of sizes that all parts of the compiler rely on.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_TILE_LIMITS_H
#define SELVEDGE_DIALECT_TILE_LIMITS_H

#include <cstdint>

namespace selvedge::tile {

/// Largest size of an axis in a block.
inline constexpr int64_t maxBlock = 16384;

/// Largest dim or extent (docs/manifest.md): indices of a block that starts
/// below it do not wrap.
inline constexpr int64_t maxExtent = (int64_t(1) << 31) - 1 - maxBlock;

} // namespace selvedge::tile

#endif // SELVEDGE_DIALECT_TILE_LIMITS_H
