// GPUs, their memory, streams and events.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DEVICE_H
#define SELVEDGE_DEVICE_H

#include "selvedge/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace selvedge::inline runtime {

class DeviceBuffer;
struct DeviceState;

/// A GPU and one context on it, shared by copies of this object. Streams and
/// memory that ops on it take belong to that context.
class Device {
public:
  /// Number of GPUs; Unavailable, with the reason, where there is no driver.
  static Result<int> count();
  /// Opens GPU `ordinal` with its primary context, which the CUDA runtime and
  /// all that is made with it (PyTorch, cuBLAS) use.
  static Result<Device> open(int ordinal = 0);
  /// The GPU of `context` (a CUcontext) with that context, which has to outlive
  /// all copies.
  static Result<Device> ofContext(void *context);

  /// Its number, as the driver counts.
  int ordinal() const;
  /// The context (a CUcontext).
  void *context() const;

  /// Marketing name.
  const std::string &name() const;
  /// Compute capability: 9.0 is {9, 0}.
  std::pair<int, int> capability() const;
  /// Bytes of memory.
  uint64_t memoryBytes() const;
  /// Number of multiprocessors.
  int multiprocessors() const;
  /// Bytes of shared memory that one block can have at most.
  int sharedMemoryPerBlock() const;
  /// 13000 for CUDA 13.0.
  int driverVersion() const;

  /// Allocates memory; at least one byte.
  Result<DeviceBuffer> allocate(uint64_t bytes) const;
  /// Copies to device memory and waits.
  Status copyTo(void *target, std::span<const std::byte> source) const;
  /// Copies from device memory and waits.
  Status copyFrom(std::span<std::byte> target, const void *source) const;
  /// Copies within device memory, after what is on the default stream and
  /// before what follows there; does not wait.
  Status copyWithin(void *target, const void *source, uint64_t bytes) const;
  /// Waits for all work; reports errors of earlier launches.
  Status synchronize() const;

  /// Creates a stream (a CUstream); destroyStream() ends it.
  Result<void *> createStream() const;
  /// Destroys a stream of createStream().
  Status destroyStream(void *stream) const;
  /// Creates an event (a CUevent).
  Result<void *> createEvent() const;
  /// Destroys an event of createEvent().
  Status destroyEvent(void *event) const;
  /// Records an event on a stream.
  Status recordEvent(void *event, void *stream) const;
  /// Waits for `end` and returns the milliseconds since `start`.
  Result<float> elapsedMs(void *start, void *end) const;

  /// The driver and context, for the runtime itself.
  const std::shared_ptr<DeviceState> &state() const { return shared; }

private:
  std::shared_ptr<DeviceState> shared;
};

/// Device memory that is freed with this object.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  /// The address.
  void *data() const { return address; }
  /// Bytes.
  uint64_t size() const { return bytes; }

private:
  friend class Device;
  std::shared_ptr<DeviceState> owner;
  void *address = nullptr;
  uint64_t bytes = 0;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_DEVICE_H
