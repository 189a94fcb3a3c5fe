// Counters that kernels hand out tiles with.
// SPDX-License-Identifier: MIT
#include "runtime/src/LaunchCounters.h"

#include "runtime/src/DeviceState.h"

#include <array>
#include <cstddef>

namespace selvedge::inline runtime {

namespace {

constexpr size_t poolSize = 8192;

Status exhausted() {
  return Status::unavailable(
      "no counter is left: too many launches of this op were captured into "
      "graphs; load the op again for more");
}

} // namespace

Result<std::unique_ptr<LaunchCounters>>
LaunchCounters::create(const Device &device) {
  std::unique_ptr<LaunchCounters> pool(new LaunchCounters(device));
  std::array<uint32_t, poolSize> zeros = {};
  Result<DeviceBuffer> buffer = device.allocate(sizeof(zeros));
  if (!buffer.ok())
    return buffer.status();
  pool->buffer = std::move(*buffer);
  if (Status s =
          device.copyTo(pool->buffer.data(), std::as_bytes(std::span(zeros)));
      !s.ok())
    return s;
  // The copy may still be on its way, and launches on other streams would not
  // wait for it.
  if (Status s = device.synchronize(); !s.ok())
    return s;
  return pool;
}

uint64_t LaunchCounters::addressOf(size_t index) const {
  return reinterpret_cast<uintptr_t>(buffer.data()) + index * sizeof(uint32_t);
}

Result<uint64_t> LaunchCounters::take(void *stream) {
  const CudaDriver &driver = *device.state()->driver;
  int capture = 0;
  unsigned long long id = 0;
  if (Status s =
          driver.check(driver.cuStreamIsCapturing(stream, &capture),
                       "cannot tell whether the launch's stream is captured");
      !s.ok())
    return s;
  std::lock_guard lock(mutex);
  if (capture != 0) {
    if (streams + captured == poolSize)
      return exhausted();
    return addressOf(poolSize - ++captured);
  }
  if (Status s = driver.check(driver.cuStreamGetId(stream, &id),
                              "cannot identify the launch's stream");
      !s.ok())
    return s;
  if (auto known = ofStream.find(id); known != ofStream.end())
    return addressOf(known->second);
  if (streams + captured == poolSize) {
    // Once all work is done, counters of streams are free again.
    if (Status s = device.synchronize(); !s.ok())
      return s;
    ofStream.clear();
    streams = 0;
    if (captured == poolSize)
      return exhausted();
  }
  ofStream[id] = streams;
  return addressOf(streams++);
}

} // namespace selvedge::inline runtime
