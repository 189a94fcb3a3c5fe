// Shapes and lanes of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Reference/TileValue.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

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

/// Extents of a shape and the strides that another has along them, outermost
/// first. Axes that lie in one piece are one.
using Strides = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;

static Strides stridesOf(const TileShape &from, const TileShape &to) {
  llvm::SmallVector<int64_t, 4> steps(from.extents.size(), 1);
  for (int64_t i = static_cast<int64_t>(steps.size()) - 2; i >= 0; --i)
    steps[i] = steps[i + 1] * from.extents[i + 1];
  Strides strides;
  for (auto [axis, extent] : llvm::zip_equal(to.axes, to.extents)) {
    int64_t at = from.indexOf(axis), stride = at < 0 ? 0 : steps[at];
    if (!strides.empty() && strides.back().second == extent * stride)
      strides.back() = {strides.back().first * extent, stride};
    else
      strides.emplace_back(extent, stride);
  }
  return strides;
}

static std::vector<int32_t> tabulate(const Strides &strides, int64_t lanes) {
  std::vector<int32_t> positions(lanes, 0);
  if (positions.empty())
    return positions;
  // Built axis by axis from the innermost: each axis repeats the block of
  // positions that the inner axes span, shifted by the source's stride.
  int64_t inner = 1;
  for (auto [extent, stride] : llvm::reverse(strides)) {
    for (int64_t i = 1; i < extent; ++i)
      for (int64_t j = 0; j < inner; ++j)
        positions[i * inner + j] =
            positions[j] + static_cast<int32_t>(i * stride);
    inner *= extent;
  }
  return positions;
}

LanePositions lanePositions(const TileShape &from, const TileShape &to) {
  constexpr size_t roomForLanes = 1 << 22;
  thread_local std::map<Strides, LanePositions> known;
  thread_local size_t lanes = 0;
  Strides strides = stridesOf(from, to);
  if (auto it = known.find(strides); it != known.end())
    return it->second;
  LanePositions positions(std::make_shared<const std::vector<int32_t>>(
      tabulate(strides, to.lanes())));
  if (lanes > roomForLanes) {
    known.clear();
    lanes = 0;
  }
  lanes += positions.size();
  known.emplace(std::move(strides), positions);
  return positions;
}

std::vector<uint8_t> conjunction(llvm::ArrayRef<TileRef> predicates,
                                 const TileShape &shape) {
  std::vector<uint8_t> lanes;
  if (predicates.empty())
    return lanes;
  lanes.assign(shape.lanes(), Present);
  for (const TileRef &predicate : predicates) {
    LanePositions from = lanePositions(predicate->shape, shape);
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
  LanePositions from = lanePositions(source->shape, shape);
  auto result = std::make_shared<TileValue>();
  result->shape = shape;
  result->isFloat = source->isFloat;
  auto copy = [&](const auto &in, auto &out) {
    if (in.empty())
      return;
    out.reserve(from.size());
    for (int32_t at : from)
      out.push_back(in[at]);
  };
  copy(source->values, result->values);
  copy(source->bounds, result->bounds);
  copy(source->ints, result->ints);
  copy(source->unsure, result->unsure);
  return result;
}

} // namespace selvedge::reference
