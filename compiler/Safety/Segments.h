// Rows of segments, as kernels index them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_SEGMENTS_H
#define SELVEDGE_COMPILER_SAFETY_SEGMENTS_H

#include "dialect/Tile/Tile.h"

#include <optional>

namespace selvedge::safety {

/// The scalar that a splat repeats; other values are themselves.
mlir::Value withoutSplat(mlir::Value value);

/// A kernel's range over the tiles of all segments.
struct SegmentTiles {
  mlir::Value coord;
  /// The dim that counts the segments.
  unsigned count;
  /// The input that says where each begins and ends.
  unsigned ends;
};

/// The range of `axis` over tiles of segments that are promised to lie in
/// 0..rows; none for other axes, and where several inputs cut these rows.
std::optional<SegmentTiles> segmentTilesOf(tile::KernelOp kernel,
                                           mlir::StringAttr axis,
                                           mlir::AffineExpr rows);

/// What a predicate says of a row's segment: the row lies before its end.
///
///     %row < (%number < B ? ends[%number + 1] : 0)
struct SegmentBound {
  mlir::Value row, number;
  /// `%number < B`.
  mlir::Value exists;
  unsigned ends;
};
std::optional<SegmentBound> segmentBoundOf(tile::KernelOp kernel,
                                           mlir::Value predicate);

/// Whether `value` is the first row of that segment, perhaps kept in the tensor
/// by a minimum and a maximum:
///
///     %number < B ? ends[%number] : 0
bool isFirstRow(tile::KernelOp kernel, mlir::Value value,
                const SegmentBound &segment);

/// Rows of a dimension that segments have.
struct SegmentRows {
  unsigned dim, ends;
};

/// The dimension of `tensor` in which whatever kernels load, store or add to
/// lies in a segment; none where something may not.
std::optional<SegmentRows> segmentRowsUsed(tile::ProgramOp program,
                                           tile::TensorArgAttr tensor);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_SEGMENTS_H
