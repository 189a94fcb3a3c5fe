// Shapes and lanes of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/TileValue.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::reference {

int64_t TileShape::lanes() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t TileShape::indexOf(mlir::StringAttr axis) const {
  auto *it = llvm::find(axes, axis);
  return it == axes.end() ? -1 : it - axes.begin();
}

bool TileShape::within(const TileShape &other) const {
  return llvm::all_of(
      axes, [&](mlir::StringAttr axis) { return other.indexOf(axis) >= 0; });
}

void TileShape::push(mlir::StringAttr axis, int64_t extent) {
  axes.push_back(axis);
  extents.push_back(extent);
}

std::shared_ptr<TileValue> makeFloats(TileShape shape) {
  auto tile = std::make_shared<TileValue>();
  tile->values.resize(shape.lanes());
  tile->bounds.resize(tile->values.size());
  tile->shape = std::move(shape);
  return tile;
}

std::shared_ptr<TileValue> makeInts(TileShape shape) {
  auto tile = std::make_shared<TileValue>();
  tile->isFloat = false;
  tile->ints.resize(shape.lanes());
  tile->shape = std::move(shape);
  return tile;
}

TileRef makeScalar(double value) {
  auto tile = std::make_shared<TileValue>();
  tile->values = {value};
  return tile;
}

TileRef makeScalar(int64_t value) {
  auto tile = std::make_shared<TileValue>();
  tile->isFloat = false;
  tile->ints = {value};
  return tile;
}

std::vector<int32_t> lanePositions(const TileShape &from, const TileShape &to) {
  std::vector<int32_t> positions(to.lanes(), 0);
  if (positions.empty())
    return positions;
  // Built axis by axis from the innermost: each axis repeats the block of
  // positions that the inner axes span, shifted by the source's stride.
  llvm::SmallVector<int64_t, 4> strides(from.extents.size(), 1);
  for (int64_t i = static_cast<int64_t>(strides.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * from.extents[i + 1];
  int64_t inner = 1;
  for (int64_t d = static_cast<int64_t>(to.axes.size()) - 1; d >= 0; --d) {
    int64_t at = from.indexOf(to.axes[d]);
    int32_t stride = at < 0 ? 0 : static_cast<int32_t>(strides[at]);
    for (int64_t i = 1; i < to.extents[d]; ++i)
      for (int64_t j = 0; j < inner; ++j)
        positions[i * inner + j] =
            positions[j] + static_cast<int32_t>(i) * stride;
    inner *= to.extents[d];
  }
  return positions;
}

std::vector<uint8_t> conjunction(llvm::ArrayRef<TileRef> predicates,
                                 const TileShape &shape) {
  std::vector<uint8_t> lanes;
  if (predicates.empty())
    return lanes;
  lanes.assign(shape.lanes(), Present);
  for (const TileRef &predicate : predicates) {
    std::vector<int32_t> from = lanePositions(predicate->shape, shape);
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      bool holds = predicate->ints[from[lane]] != 0;
      bool unsure = predicate->unsureAt(from[lane]);
      // Surely false wins: the lane is absent whatever the others say.
      bool surelyAbsent = (!holds && !unsure) || lanes[lane] == Absent;
      if (surelyAbsent) {
        lanes[lane] = Absent;
        continue;
      }
      if (!holds)
        lanes[lane] &= ~Present;
      if (unsure)
        lanes[lane] |= Unsure;
    }
  }
  return lanes;
}

TileRef broadcast(const TileRef &source, const TileShape &shape) {
  if (source->shape == shape)
    return source;
  std::vector<int32_t> from = lanePositions(source->shape, shape);
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->isFloat = source->isFloat;
  auto copy = [&](const auto &in, auto &out) {
    if (in.empty())
      return;
    out.resize(from.size());
    for (size_t lane = 0; lane < from.size(); ++lane)
      out[lane] = in[from[lane]];
  };
  copy(source->values, result->values);
  copy(source->bounds, result->bounds);
  copy(source->ints, result->ints);
  copy(source->unsure, result->unsure);
  return result;
}

} // namespace selvedge::reference
