// Scalars as kernels take them.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_PACKSCALAR_H
#define SELVEDGE_RUNTIME_SRC_PACKSCALAR_H

#include "selvedge/Tensor.h"

#include <bit>
#include <cmath>
#include <limits>

namespace selvedge::inline runtime {

/// Whether an argument is a value of the scalar's type, f32 or i32. A finite
/// number must not become infinite; rounding is what f32 means.
inline bool isScalarOf(DType dtype, double value) {
  if (dtype == DType::F32)
    return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
  return value == std::trunc(value) &&
         value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

/// The low bytes of a parameter.
inline uint64_t packScalar(DType dtype, double value) {
  if (dtype == DType::I32)
    return static_cast<uint32_t>(static_cast<int32_t>(value));
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_PACKSCALAR_H
