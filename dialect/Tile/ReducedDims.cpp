// Dims of gradients that a caller may sum over.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/ReducedDims.h"
#include "dialect/Tile/Dictionaries.h"

#include "mlir/IR/Builders.h"

namespace selvedge::tile {

using namespace mlir;

void setReducedDims(Operation *programOrPlan, ArrayRef<ReducedDim> dims) {
  Builder b(programOrPlan->getContext());
  SmallVector<Attribute> attrs;
  for (const ReducedDim &dim : dims)
    attrs.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", dim.name), b.getNamedAttr("tensor", dim.tensor),
         b.getNamedAttr("dimension", b.getI64IntegerAttr(dim.dimension))}));
  if (!attrs.empty())
    programOrPlan->setAttr(reducedAttribute, b.getArrayAttr(attrs));
}

SmallVector<ReducedDim> getReducedDims(Operation *programOrPlan) {
  SmallVector<ReducedDim> dims;
  for (DictionaryAttr dim : dictionariesOf(programOrPlan, reducedAttribute)) {
    auto name = dim.getAs<StringAttr>("name"),
         tensor = dim.getAs<StringAttr>("tensor");
    auto dimension = dim.getAs<IntegerAttr>("dimension");
    if (name && tensor && dimension)
      dims.push_back({name, tensor, dimension.getInt()});
  }
  return dims;
}

} // namespace selvedge::tile
