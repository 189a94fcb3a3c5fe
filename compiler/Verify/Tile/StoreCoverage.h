// Proof that one store writes every element of its tensor.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_STORECOVERAGE_H
#define SELVEDGE_COMPILER_VERIFY_TILE_STORECOVERAGE_H

#include "compiler/Verify/Arithmetic/IndexValues.h"
#include "compiler/Verify/Tile/SegmentStores.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace selvedge::verify {

/// Each dimension's index is a number whose digits are ranges, loops and lanes
/// that run independently of each other, over at least the extent; the presence
/// holds wherever the indices are inside the shape.
class StoreCoverage {
public:
  /// Asked for all rows, or for those of `segments` or of none of them.
  explicit StoreCoverage(tile::StoreOp store, Rows rows = Rows::All,
                         std::optional<SegmentRows> segments = {});
  /// Asked for the rows of `parts`, or for those behind them.
  StoreCoverage(tile::StoreOp store, Rows rows, PartRows parts);

  /// Why elements may be left out; none if all are written.
  std::optional<std::string> gap();

  /// The parts of a dimension that the store's rows are, if it is an index of
  /// lanes in parts of equal length; none where that dimension ends with them.
  std::optional<PartRows> partsOfRows();

private:
  /// A part of an index that takes all values 0..count-1, times `weight`.
  struct Digit {
    Polynomial weight, count;
    /// The number that counts, where it is a range of the kernel.
    mlir::Value scalar = {};
  };

  /// Adds the digits of `index`; false if it has other parts, or parts that
  /// were met before.
  bool collect(mlir::Value index, const Polynomial &weight,
               llvm::SmallVectorImpl<Digit> &digits);
  bool collectLanes(tile::RangeOp range, const Polynomial &weight,
                    llvm::SmallVectorImpl<Digit> &digits);
  /// The same of the quotient or the remainder of a range by a number.
  bool collectPart(mlir::Operation *part, const Polynomial &weight,
                   llvm::SmallVectorImpl<Digit> &digits);
  /// How often a coordinate or loop runs by steps of `block`, or by 1.
  std::optional<Polynomial> countOf(mlir::Value scalar, mlir::StringAttr block);
  /// The extent of the kernel's range that a scalar is; null for others.
  mlir::AffineExpr extentOf(mlir::Value scalar);
  /// Whether an index takes all rows of `part`.
  bool spansParts(mlir::Value index, const PartRows &part);
  bool spans(mlir::Value index, mlir::AffineExpr extent);
  /// A range, or a loop around the store, that no index depends on and that
  /// may run zero times; empty for none.
  std::string mayNotRun();
  bool holdsInside(mlir::ValueRange presence);
  /// Notes that the kernel's range over the tiles of segments is used.
  void useSegments();
  /// Of rows counted from the first one of their segment: what a kernel selects
  /// by its being a segment is that of one. knowOfSegment() proves that.
  void takeSegment(IndexValues &values);
  /// Of rows counted from the first one of their segment, adds what is known of
  /// an element of those asked for; false if they are not counted so.
  bool knowOfSegment(IndexValues &values, llvm::ArrayRef<Polynomial> dims,
                     llvm::SmallVectorImpl<Polynomial> &inside);

  tile::StoreOp store;
  tile::KernelOp kernel;
  mlir::AffineMap shape;
  Rows rows;
  std::optional<SegmentRows> segments;
  std::optional<PartRows> equalParts;
  llvm::SmallVector<mlir::scf::ForOp> loops;
  bool isConditional = false;
  /// What is known where nothing is known to run: dims, and that the tensor has
  /// elements.
  IndexValues outside;
  llvm::SmallVector<Polynomial> dims;
  llvm::DenseSet<mlir::Value> usedScalars;
  llvm::DenseSet<mlir::StringAttr> usedAxes;
  /// Ranges by blocks whose lanes are digits, and which number of the kernel
  /// their blocks begin at, where something else is added to that.
  struct Lanes {
    tile::RangeOp range;
    mlir::Value within;
  };
  llvm::SmallVector<Lanes> laneDigits;
  /// Ranges of slices, all lanes of which are a digit, and how many.
  llvm::SmallVector<std::pair<tile::RangeOp, int64_t>> sliceDigits;
  /// A range that serves as two digits: what is divided by what.
  struct Parts {
    mlir::Value start, divisor;
    bool hasQuotient = false, hasRemainder = false;
  };
  llvm::MapVector<mlir::StringAttr, Parts> parts;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_STORECOVERAGE_H
