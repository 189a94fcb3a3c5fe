// Descriptors for bulk copies of tensors.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_TENSORMAP_H
#define SELVEDGE_RUNTIME_SRC_TENSORMAP_H

#include "runtime/src/CudaDriver.h"
#include "selvedge/LaunchView.h"

#include <array>
#include <mutex>

namespace selvedge::inline runtime {

/// Alignment of a described tensor's address and rows.
inline constexpr int64_t tensorMapAlign = 16;

/// A descriptor as the driver encodes it (CUDA driver API, "CUtensorMap").
struct alignas(64) TensorMap {
  std::array<std::byte, 128> bytes;
};

/// Whether a descriptor of the tensor exists: elements of 2 or 4 bytes side by
/// side in the last dimension, rows 16 bytes aligned, no empty dimension, no
/// negative stride. Its strides are given; other dimensions than the last may
/// be repeated, with the stride 0.
bool hasTensorMap(const TensorRef &tensor);

/// Encodes a descriptor of the tensor of `map`, were it at `data`. Elements
/// outside the tensor read as zero.
Result<TensorMap> encodeTensorMap(const CudaDriver &driver,
                                  const PlannedMap &map, void *data);

/// Descriptors of one tensor at the addresses where it was last seen. The
/// driver takes a microsecond for each, and a model's layers come back.
/// Thread safe.
class TensorMapCache {
public:
  explicit TensorMapCache(PlannedMap map) : map(std::move(map)) {}

  /// Copies the descriptor for `data` to `out`, encoding it where it is new.
  Status get(const CudaDriver &driver, void *data, TensorMap &out);

private:
  /// A model has about as many layers.
  static constexpr size_t capacity = 128;

  PlannedMap map;
  std::mutex mutex;
  /// In parallel, `capacity` at most; then `oldest` is the next to go.
  std::vector<void *> addresses;
  std::vector<TensorMap> maps;
  size_t oldest = 0;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_TENSORMAP_H
