// What a Device shares between its copies.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_DEVICESTATE_H
#define SELVEDGE_RUNTIME_SRC_DEVICESTATE_H

#include "runtime/src/CudaDriver.h"

#include <string>

namespace selvedge::inline runtime {

/// The driver, a GPU and a context on it.
struct DeviceState {
  const CudaDriver *driver = nullptr;
  CuDevice device = 0;
  CuHandle context = nullptr;
  int ordinal = 0;
  /// Whether the context is the GPU's primary one, retained here.
  bool isPrimary = false;
  std::string name;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  int smemPerBlock = 0;
  int driverVersion = 0;
  size_t memoryBytes = 0;

  DeviceState() = default;
  DeviceState(const DeviceState &) = delete;
  DeviceState &operator=(const DeviceState &) = delete;
  ~DeviceState() {
    if (isPrimary)
      driver->cuDevicePrimaryCtxRelease_v2(device);
  }
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_DEVICESTATE_H
