// Dimensions of inputs that a caller may broadcast.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/BroadcastDims.h"

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

using namespace mlir;

void setBroadcastDims(Operation *programOrPlan,
                      ArrayRef<BroadcastDims> inputs) {
  Builder b(programOrPlan->getContext());
  SmallVector<NamedAttribute> attrs;
  for (const BroadcastDims &input : inputs)
    attrs.push_back(
        b.getNamedAttr(input.tensor, b.getI64ArrayAttr(input.dims)));
  if (!attrs.empty())
    programOrPlan->setAttr(broadcastAttribute, b.getDictionaryAttr(attrs));
}

SmallVector<BroadcastDims> getBroadcastDims(Operation *programOrPlan) {
  SmallVector<BroadcastDims> inputs;
  auto attrs = programOrPlan->getAttrOfType<DictionaryAttr>(broadcastAttribute);
  if (!attrs)
    return inputs;
  for (NamedAttribute attr : attrs) {
    // Text may hold anything.
    auto dims = dyn_cast<ArrayAttr>(attr.getValue());
    if (!dims)
      continue;
    BroadcastDims &input = inputs.emplace_back();
    input.tensor = attr.getName();
    for (Attribute dim : dims)
      if (auto number = dyn_cast<IntegerAttr>(dim))
        input.dims.push_back(number.getInt());
  }
  return inputs;
}

} // namespace selvedge::tile
