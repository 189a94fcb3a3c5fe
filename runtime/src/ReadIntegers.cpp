// Integers of a tensor in device memory, read by the host.
// SPDX-License-Identifier: MIT
#include "runtime/src/ReadIntegers.h"

#include "selvedge/Numeric.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace selvedge::inline runtime {

namespace {

/// The largest pitch of every driver (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
constexpr int64_t maxPitch = (int64_t(1) << 31) - 1;

/// A dimension along which memory has several elements.
struct Axis {
  size_t dimension = 0;
  int64_t extent = 1;
  /// Bytes; not negative.
  int64_t stride = 0;
  /// Distance in what was copied, in elements.
  int64_t packed = 0;
};

/// Copies the elements of a tensor, those with the lowest addresses first.
class Packer {
public:
  Packer(const CudaDriver &driver, const TensorView &tensor, void *stream)
      : driver(driver), tensor(tensor), stream(stream),
        size(sizeOf(tensor.dtype)) {}

  CuResult copy();
  /// What was copied, in the order of indices.
  std::vector<int64_t> inOrder() const;

private:
  CuResult copyFrom(size_t axis, int64_t source, std::byte *target) const;
  CuResult copyRows(const Axis &rows, int64_t source, std::byte *target) const;
  CuResult copyRun(int64_t source, std::byte *target) const;

  const CudaDriver &driver;
  const TensorView &tensor;
  void *stream;
  int64_t size;
  /// The nearest elements first; those of a run without gaps are not among
  /// `gaps`, which are the rest.
  std::vector<Axis> axes;
  std::span<const Axis> gaps;
  /// Bytes without a gap.
  int64_t run = 0;
  std::vector<std::byte> bytes;
};

CuResult Packer::copy() {
  int64_t first = 0;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t extent = tensor.shape[d], stride = 0, reach = 0;
    if (extent <= 1 || tensor.strides[d] == 0)
      continue;
    if (__builtin_mul_overflow(tensor.strides[d], size, &stride) ||
        __builtin_mul_overflow(stride, extent - 1, &reach) ||
        __builtin_add_overflow(first, std::min<int64_t>(reach, 0), &first))
      return cuErrorInvalidValue;
    axes.push_back({d, extent, std::abs(stride), 0});
  }
  std::ranges::sort(axes, {}, &Axis::stride);
  int64_t elements = 1;
  for (Axis &axis : axes) {
    axis.packed = elements;
    elements *= axis.extent;
  }
  bytes.resize(static_cast<size_t>(elements * size));
  run = size;
  gaps = axes;
  while (!gaps.empty() && gaps.front().stride == run) {
    run *= gaps.front().extent;
    gaps = gaps.subspan(1);
  }
  auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(tensor.data));
  return copyFrom(gaps.size(), address + first, bytes.data());
}

CuResult Packer::copyFrom(size_t axis, int64_t source,
                          std::byte *target) const {
  if (axis == 0)
    return copyRun(source, target);
  const Axis &outer = gaps[axis - 1];
  // Rows of a copy do not overlap.
  if (axis == 1 && outer.stride >= run && outer.stride <= maxPitch)
    return copyRows(outer, source, target);
  for (int64_t i = 0; i < outer.extent; ++i)
    if (CuResult result = copyFrom(axis - 1, source + i * outer.stride,
                                   target + i * outer.packed * size);
        result != cuSuccess)
      return result;
  return cuSuccess;
}

CuResult Packer::copyRows(const Axis &rows, int64_t source,
                          std::byte *target) const {
  CuCopy2D copy;
  copy.sourceType = cuMemoryTypeUnified;
  copy.source = static_cast<CuPointer>(source);
  copy.sourcePitch = static_cast<size_t>(rows.stride);
  copy.targetType = cuMemoryTypeHost;
  copy.targetHost = target;
  copy.targetPitch = copy.width = static_cast<size_t>(run);
  copy.height = static_cast<size_t>(rows.extent);
  return driver.cuMemcpy2DAsync_v2(&copy, stream);
}

CuResult Packer::copyRun(int64_t source, std::byte *target) const {
  return driver.cuMemcpyDtoHAsync_v2(target, static_cast<CuPointer>(source),
                                     static_cast<size_t>(run), stream);
}

std::vector<int64_t> Packer::inOrder() const {
  std::vector<int64_t> packed = toIntegers(tensor.dtype, bytes);
  std::vector<int64_t> steps(tensor.shape.size());
  int64_t place = 0;
  for (const Axis &axis : axes) {
    bool isBackwards = tensor.strides[axis.dimension] < 0;
    steps[axis.dimension] = isBackwards ? -axis.packed : axis.packed;
    if (isBackwards)
      place += (axis.extent - 1) * axis.packed;
  }
  int64_t count = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                  int64_t(1), std::multiplies<>());
  std::vector<int64_t> values, index(tensor.shape.size());
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(packed[static_cast<size_t>(place)]);
    for (size_t d = index.size(); d-- > 0;) {
      place += steps[d];
      if (++index[d] < tensor.shape[d])
        break;
      place -= index[d] * steps[d];
      index[d] = 0;
    }
  }
  return values;
}

} // namespace

Result<std::vector<int64_t>> readIntegers(const DeviceState &device,
                                          const TensorView &tensor,
                                          void *stream) {
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end())
    return std::vector<int64_t>();
  const CudaDriver &driver = *device.driver;
  Packer packer(driver, tensor, stream);
  CuResult result = packer.copy();
  // Copies that were made write to `packer` until the stream is done.
  CuResult end = driver.cuStreamSynchronize(stream);
  if (Status s = driver.checkOn(stream, device.context,
                                result != cuSuccess ? result : end,
                                "cannot copy from the GPU");
      !s.ok())
    return s;
  return packer.inOrder();
}

} // namespace selvedge::inline runtime
