// What no lane contributes to a reduction.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Identities.h"

#include "mlir/IR/Builders.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;

TypedAttr identityOf(Combine kind, Type element) {
  Builder b(element.getContext());
  if (kind == Combine::Add)
    return b.getZeroAttr(element);
  bool isMax = kind == Combine::Max;
  if (auto floating = dyn_cast<FloatType>(element))
    return FloatAttr::get(element,
                          APFloat::getInf(floating.getFloatSemantics(), isMax));
  unsigned width = element.getIntOrFloatBitWidth();
  return b.getIntegerAttr(element, isMax ? APInt::getSignedMinValue(width)
                                         : APInt::getSignedMaxValue(width));
}

} // namespace selvedge::safety
