// Integer tiles as linear forms.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LINEARINDEX_H
#define SELVEDGE_COMPILER_SCHEDULE_LINEARINDEX_H

#include "dialect/Tile/Tile.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace selvedge::schedule {

/// constant + sum of coefficient * scalar + sum of coefficient * lane, where a
/// lane counts from 0 along its axis.
struct LinearIndex {
  int64_t constant = 0;
  llvm::MapVector<mlir::Value, int64_t> scalars;
  llvm::MapVector<mlir::StringAttr, int64_t> axes;

  /// Coefficient of a scalar; 0 for others.
  int64_t coefficientOf(mlir::Value scalar) const {
    return scalars.lookup(scalar);
  }
  /// this += factor * other.
  void add(const LinearIndex &other, int64_t factor);
};

/// The form of an i32 scalar or tile; none for other expressions.
std::optional<LinearIndex> linearIndex(mlir::Value v);

/// A compare as `form <= 0`; none where it is no order of linear forms.
std::optional<LinearIndex> linearCompare(mlir::Value predicate);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LINEARINDEX_H
