// Which products cross the rows of warpgroups.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

bool isOfOneWarpgroup(Type tile) {
  LayoutAttr layout = layoutOf(tile);
  return layout && isOfOneWarp(layout);
}

/// The stage that writes `buffer` in the block of `product`, before it.
static StageOp stageOf(MmaOp product, Value buffer) {
  StageOp found;
  for (Operation *user : buffer.getUsers()) {
    auto stage = dyn_cast<StageOp>(user);
    if (!stage)
      continue;
    if (found || stage->getBlock() != product->getBlock() ||
        !stage->isBeforeInBlock(product))
      return {};
    found = stage;
  }
  return found;
}

/// Warps of a warpgroup have 16 rows each, and more warpgroups what `strides`
/// say.
static bool hasWarps(AxisLayoutAttr axis, ArrayRef<int64_t> ofWarp,
                     ArrayRef<int64_t> ofWarpgroups) {
  ArrayRef<int64_t> warps = axis.getWarps();
  return warps.take_front(2) == ofWarp && warps.drop_front(2) == ofWarpgroups;
}

std::optional<RoleCrossing> matchCrossing(MmaOp product, StringAttr rowAxis,
                                          int64_t warpgroups,
                                          std::string &why) {
  auto no = [&](const Twine &reason) {
    why = reason.str();
    return std::nullopt;
  };
  RoleCrossing crossing;
  crossing.product = product;
  auto axes = layoutOf(product.getType()).getAxes();
  const auto *rows = llvm::find_if(axes, [](AxisLayoutAttr axis) {
    return axis.getLanes().size() > 2 && axis.getLanes()[2] == 1;
  });
  if (axes.size() != 2 || rows == axes.end() ||
      product.getOverAttr() != rowAxis || !isSplat(product.getInit(), 0))
    return no("products have different rows");
  AxisLayoutAttr cols = rows == axes.begin() ? axes[1] : axes[0];
  crossing.rowAxis = rows->getName();
  for (Value operand : {product.getLhs(), product.getRhs()}) {
    StageOp stage = stageOf(product, operand);
    if (stage)
      crossing.stage = stage;
    else
      crossing.resident = operand;
  }
  LayoutAttr staged = crossing.stage
                          ? layoutOf(crossing.stage.getSource().getType())
                          : LayoutAttr();
  if (!staged || !crossing.resident || staged.getAxes().size() != 2 ||
      staged.getAxes()[0].getName() != rowAxis ||
      staged.getAxes()[1].getName() != crossing.rowAxis ||
      getElementTypeOrSelf(crossing.stage.getSource().getType())
              .getIntOrFloatBitWidth() != 16)
    return no("a product of other rows has no operand that warpgroups compute");
  // Strides of the bits of a warp's number that are its warpgroup's.
  SmallVector<int64_t> none, rowStrides, colStrides;
  int64_t part = cols.getSize() / warpgroups;
  for (int64_t n = 1; n < warpgroups; n *= 2) {
    none.push_back(0);
    rowStrides.push_back(n * warpgroupRows);
    colStrides.push_back(n * part);
  }
  bool sharesRows = rows->getSize() == warpgroups * warpgroupRows &&
                    hasWarps(*rows, {16, 32}, rowStrides) &&
                    hasWarps(cols, {0, 0}, none),
       sharesCols = rows->getSize() == warpgroupRows && part == panelCols &&
                    hasWarps(*rows, {16, 32}, none) &&
                    hasWarps(cols, {0, 0}, colStrides);
  if (rows->getRegSizes() != ArrayRef<int64_t>{2} ||
      (!sharesRows && !sharesCols))
    return no("warpgroups share neither the rows nor panels of the columns of "
              "a product");
  crossing.rowParts = sharesRows ? warpgroups : 1;
  return crossing;
}

const RoleCrossing *RolePlan::crossingOf(Operation *op) const {
  for (const auto &[loop, all] : crossings)
    for (const RoleCrossing &crossing : all)
      if (crossing.product == op || crossing.stage == op)
        return &crossing;
  return nullptr;
}

bool RolePlan::hasCrossings() const {
  return llvm::any_of(crossings,
                      [](const auto &entry) { return !entry.second.empty(); });
}

} // namespace selvedge::schedule
