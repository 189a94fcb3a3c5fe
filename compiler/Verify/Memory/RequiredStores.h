// What a program stores of outputs that are initialised before.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_REQUIREDSTORES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_REQUIREDSTORES_H

#include "dialect/Tile/Tile.h"

#include <optional>
#include <string>
#include <vector>

namespace selvedge::verify {

/// Rows of all segments that a program stores, whatever data say. Whoever
/// initialises the output before hides a row that nobody stores.
struct SegmentRows {
  std::string tensor;
  unsigned dim;
  /// The tensor of the segments' ends.
  std::string ends;
  /// The dimension of the segments' numbers, if rows are counted from the first
  /// one of their segment.
  std::optional<unsigned> segment = {};
};

/// Those of a store whose presence says no more than where a range ends, by
/// the dimension that they may be.
///
///     tile.store %v, %o[%i, ...] where(%i < %end, %i < %Q)
std::vector<SegmentRows> segmentRowsOf(tile::StoreOp store);

/// Those of a kernel: of stores outside of loops and branches, each the only
/// one of its output.
std::vector<SegmentRows> segmentRowsOf(tile::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_REQUIREDSTORES_H
