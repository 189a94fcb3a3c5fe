// Stores of the rows of segments or of equal parts, and of all other rows.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTSTORES_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTSTORES_H

#include "compiler/Verify/Memory/RequiredStores.h"

namespace selvedge::verify {

/// Which rows a store is asked for.
enum class Rows {
  All,
  OfSegments,
  OfNoSegment,
  /// From the first segment to the last one.
  FromFirstToLast,
  OfParts,
  BehindParts
};

/// Rows of `count` parts of `length` each, one behind the other.
struct PartRows {
  std::string tensor;
  unsigned dim;
  mlir::AffineExpr count;
  int64_t length;
};

/// The rows of each segment that a store writes, counted from the first one:
///
///     tile.store %v, %o[%b, ..., %i - %first] where(%i < %end, %b < B, ...)
std::optional<SegmentRows> rowsOfEachSegment(tile::StoreOp store);

/// What a kernel loads of a segment: the row that it begins with, and the one
/// behind it. Null where it does not.
struct SegmentEnds {
  tile::LoadOp first, end;
};
SegmentEnds endsOf(tile::KernelOp kernel, mlir::Value number,
                   const SegmentRows &segments);

/// The promise that a tensor's numbers cut rows into segments; null for none.
tile::RequireAttr promiseOf(tile::KernelOp kernel, const SegmentRows &segments);

/// Of `%x || %broken`, where `%broken` is true in all lanes if the caller has
/// broken the promise that these are segments: `%x`. Null for others.
///
///     ends[0] < 0 || ends[B] > rows ||
///         max(ends[%b] > ends[%b + 1] ? 1 : 0) > 0
mlir::Value unlessBroken(mlir::Value predicate, tile::StoreOp store,
                         const SegmentRows &segments);

/// Whether a predicate of a store says no more than that its row lies in its
/// segment, or in none:
///
///     %i < (%b < B ? ends[%b + 1] : 0), and %b < B beside that
///     %i < ends[0] || %i >= ends[B] || %broken
///     %i >= ends[0] || %broken, or %i < ends[B] || %broken
bool saysRows(mlir::Value predicate, tile::StoreOp store,
              const SegmentRows &segments, Rows rows);

/// Whether a predicate of a store says no more than that its row lies behind
/// the last part:
///
///     %i / length >= count
bool saysBehind(mlir::Value predicate, tile::StoreOp store,
                const PartRows &parts);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SEGMENTSTORES_H
