// Whether a store writes every element of its tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
#define SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H

#include "dialect/Tile/Tile.h"

#include <optional>
#include <string>

namespace selvedge::safety {

/// Why `store` does not provably write every element of its tensor, or nothing
/// if it does.
std::optional<std::string> coverageGap(tile::StoreOp store);

/// A dimension whose rows are those of segments, and the input that says where
/// each of them begins and ends.
struct SegmentRows {
  unsigned dim, ends;
};

/// Which rows `store` leaves out, if it provably writes all others: those
/// before the first segment and behind the last one.
std::optional<SegmentRows> segmentRowsOf(tile::StoreOp store);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
