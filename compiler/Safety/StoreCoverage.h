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

/// Rows of a dimension that a store leaves out: those of no segment, or those
/// behind the last one of parts of equal length.
struct LeftRows {
  unsigned dim;
  /// The input that says where each segment begins and ends.
  std::optional<unsigned> ends;
  /// How many parts there are, and how long they are.
  mlir::AffineExpr parts;
  int64_t length = 0;
};

/// Which rows `store` leaves out, if it provably writes all others.
std::optional<LeftRows> leftRowsOf(tile::StoreOp store);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_STORECOVERAGE_H
