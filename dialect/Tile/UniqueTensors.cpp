// Integer tensors whose elements are promised to differ.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/UniqueTensors.h"

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

using namespace mlir;

void setUniqueTensors(Operation *programOrPlan, ArrayRef<StringAttr> names) {
  SmallVector<Attribute> attrs(names.begin(), names.end());
  if (!attrs.empty())
    programOrPlan->setAttr(
        uniqueAttribute,
        Builder(programOrPlan->getContext()).getArrayAttr(attrs));
}

SmallVector<StringAttr> getUniqueTensors(Operation *programOrPlan) {
  SmallVector<StringAttr> names;
  // Text may hold anything.
  if (auto attrs = programOrPlan->getAttrOfType<ArrayAttr>(uniqueAttribute))
    for (Attribute attr : attrs)
      if (auto name = dyn_cast<StringAttr>(attr))
        names.push_back(name);
  return names;
}

} // namespace selvedge::tile
