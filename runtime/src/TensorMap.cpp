// Descriptors for bulk copies of tensors.
// SPDX-License-Identifier: MIT
#include "runtime/src/TensorMap.h"

#include <algorithm>
#include <optional>

namespace selvedge::inline runtime {

namespace {

constexpr size_t maxRank = 5;
constexpr int64_t maxStride = int64_t(1) << 40;
constexpr int64_t maxExtent = int64_t(1) << 32;

/// Values of cuda.h: CUtensorMapDataType and the options that kernels expect.
constexpr int typeI32 = 3, typeF16 = 6, typeF32 = 7, typeBF16 = 9;
constexpr int interleaveNone = 0, swizzleNone = 0, swizzle128Bytes = 3,
              promote128Bytes = 2, fillZero = 0;

std::optional<int> typeOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return typeF16;
  case DType::BF16:
    return typeBF16;
  case DType::F32:
    return typeF32;
  case DType::I32:
    return typeI32;
  default:
    return std::nullopt;
  }
}

} // namespace

bool hasTensorMap(const TensorRef &tensor) {
  size_t rank = tensor.shape.size();
  if (rank == 0 || rank > maxRank || !typeOf(tensor.dtype) ||
      reinterpret_cast<uintptr_t>(tensor.data) % tensorMapAlign != 0)
    return false;
  for (size_t i = 0; i < rank; ++i) {
    if (tensor.shape[i] < 1 || tensor.shape[i] > maxExtent)
      return false;
    // The stride of a dimension with one element is never used.
    if (tensor.shape[i] == 1)
      continue;
    if (i + 1 == rank) {
      if (tensor.strides[i] != 1)
        return false;
      continue;
    }
    int64_t bytes = 0;
    if (tensor.strides[i] < 0 ||
        __builtin_mul_overflow(tensor.strides[i], sizeOf(tensor.dtype),
                               &bytes) ||
        bytes % tensorMapAlign != 0 || bytes >= maxStride)
      return false;
  }
  return true;
}

Result<TensorMap> encodeTensorMap(const CudaDriver &driver,
                                  const PlannedMap &map, void *data) {
  const TensorView &tensor = map.tensor;
  size_t rank = tensor.shape.size();
  // The driver counts dimensions from the contiguous one, whose stride it does
  // not ask for.
  std::array<uint64_t, maxRank> extents = {}, strides = {};
  std::array<uint32_t, maxRank> box = {}, steps = {};
  for (size_t i = 0; i < rank; ++i) {
    size_t from = rank - 1 - i;
    extents[i] = static_cast<uint64_t>(tensor.shape[from]);
    box[i] = static_cast<uint32_t>(map.box[from]);
    steps[i] = 1;
    if (i > 0)
      strides[i - 1] = tensor.shape[from] == 1
                           ? static_cast<uint64_t>(tensorMapAlign)
                           : static_cast<uint64_t>(tensor.strides[from] *
                                                   sizeOf(tensor.dtype));
  }
  TensorMap result;
  CuResult status = driver.cuTensorMapEncodeTiled(
      result.bytes.data(), typeOf(tensor.dtype).value_or(0),
      static_cast<uint32_t>(rank), data, extents.data(), strides.data(),
      box.data(), steps.data(), interleaveNone,
      map.isSwizzled ? swizzle128Bytes : swizzleNone, promote128Bytes,
      fillZero);
  if (Status s = driver.check(status, "cannot describe a tensor to TMA");
      !s.ok())
    return s;
  return result;
}

Status TensorMapCache::get(const CudaDriver &driver, void *data,
                           TensorMap &out) {
  std::lock_guard lock(mutex);
  auto found = std::ranges::find(addresses, data);
  if (found != addresses.end()) {
    out = maps[static_cast<size_t>(found - addresses.begin())];
    return Status();
  }
  Result<TensorMap> encoded = encodeTensorMap(driver, map, data);
  if (!encoded.ok())
    return encoded.status();
  out = *encoded;
  if (addresses.size() < capacity) {
    addresses.push_back(data);
    maps.push_back(out);
    return Status();
  }
  addresses[oldest] = data;
  maps[oldest] = out;
  oldest = (oldest + 1) % capacity;
  return Status();
}

} // namespace selvedge::inline runtime
