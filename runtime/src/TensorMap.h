// Descriptors for bulk copies of tensors.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_TENSORMAP_H
#define SELVEDGE_RUNTIME_SRC_TENSORMAP_H

#include "runtime/src/CudaDriver.h"
#include "selvedge/Plan.h"

#include <array>

namespace selvedge::inline runtime {

/// A descriptor as the driver encodes it (CUDA driver API, "CUtensorMap").
struct alignas(64) TensorMap {
  std::array<std::byte, 128> bytes;
};

/// Whether a descriptor of the tensor exists: elements of 2 or 4 bytes side by
/// side in the last dimension, rows 16 bytes aligned, no empty dimension, no
/// repeated one.
bool hasTensorMap(const TensorView &tensor);

/// Encodes a descriptor. Elements outside the tensor read as zero.
Result<TensorMap> encodeTensorMap(const CudaDriver &driver,
                                  const PlannedMap &map);

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_TENSORMAP_H
