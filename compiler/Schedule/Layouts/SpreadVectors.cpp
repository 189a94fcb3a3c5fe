// Vectors of which each lane of a warp holds a few elements.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/SpreadVectors.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

Type spreadType(Type type) {
  constexpr int64_t ofLanes = 64;
  LayoutAttr layout = layoutOf(type);
  if (!layout || layout.getAxes().size() != 1)
    return {};
  AxisLayoutAttr axis = layout.getAxes()[0];
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
  auto spread =
      AxisLayoutAttr::get(type.getContext(), axis.getName(), sizes, strides,
                          {2, 4, 8, 16, 32}, axis.getWarps());
  return RankedTensorType::get(axis.getSize(), getElementTypeOrSelf(type),
                               LayoutAttr::get(type.getContext(), {spread}));
}

} // namespace selvedge::schedule
