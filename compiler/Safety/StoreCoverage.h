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

/// Some rows of a dimension.
struct RowSet {
  enum class Kind {
    NoSegment,     ///< before the first segment or behind the last one
    BehindSegment, ///< of each segment, rows counted from its first one
    Segments,      ///< from the first segment to the last one
    BehindParts    ///< behind the last one of parts of equal length
  };
  Kind kind;
  unsigned dim;
  /// Of segments: the input that says where each begins and ends.
  unsigned ends = 0;
  /// The dimension of their numbers, where each has its own rows.
  unsigned segment = 0;
  /// How many parts there are, and how long they are.
  mlir::AffineExpr parts = {};
  int64_t length = 0;
};

/// Which rows `store` leaves out, if it provably writes all others.
std::optional<RowSet> leftRowsOf(tile::StoreOp store);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
