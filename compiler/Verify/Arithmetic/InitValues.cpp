// What output elements hold that no kernel stores.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/InitValues.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace selvedge::verify {

using namespace mlir;

bool isInit(Value value, tile::TensorArgAttr tensor) {
  Attribute init = tensor.getInit();
  value = strip(value);
  if (auto type = dyn_cast<FloatType>(value.getType())) {
    APFloat found(0.0F);
    auto wanted = dyn_cast_or_null<FloatAttr>(init);
    if (!wanted || !matchPattern(value, m_ConstantFloat(&found)))
      return false;
    APFloat rounded = wanted.getValue();
    bool losesInfo = false;
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return found.bitwiseIsEqual(rounded);
  }
  APInt found;
  if (!matchPattern(value, m_ConstantInt(&found)))
    return false;
  // Kernels hold bytes with a sign, whatever the tensor's have.
  int64_t number = tensor.getElementType().isUnsignedInteger()
                       ? static_cast<int64_t>(found.getZExtValue())
                       : found.getSExtValue();
  if (auto wanted = dyn_cast_or_null<IntegerAttr>(init))
    return number == wanted.getInt();
  auto wanted = dyn_cast_or_null<FloatAttr>(init);
  return wanted &&
         static_cast<double>(number) == std::trunc(wanted.getValueAsDouble());
}

} // namespace selvedge::verify
