// Values of the interpreter: dense tiles over named axes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_TILEVALUE_H
#define SELVEDGE_COMPILER_REFERENCE_TILEVALUE_H

#include "compiler/Reference/Bounds.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace selvedge::reference {

/// What a lane of an integer tile holds where it is absent or undefined.
inline constexpr int64_t poisonInteger = 0x5A5A5A5A;

/// Axes and their extents; none for a scalar.
struct TileShape {
  llvm::SmallVector<mlir::StringAttr, 4> axes;
  llvm::SmallVector<int64_t, 4> extents;

  /// Number of lanes; 1 for a scalar.
  int64_t lanes() const;
  /// Position of `axis`, or -1.
  int64_t indexOf(mlir::StringAttr axis) const;
  /// Whether every axis of this shape is one of `other`.
  bool within(const TileShape &other) const;
  /// Appends an axis.
  void push(mlir::StringAttr axis, int64_t extent);
  bool operator==(const TileShape &other) const = default;
};

/// A tile or scalar, row-major. Floats fill `values` and `bounds`, integers and
/// booleans `ints` and `unsure`; `bounds` and `unsure` are empty where all
/// lanes are exact.
struct TileValue {
  TileShape shape;
  bool isFloat = true;
  std::vector<double> values;
  std::vector<double> bounds;
  std::vector<int64_t> ints;
  /// Lanes that a rounding error may have decided.
  std::vector<uint8_t> unsure;
  /// Whether the values are relative to the reference of a softmax: those of a
  /// kernel are a factor away, the same for a row.
  bool relative = false;

  /// A lane of a float tile.
  Num at(int64_t lane) const {
    return {values[lane], bounds.empty() ? 0 : bounds[lane]};
  }
  /// Whether a lane of an integer tile is unsure.
  bool unsureAt(int64_t lane) const { return !unsure.empty() && unsure[lane]; }
};

using TileRef = std::shared_ptr<const TileValue>;

/// A float tile of zeros, with room for bounds.
std::shared_ptr<TileValue> makeFloats(TileShape shape);
/// An integer tile of zeros.
std::shared_ptr<TileValue> makeInts(TileShape shape);
/// Exact scalars.
TileRef makeScalar(double value);
TileRef makeScalar(int64_t value);

/// For every lane of one shape, a lane of another.
class LanePositions {
public:
  explicit LanePositions(std::shared_ptr<const std::vector<int32_t>> table)
      : table(std::move(table)) {}

  int32_t operator[](size_t lane) const { return (*table)[lane]; }
  size_t size() const { return table->size(); }
  auto begin() const { return table->begin(); }
  auto end() const { return table->end(); }

private:
  std::shared_ptr<const std::vector<int32_t>> table;
};

/// For every lane of `to`, the lane of `from` with the same coordinates. The
/// axes of `from` are axes of `to`. A thread keeps what it has found.
LanePositions lanePositions(const TileShape &from, const TileShape &to);

/// State of a lane under a conjunction of predicates.
enum Presence : uint8_t { Absent = 0, Present = 1, Unsure = 2 };

/// The conjunction of `predicates` over the lanes of `shape`; empty when there
/// are none. A lane holds Absent or Present, and Unsure on top where a rounding
/// error may have decided.
std::vector<uint8_t> conjunction(llvm::ArrayRef<TileRef> predicates,
                                 const TileShape &shape);

/// The source repeated along the axes of `shape` that it lacks.
TileRef broadcast(const TileRef &source, const TileShape &shape);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_TILEVALUE_H
