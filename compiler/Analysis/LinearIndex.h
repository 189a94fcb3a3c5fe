// Integer tiles as linear forms.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_LINEARINDEX_H
#define SELVEDGE_COMPILER_ANALYSIS_LINEARINDEX_H

#include "dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace selvedge::analysis {

/// The value behind operations that only repeat it.
mlir::Value source(mlir::Value v);

/// constant + sum of coefficient * term, as integers that never wrap. A term
/// is an i32 scalar, a `tile.range` or a quotient of one (rangeQuotient()).
struct LinearSum {
  int64_t constant = 0;
  llvm::MapVector<mlir::Value, int64_t> terms;

  /// this += factor * other.
  void add(const LinearSum &other, int64_t factor);
};

/// The sum that an i32 scalar or tile stands for; none for other expressions.
std::optional<LinearSum> linearSum(mlir::Value v);

/// A range divided, rounding down, by a scalar that is at least 1.
struct RangeQuotient {
  tile::RangeOp range;
  mlir::Value divisor;
};

/// What an integer tile is; none if it is no such quotient.
std::optional<RangeQuotient> rangeQuotient(mlir::Value v);

/// constant + sum of coefficient * scalar + sum of coefficient * lane + sum of
/// coefficient * quotient, where a lane counts from 0 along its axis.
struct LinearIndex {
  int64_t constant = 0;
  llvm::MapVector<mlir::Value, int64_t> scalars;
  llvm::MapVector<mlir::StringAttr, int64_t> axes;
  llvm::SmallVector<std::pair<RangeQuotient, int64_t>, 0> quotients{};

  /// Coefficient of a scalar; 0 for others.
  int64_t coefficientOf(mlir::Value scalar) const {
    return scalars.lookup(scalar);
  }
};

/// A compare as `form <= 0`; none where it is no order of linear forms, or
/// where a sum in it may wrap.
std::optional<LinearIndex> linearCompare(mlir::Value predicate);

/// A compare as `index - minus predicate rest`. Both are ranges, or of a scalar
/// compare coordinates of the kernel, loop indices or what was cut to such
/// numbers: from 0 to 2^31 - 3, so
/// that their difference does not wrap. `minus` may be null.
struct LaneCompare {
  mlir::Value index, minus;
  mlir::arith::CmpIPredicate predicate;
  LinearSum rest;
};

/// The compare of `index`es with the sum of everything else; none where it is
/// no signed compare of such sums.
std::optional<LaneCompare> laneCompare(mlir::arith::CmpIOp compare);

/// Whether no sum in the operands of an i32 compare may wrap: they are single
/// values, or the difference of two ranges.
bool isExact(mlir::arith::CmpIOp compare);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_LINEARINDEX_H
