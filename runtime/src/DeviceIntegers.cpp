// Integers of a tensor in device memory, checked there.
// SPDX-License-Identifier: MIT
#include "runtime/src/DeviceIntegers.h"

#include "runtime/src/DeviceState.h"
#include "runtime/src/ReadIntegers.h"

#include <algorithm>
#include <array>
#include <limits>

namespace selvedge::inline runtime {

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                  greatest = std::numeric_limits<int64_t>::max();

/// They fill a multiprocessor.
constexpr int64_t blocksPerMultiprocessor = 8;

/// What kernels add to, ahead of the walk in device memory.
using Found = std::array<int64_t, 2>;

uint64_t bytesOf(const std::vector<int64_t> &words) {
  return words.size() * sizeof(int64_t);
}

} // namespace

Result<DeviceIntegers> DeviceIntegers::create(PromiseKernels &kernels,
                                              const TensorView &tensor,
                                              void *stream) {
  if (tensor.dtype != DType::I32 && tensor.dtype != DType::I64)
    return Status::unavailable("the kernels know i32 and i64");
  Result<TensorWalk> walk = walkThrough(tensor);
  if (!walk.ok())
    return Status::unavailable(walk.status().message());
  Result<const PromiseKernels::Code *> code = kernels.code();
  if (!code.ok())
    return code.status();
  DeviceIntegers integers(kernels, **code, tensor, std::move(*walk), stream);
  // A copy refuses an address that a kernel would lose the context over.
  if (integers.walk.count > 0)
    if (auto ends = integers.read(integers.walk.lowest, integers.walk.highest);
        !ends.ok())
      return ends.status();
  return integers;
}

Result<std::vector<int64_t>> DeviceIntegers::read(int64_t first,
                                                  int64_t second) const {
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  TensorView pair;
  pair.data = reinterpret_cast<void *>(address + static_cast<uint64_t>(first));
  pair.dtype = tensor.dtype;
  pair.shape = {2};
  pair.strides = {(second - first) / sizeOf(tensor.dtype)};
  return readIntegers(*kernels.device().state(), pair, stream);
}

Result<int64_t> DeviceIntegers::at(int64_t position) {
  int64_t offset = walk.offsetOf(position);
  Result<std::vector<int64_t>> element = read(offset, offset);
  if (!element.ok())
    return element.status();
  return element->front();
}

Result<Breach> DeviceIntegers::outside(int64_t lo, int64_t hi) {
  return ask({lo, hi});
}

Result<Breach> DeviceIntegers::descending() {
  return ask({least, greatest, /*isOrder=*/true});
}

Result<int64_t> DeviceIntegers::find(int64_t value) {
  Result<Breach> found =
      ask({value, value, /*isOrder=*/false, /*isInside=*/true});
  if (!found.ok())
    return found.status();
  return found->position;
}

Result<Breach> DeviceIntegers::ask(const Question &question) {
  return launch(code.outside, question.params(), /*slots=*/0);
}

Result<Breach> DeviceIntegers::repeated() {
  // Half of the slots stay free, so that few elements meet.
  uint64_t slots = 2 * static_cast<uint64_t>(walk.count);
  return launch(code.repeated, std::array{slots}, slots);
}

Result<Breach> DeviceIntegers::launch(const Kernel &kernel,
                                      std::span<const uint64_t> params,
                                      uint64_t slots) {
  if (walk.count == 0)
    return Breach();
  const DeviceState &device = *kernels.device().state();
  const CudaDriver &driver = *device.driver;
  std::vector<int64_t> head = {0, greatest};
  for (const WalkDimension &dimension : walk.inner)
    head.insert(head.end(), {dimension.extent, dimension.distance});
  uint64_t tableBytes = 0, bytes = 0;
  if (__builtin_mul_overflow(slots, sizeof(int64_t), &tableBytes) ||
      __builtin_add_overflow(tableBytes, bytesOf(head), &bytes))
    return Status::unavailable("the table is too large");
  auto scratch = kernels.allocate(bytes, stream);
  if (!scratch)
    return Status::unavailable("the GPU has no memory for a check");
  CuPointer found = scratch->data(), table = found + bytesOf(head);
  std::vector<uint64_t> all =
      tensorParams(tensor, walk, found + sizeof(Found), found);
  if (slots > 0)
    all.push_back(table);
  all.insert(all.end(), params.begin(), params.end());
  int64_t blocks =
      std::min((walk.count - 1) / PromiseKernels::threads + 1,
               blocksPerMultiprocessor * int64_t(device.multiprocessors));
  Found result = {};
  LaunchShape shape{{static_cast<uint32_t>(blocks), 1, 1},
                    PromiseKernels::threads};
  bool isDone =
      driver.cuMemcpyHtoDAsync_v2(found, head.data(), bytesOf(head), stream) ==
          cuSuccess &&
      (slots == 0 ||
       driver.cuMemsetD8Async(table, 0xFF, tableBytes, stream) == cuSuccess) &&
      kernel.launch(shape, all, stream).ok() &&
      driver.cuMemcpyDtoHAsync_v2(result.data(), found, sizeof(result),
                                  stream) == cuSuccess;
  // Memory of this call is in use until the stream is done.
  isDone &= driver.cuStreamSynchronize(stream) == cuSuccess;
  // The check on the host says what is wrong, if it meets it.
  if (!isDone)
    return Status::unavailable("the GPU cannot check the tensor");
  return Breach{result[0], result[1]};
}

} // namespace selvedge::inline runtime
