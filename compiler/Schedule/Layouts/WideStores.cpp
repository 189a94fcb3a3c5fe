// sm-wide-stores: threads that store or add to memory touch longer parts of
// rows.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Multiples.h"
#include "compiler/Schedule/Copies/RepeatedTiles.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/WarpMove.h"
#include "dialect/Tile/Accumulate.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMWIDESTORES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

using Modes = SmallVector<std::pair<int64_t, int64_t>>;

/// A sector of a cache line, which is written whole or read before.
constexpr int64_t sectorBytes = 32;
/// What one access of a thread takes, and rows are aligned to where any access
/// takes more than an element.
constexpr int64_t vectorBytes = 16;

/// An axis in other modes of registers, `lane` being what bit `bit` of the
/// lane's number adds.
AxisLayoutAttr withModes(AxisLayoutAttr axis,
                         ArrayRef<std::pair<int64_t, int64_t>> modes,
                         size_t bit, int64_t lane) {
  SmallVector<int64_t> sizes, strides, lanes(axis.getLanes());
  for (auto [size, stride] : modes)
    if (size > 1) {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  lanes[bit] = lane;
  return AxisLayoutAttr::get(axis.getContext(), axis.getName(), sizes, strides,
                             lanes, axis.getWarps());
}

Modes modesOf(AxisLayoutAttr axis) {
  Modes modes;
  for (auto [size, stride] :
       llvm::zip_equal(axis.getRegSizes(), axis.getRegStrides()))
    modes.emplace_back(size, stride);
  return modes;
}

/// `from` elements side by side, and as often twice as many as bits of the
/// lane's number add the next ones.
int64_t countInLanes(AxisLayoutAttr axis, int64_t from) {
  while (llvm::is_contained(axis.getLanes(), from))
    from *= 2;
  return from;
}

/// Layouts in which a bit of the lane's number has changed places with one of
/// registers along `along`: the lanes of that axis then are twice as many, side
/// by side. None where they are not side by side, or no bit of lanes is another
/// axis'.
std::optional<RepeatedTiles::Axes> moreLanes(AxisLayoutAttr along,
                                             AxisLayoutAttr other) {
  int64_t count = countInLanes(along, 1);
  Modes modes = modesOf(along);
  auto taken = llvm::find_if(modes, [&](auto mode) {
    return mode.second == count && mode.first % 2 == 0;
  });
  const auto *lane =
      llvm::find_if(other.getLanes(), [](int64_t s) { return s; });
  if (count == 1 || taken == modes.end() || lane == other.getLanes().end())
    return std::nullopt;
  size_t bit = lane - other.getLanes().begin();
  *taken = {taken->first / 2, taken->second * 2};
  Modes others = modesOf(other);
  others.insert(others.begin(), {2, *lane});
  return RepeatedTiles::Axes{
      {along.getName(), withModes(along, modes, bit, count)},
      {other.getName(), withModes(other, others, bit, 0)}};
}

/// The elements of an axis that each thread holds side by side.
int64_t adjacentElements(AxisLayoutAttr axis) {
  bool isAdjacent = !axis.getRegSizes().empty() && axis.getRegStrides()[0] == 1;
  return isAdjacent ? axis.getRegSizes()[0] : 1;
}

/// The axis with twice as many elements side by side in each thread: the bit of
/// the lane's number that adds the next ones has changed places with one of
/// registers. Null where there is none.
AxisLayoutAttr moreRegisters(AxisLayoutAttr axis) {
  int64_t count = adjacentElements(axis);
  const auto *lane = llvm::find(axis.getLanes(), count);
  Modes modes = modesOf(axis);
  auto *taken = llvm::find_if(modes, [&](auto mode) {
    return mode.second > count && mode.first % 2 == 0;
  });
  if (count == 1 || lane == axis.getLanes().end() || taken == modes.end())
    return {};
  int64_t stride = taken->second;
  *taken = {taken->first / 2, stride * 2};
  modes.front().first *= 2;
  return withModes(axis, modes, lane - axis.getLanes().begin(), stride);
}

/// The axis whose lanes side by side touch whole sectors, of elements of so
/// many bytes; null where it is that already, or cannot be.
AxisLayoutAttr wholeSectors(AxisLayoutAttr axis, int64_t bytes) {
  AxisLayoutAttr wide = axis;
  while (wide && adjacentElements(wide) * bytes < vectorBytes &&
         countInLanes(wide, adjacentElements(wide)) * bytes < sectorBytes)
    wide = moreRegisters(wide);
  return wide == axis ? AxisLayoutAttr() : wide;
}

/// The place of the last index' axis in the stored tile; -1 where several
/// axes, or none, make that index.
int64_t placeOfRows(StoreOp store, LayoutAttr layout) {
  LayoutAttr last = store.getIndices().empty()
                        ? LayoutAttr()
                        : layoutOf(store.getIndices().back().getType());
  return layout && last && last.getAxes().size() == 1
             ? layout.indexOf(last.getAxes()[0].getName())
             : -1;
}

/// Stores the tile in a layout with other axes, if threads can make all that
/// takes cheaply.
bool storeIn(StoreOp store, RepeatedTiles::Axes axes) {
  RepeatedTiles wide(std::move(axes));
  Value value = store.getValue();
  Type type = wide.typeOf(value.getType());
  auto repeated =
      llvm::concat<const Value>(llvm::to_vector(store.getIndices()),
                                llvm::to_vector(store.getPresence()));
  if (!llvm::all_of(repeated, [&](Value v) { return wide.canRepeat(v); }) ||
      !WarpMove::findCheap(layoutOf(value.getType()), layoutOf(type),
                           getElementTypeOrSelf(type).getIntOrFloatBitWidth() /
                               8))
    return false;
  OpBuilder b(store);
  IRMapping mapping;
  for (OpOperand &operand : store->getOpOperands())
    if (operand.get() != value)
      operand.set(wide.repeat(b, operand.get(), mapping));
  store.getValueMutable().set(RelayoutOp::create(b, store.getLoc(), type, value,
                                                 /*scratch=*/Value()));
  return true;
}

struct SmWideStoresPass : impl::SmWideStoresBase<SmWideStoresPass> {
  void runOnOperation() override {
    getOperation().walk([](StoreOp store) {
      LayoutAttr layout = layoutOf(store.getValue().getType());
      int64_t at = placeOfRows(store, layout);
      if (at < 0)
        return;
      if (tile::addsToMemory(store))
        widenAdds(store, layout, at);
      else if (store.getVector() > 1)
        widenVectors(store, layout.getAxes()[at]);
    });
  }

private:
  static void widenAdds(StoreOp store, LayoutAttr layout, int64_t at) {
    if (layout.getAxes().size() != 2)
      return;
    if (auto axes = moreLanes(layout.getAxes()[at], layout.getAxes()[1 - at]))
      storeIn(store, *axes);
  }

  /// Rows are aligned for vectors, and begin where those may.
  static void widenVectors(StoreOp store, AxisLayoutAttr axis) {
    Type element = getElementTypeOrSelf(store.getValue().getType());
    AxisLayoutAttr wide =
        wholeSectors(axis, element.getIntOrFloatBitWidth() / 8);
    auto range = store.getIndices().back().getDefiningOp<RangeOp>();
    if (wide && range &&
        analysis::isMultipleOf(range.getStart(), adjacentElements(wide)) &&
        storeIn(store, {{wide.getName(), wide}}))
      store.setVector(adjacentElements(wide));
  }
};

} // namespace
} // namespace selvedge::schedule
