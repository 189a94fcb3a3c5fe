// Vectors that a step loads ahead of its products: each lane holds a few
// elements until they are needed, and then those that it computes with.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The type of a vector whose elements are on all lanes of each warp, by twos;
/// null for others, which gain nothing.
static Type spreadType(Type type) {
  constexpr int64_t ofLanes = 64;
  DistAttr dist = distOf(type);
  if (!dist || dist.getAxes().size() != 1)
    return {};
  AxisDistAttr axis = dist.getAxes()[0];
  int64_t parts = axis.getSize() / ofLanes;
  bool isOfAllWarps =
      llvm::all_of(axis.getWarps(), [](int64_t w) { return w == 0; });
  if (!isOfAllWarps || axis.getSize() % ofLanes != 0 ||
      axis.getNumRegs() <= 2 * parts)
    return {};
  SmallVector<int64_t> sizes{2}, strides{1};
  if (parts > 1) {
    sizes.push_back(parts);
    strides.push_back(ofLanes);
  }
  auto spread = AxisDistAttr::get(type.getContext(), axis.getName(), sizes,
                                  strides, {2, 4, 8, 16, 32}, axis.getWarps());
  return RankedTensorType::get(axis.getSize(), getElementTypeOrSelf(type),
                               DistAttr::get(type.getContext(), {spread}));
}

Value RoleKernel::loadSpread(LoadOp load, IRMapping &mapping) {
  Type type = spreadType(convert(load.getType()));
  if (!type || getElementTypeOrSelf(type).getIntOrFloatBitWidth() != 32)
    return {};
  auto retype = [&](Type from) {
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                                 getElementTypeOrSelf(from), distOf(type));
  };
  // Every index and predicate is one of lanes along its axis, or of none.
  StringAttr axis = distOf(type).getAxes()[0].getName();
  IRMapping local = mapping;
  for (Value operand : load->getOperands()) {
    DistAttr dist = distOf(operand.getType());
    if (!dist)
      continue;
    if (dist.getAxes().size() != 1 || dist.getAxes()[0].getName() != axis)
      return {};
    local.map(operand, recomputed(operand, mapping, retype, Shifts()));
  }
  for (Value operand : load->getOperands())
    if (!distOf(operand.getType()))
      local.map(operand, isa<tile::GlobalType>(operand.getType())
                             ? valueOf(operand, mapping)
                             : scalar(operand, mapping));
  Operation *clone = b.clone(*load, local);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

bool RoleKernel::useSpread(LoadOp load, Value spread, IRMapping &mapping) {
  auto moved = RelayoutOp::create(b, load.getLoc(), convert(load.getType()),
                                  spread, /*scratch=*/Value());
  if (!moved.findMove()) {
    moved.erase();
    return false;
  }
  mapping.map(load.getResult(), moved);
  return true;
}

} // namespace selvedge::schedule
