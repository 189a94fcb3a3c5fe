// sm-wide-adds: lanes that add to memory touch longer parts of rows.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/RepeatedTiles.h"
#include "dialect/Sm/WarpMove.h"
#include "dialect/Tile/Accumulate.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMWIDEADDS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

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

SmallVector<std::pair<int64_t, int64_t>> modesOf(AxisLayoutAttr axis) {
  SmallVector<std::pair<int64_t, int64_t>> modes;
  for (auto [size, stride] :
       llvm::zip_equal(axis.getRegSizes(), axis.getRegStrides()))
    modes.emplace_back(size, stride);
  return modes;
}

/// Layouts in which a bit of the lane's number has changed places with
/// one of registers along `along`: the lanes of that axis then are twice as
/// many, side by side. None where they are not side by side, or no bit of lanes
/// is another axis'.
std::optional<RepeatedTiles::Axes> widen(AxisLayoutAttr along,
                                         AxisLayoutAttr other) {
  int64_t count = 1;
  for (size_t found = 0; found != along.getLanes().size();) {
    found = llvm::find(along.getLanes(), count) - along.getLanes().begin();
    if (found != along.getLanes().size())
      count *= 2;
  }
  auto modes = modesOf(along);
  auto taken = llvm::find_if(modes, [&](auto mode) {
    return mode.second == count && mode.first % 2 == 0;
  });
  const auto *lane =
      llvm::find_if(other.getLanes(), [](int64_t s) { return s; });
  if (count == 1 || taken == modes.end() || lane == other.getLanes().end())
    return std::nullopt;
  size_t bit = lane - other.getLanes().begin();
  *taken = {taken->first / 2, taken->second * 2};
  auto others = modesOf(other);
  others.insert(others.begin(), {2, *lane});
  return RepeatedTiles::Axes{
      {along.getName(), withModes(along, modes, bit, count)},
      {other.getName(), withModes(other, others, bit, 0)}};
}

struct SmWideAddsPass : impl::SmWideAddsBase<SmWideAddsPass> {
  void runOnOperation() override {
    getOperation().walk([](StoreOp store) {
      if (tile::addsToMemory(store))
        run(store);
    });
  }

private:
  static void run(StoreOp store) {
    LayoutAttr layout = layoutOf(store.getValue().getType()),
               last = layoutOf(store.getIndices().back().getType());
    if (!layout || layout.getAxes().size() != 2 || !last ||
        last.getAxes().size() != 1)
      return;
    int64_t at = layout.indexOf(last.getAxes()[0].getName());
    if (at < 0)
      return;
    std::optional<RepeatedTiles::Axes> axes =
        widen(layout.getAxes()[at], layout.getAxes()[1 - at]);
    if (!axes)
      return;
    RepeatedTiles wide(*axes);
    Value value = store.getValue();
    Type type = wide.typeOf(value.getType());
    auto repeated =
        llvm::concat<const Value>(llvm::to_vector(store.getIndices()),
                                  llvm::to_vector(store.getPresence()));
    if (!llvm::all_of(repeated, [&](Value v) { return wide.canRepeat(v); }) ||
        !WarpMove::findCheap(
            layout, layoutOf(type),
            getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8))
      return;
    OpBuilder b(store);
    IRMapping mapping;
    for (OpOperand &operand : store->getOpOperands())
      if (operand.get() != value)
        operand.set(wide.repeat(b, operand.get(), mapping));
    store.getValueMutable().set(RelayoutOp::create(b, store.getLoc(), type,
                                                   value, /*scratch=*/Value()));
  }
};

} // namespace
} // namespace selvedge::schedule
