// GPUs, their memory, streams and events.
// SPDX-License-Identifier: MIT
#include "selvedge/Device.h"

#include "runtime/src/DeviceState.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace selvedge::inline runtime {

namespace {

CuPointer toCuda(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

Status readProperties(DeviceState &state) {
  const CudaDriver &driver = *state.driver;
  std::array<char, 256> name = {};
  auto attribute = [&](int &out, int which) {
    return driver.cuDeviceGetAttribute(&out, which, state.device);
  };
  for (CuResult result :
       {driver.cuDeviceGetName(name.data(), int(name.size()) - 1, state.device),
        attribute(state.major, cuAttributeComputeCapabilityMajor),
        attribute(state.minor, cuAttributeComputeCapabilityMinor),
        attribute(state.multiprocessors, cuAttributeMultiprocessorCount),
        attribute(state.smemPerBlock, cuAttributeMaxSharedMemoryPerBlockOptin),
        driver.cuDriverGetVersion(&state.driverVersion),
        driver.cuDeviceTotalMem_v2(&state.memoryBytes, state.device)})
    if (Status s = driver.check(result, "cannot query the GPU"); !s.ok())
      return s;
  state.name = name.data();
  return Status();
}

/// Runs `call` in the device's context.
template <typename Fn>
Status inContext(const DeviceState &state, const char *what, Fn call) {
  ContextScope scope(*state.driver, state.context);
  if (Status status = scope.status(); !status.ok())
    return status;
  return state.driver->check(call(*state.driver), what);
}

} // namespace

Result<int> Device::count() {
  Result<const CudaDriver *> driver = CudaDriver::get();
  if (!driver.ok())
    return driver.status();
  int number = 0;
  Status status = (*driver)->check((*driver)->cuDeviceGetCount(&number),
                                   "cannot count the GPUs");
  if (!status.ok())
    return status;
  return number;
}

Result<Device> Device::open(int ordinal) {
  Result<int> number = count();
  if (!number.ok())
    return number.status();
  if (ordinal < 0 || ordinal >= *number)
    return Status::unavailable(
        fmt::format("there is no GPU {}: {} found", ordinal, *number));
  auto state = std::make_shared<DeviceState>();
  state->driver = *CudaDriver::get();
  state->ordinal = ordinal;
  const CudaDriver &driver = *state->driver;
  Status status = driver.check(driver.cuDeviceGet(&state->device, ordinal),
                               "cannot open the GPU");
  if (status.ok())
    status = readProperties(*state);
  if (status.ok())
    status = driver.check(
        driver.cuDevicePrimaryCtxRetain(&state->context, state->device),
        "cannot create a CUDA context");
  if (!status.ok())
    return Status::unavailable(status.message());
  state->isPrimary = true;
  Device device;
  device.shared = std::move(state);
  return device;
}

Result<Device> Device::ofContext(void *context) {
  if (!context)
    return Status::badInput("the CUDA context is null");
  Result<int> number = count();
  if (!number.ok())
    return number.status();
  auto state = std::make_shared<DeviceState>();
  state->driver = *CudaDriver::get();
  state->context = context;
  const CudaDriver &driver = *state->driver;
  Status status = inContext(*state, "cannot tell the GPU of a CUDA context",
                            [&](const CudaDriver &driver) {
                              return driver.cuCtxGetDevice(&state->device);
                            });
  for (int i = 0; status.ok() && i < *number; ++i) {
    CuDevice device = 0;
    status = driver.check(driver.cuDeviceGet(&device, i), "cannot open a GPU");
    if (device == state->device)
      state->ordinal = i;
  }
  if (status.ok())
    status = readProperties(*state);
  if (!status.ok())
    return status;
  Device device;
  device.shared = std::move(state);
  return device;
}

int Device::ordinal() const { return shared->ordinal; }
void *Device::context() const { return shared->context; }

const std::string &Device::name() const { return shared->name; }
std::pair<int, int> Device::capability() const {
  return {shared->major, shared->minor};
}
uint64_t Device::memoryBytes() const { return shared->memoryBytes; }
int Device::multiprocessors() const { return shared->multiprocessors; }
int Device::sharedMemoryPerBlock() const { return shared->smemPerBlock; }
int Device::driverVersion() const { return shared->driverVersion; }

Result<DeviceBuffer> Device::allocate(uint64_t bytes) const {
  CuPointer pointer = 0;
  std::string what = fmt::format("cannot allocate {} bytes on the GPU", bytes);
  Status status =
      inContext(*shared, what.c_str(), [&](const CudaDriver &driver) {
        return driver.cuMemAlloc_v2(&pointer, std::max<uint64_t>(bytes, 1));
      });
  if (!status.ok())
    return status;
  DeviceBuffer buffer;
  buffer.owner = shared;
  buffer.address = reinterpret_cast<void *>(static_cast<uintptr_t>(pointer));
  buffer.bytes = bytes;
  return buffer;
}

Status Device::copyTo(void *target, std::span<const std::byte> source) const {
  if (source.empty())
    return Status();
  return inContext(*shared, "cannot copy to the GPU",
                   [&](const CudaDriver &driver) {
                     return driver.cuMemcpyHtoD_v2(
                         toCuda(target), source.data(), source.size());
                   });
}

Status Device::copyFrom(std::span<std::byte> target, const void *source) const {
  if (target.empty())
    return Status();
  return inContext(*shared, "cannot copy from the GPU",
                   [&](const CudaDriver &driver) {
                     return driver.cuMemcpyDtoH_v2(
                         target.data(), toCuda(source), target.size());
                   });
}

Status Device::copyWithin(void *target, const void *source,
                          uint64_t bytes) const {
  return inContext(*shared, "cannot copy on the GPU",
                   [&](const CudaDriver &driver) {
                     return driver.cuMemcpyDtoDAsync_v2(
                         toCuda(target), toCuda(source), bytes, nullptr);
                   });
}

Status Device::synchronize() const {
  return inContext(
      *shared, "the GPU reports an error",
      [](const CudaDriver &driver) { return driver.cuCtxSynchronize(); });
}

Result<void *> Device::createStream() const {
  constexpr unsigned nonBlocking = 1;
  void *stream = nullptr;
  Status status = inContext(
      *shared, "cannot create a stream", [&](const CudaDriver &driver) {
        return driver.cuStreamCreate(&stream, nonBlocking);
      });
  if (!status.ok())
    return status;
  return stream;
}

Status Device::destroyStream(void *stream) const {
  return inContext(*shared, "cannot destroy a stream",
                   [&](const CudaDriver &driver) {
                     return driver.cuStreamDestroy_v2(stream);
                   });
}

Result<void *> Device::createEvent() const {
  void *event = nullptr;
  Status status = inContext(*shared, "cannot create an event",
                            [&](const CudaDriver &driver) {
                              return driver.cuEventCreate(&event, 0);
                            });
  if (!status.ok())
    return status;
  return event;
}

Status Device::destroyEvent(void *event) const {
  return inContext(*shared, "cannot destroy an event",
                   [&](const CudaDriver &driver) {
                     return driver.cuEventDestroy_v2(event);
                   });
}

Status Device::recordEvent(void *event, void *stream) const {
  return inContext(*shared, "cannot record an event",
                   [&](const CudaDriver &driver) {
                     return driver.cuEventRecord(event, stream);
                   });
}

Result<float> Device::elapsedMs(void *start, void *end) const {
  float milliseconds = 0;
  Status status = inContext(
      *shared, "cannot wait for an event", [&](const CudaDriver &driver) {
        CuResult result = driver.cuEventSynchronize(end);
        return result != cuSuccess
                   ? result
                   : driver.cuEventElapsedTime(&milliseconds, start, end);
      });
  if (!status.ok())
    return status;
  return milliseconds;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept {
  *this = std::move(other);
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!address)
    return;
  ContextScope scope(*owner->driver, owner->context);
  owner->driver->cuMemFree_v2(toCuda(address));
}

} // namespace selvedge::inline runtime
