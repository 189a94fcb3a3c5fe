// Counters that kernels hand out tiles with.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H
#define SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H

#include "selvedge/Device.h"

#include <mutex>
#include <unordered_map>

namespace selvedge::inline runtime {

/// A pool of 32-bit counters on the GPU. Each is 0 between launches, which set
/// it back themselves, and serves one launch at a time: launches of one stream
/// follow each other and share one; a launch that is captured into a graph has
/// one of its own, because the graph may run beside anything.
class LaunchCounters {
public:
  /// Allocates the pool. Not while a stream of the context is captured.
  static Result<std::unique_ptr<LaunchCounters>> create(const Device &device);

  /// Address of the counter of a launch on `stream`. Thread-safe. Unavailable
  /// once more launches were captured than the pool has counters.
  Result<uint64_t> take(void *stream);

private:
  explicit LaunchCounters(const Device &device) : device(device) {}
  uint64_t addressOf(size_t index) const;

  Device device;
  DeviceBuffer buffer;
  std::mutex mutex;
  /// By the stream's id, which is never used again.
  std::unordered_map<unsigned long long, size_t> ofStream;
  /// Streams take from the front, captured launches from the back.
  size_t streams = 0, captured = 0;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H
