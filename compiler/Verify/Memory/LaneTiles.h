// Integer tiles of an executed kernel, lane by lane.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_LANETILES_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_LANETILES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

#include <memory>
#include <optional>

namespace selvedge::verify {

/// Numbers over the lanes of some axes, the last one fastest: integers, truth
/// values (0 or 1), or the bits of a double (LaneTiles::bitsOf). A tile is the
/// same along axes that it lacks.
struct LaneTile {
  /// A lane of which nothing is known.
  static constexpr int64_t unknown = INT64_MIN;

  llvm::SmallVector<mlir::StringAttr, 2> axes = {};
  llvm::SmallVector<int64_t, 2> extents = {};
  llvm::SmallVector<int64_t, 1> values = {unknown};

  /// How far apart neighbours along an axis are; 0 for one that it lacks.
  int64_t strideOf(mlir::StringAttr axis) const;
};

/// The lanes of several tiles together.
struct LaneSpace {
  llvm::SmallVector<mlir::StringAttr, 4> axes = {};
  llvm::SmallVector<int64_t, 4> extents = {};

  void add(const LaneTile &tile);
  int64_t size() const;
  /// Long rows are walked fastest, and some axes have a lane or two.
  void putLongestLast();
};

/// Goes through the lanes of a space and knows where each of some tiles has
/// them.
class LaneWalk {
public:
  LaneWalk(const LaneSpace &space, llvm::ArrayRef<const LaneTile *> tiles);

  /// Whether there is a lane.
  bool isInside() const { return lane < count; }
  void next();
  /// What tile `number` holds there.
  int64_t at(unsigned number) const { return *from(number); }
  /// Where it does.
  const int64_t *from(unsigned number) const {
    return tiles[number]->values.data() + offsets[number];
  }

private:
  llvm::ArrayRef<const LaneTile *> tiles;
  llvm::SmallVector<int64_t, 4> extents, index;
  /// By axis, then by tile.
  llvm::SmallVector<int64_t, 16> strides;
  llvm::SmallVector<int64_t, 8> offsets;
  int64_t lane = 0, count = 1;
};

/// The lanes of one of some tiles along the last axis of their space.
struct LaneRow {
  const int64_t *from;
  int64_t stride;

  int64_t operator[](int64_t lane) const { return from[lane * stride]; }
};

/// Goes through the lanes of a space row by row, so that the last axis is a
/// loop without a walk. `visit` takes a row of each tile and their length.
void forEachRow(
    LaneSpace space, llvm::ArrayRef<const LaneTile *> tiles,
    llvm::function_ref<void(llvm::ArrayRef<LaneRow> rows, int64_t count)>
        visit);

/// Values of tiles of `tile` and `sm` at one moment of an execution, made of
/// its scalars and of what memory holds. Floating-point numbers are known as
/// far as conditions compare them.
class LaneTiles {
public:
  /// A scalar integer, if it is known.
  using Scalars = llvm::function_ref<std::optional<int64_t>(mlir::Value)>;
  /// An element of a tensor, if it is known; of numbers the bits of a double.
  using Elements = llvm::function_ref<std::optional<int64_t>(
      mlir::Value tensor, llvm::ArrayRef<int64_t> indices)>;

  LaneTiles(Scalars scalars, Elements elements)
      : scalars(scalars), elements(elements) {}

  /// Of each axis only some lanes, and where its ranges start, wherever the
  /// kernel has them start.
  using SelectedLanes = std::function<std::optional<llvm::SmallVector<int64_t>>(
      mlir::StringAttr)>;
  using Starts = std::function<std::optional<int64_t>(mlir::StringAttr)>;
  void select(SelectedLanes lanes, Starts starts) {
    selectedLanes = std::move(lanes);
    selectedStarts = std::move(starts);
  }

  const LaneTile &of(mlir::Value value);
  /// Lanes that were computed.
  uint64_t getWork() const { return work; }

  /// Those of a number; no number has those of an unknown lane.
  static int64_t bitsOf(double number) {
    // -0 becomes 0.
    return llvm::bit_cast<int64_t>(number + 0.0);
  }

private:
  LaneTile computeRange(mlir::RankedTensorType type, mlir::Value start);
  LaneTile computeOp(mlir::Operation *op);
  LaneTile compute(mlir::Value value);
  /// An operand whose lanes are the value's; null for none.
  static mlir::Value sourceOf(mlir::Value value);
  LaneTile computeLoad(mlir::Operation *load, mlir::Value tensor,
                       mlir::ValueRange indices, mlir::ValueRange presence);
  /// Integers combined along an axis.
  LaneTile computeReduce(mlir::Operation *op, mlir::Value source,
                         mlir::StringAttr over);
  LaneTile computeArith(mlir::Operation *op);

  Scalars scalars;
  Elements elements;
  SelectedLanes selectedLanes;
  Starts selectedStarts;
  llvm::SmallDenseMap<mlir::Value, const LaneTile *, 16> known;
  llvm::SmallVector<std::unique_ptr<LaneTile>> computed;
  uint64_t work = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_LANETILES_H
