// Dims that each launch chooses.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/Dictionaries.h"

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

using namespace mlir;

void setLaunchSizes(Operation *programOrPlan, ArrayRef<LaunchSize> sizes) {
  Builder b(programOrPlan->getContext());
  SmallVector<Attribute> attrs;
  for (const LaunchSize &size : sizes)
    attrs.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(size.name)),
         b.getNamedAttr("lo", b.getI64IntegerAttr(size.lo)),
         b.getNamedAttr("hi", b.getI64IntegerAttr(size.hi)),
         b.getNamedAttr("parts", AffineMapAttr::get(size.parts))}));
  if (!attrs.empty())
    programOrPlan->setAttr(launchSizesAttribute, b.getArrayAttr(attrs));
}

SmallVector<LaunchSize> getLaunchSizes(Operation *programOrPlan) {
  SmallVector<LaunchSize> sizes;
  for (DictionaryAttr size :
       dictionariesOf(programOrPlan, launchSizesAttribute)) {
    auto name = size.getAs<StringAttr>("name");
    auto lo = size.getAs<IntegerAttr>("lo"), hi = size.getAs<IntegerAttr>("hi");
    auto parts = size.getAs<AffineMapAttr>("parts");
    if (name && lo && hi && parts)
      sizes.push_back({name, lo.getInt(), hi.getInt(), parts.getValue()});
  }
  return sizes;
}

} // namespace selvedge::tile
