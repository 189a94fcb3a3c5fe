// Counters that kernels hand out tiles with.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H
#define SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H

#include "runtime/src/CudaDriver.h"
#include "selvedge/Device.h"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace selvedge::inline runtime {

/// A pool of 32-bit counters on the GPU. Each is 0 between launches, which set
/// it back themselves, and serves one launch at a time: launches of one stream
/// follow each other and share one; a launch that is captured into a graph has
/// one of its own, because the graph may run beside anything. It is given back
/// when the last of that graph, its clones and executables is gone.
class LaunchCounters {
public:
  /// Allocates the pool. Not while a stream of the context is captured.
  static Result<std::unique_ptr<LaunchCounters>> create(const Device &device);

  /// Address of the counter of a launch on `stream`. Thread-safe. Unavailable
  /// while graphs hold all counters.
  Result<uint64_t> take(void *stream);

private:
  /// Positions in the pool that graphs do not hold; graphs outlive the pool.
  struct FreeList {
    std::mutex mutex;
    std::vector<size_t> positions;
  };
  /// A position that returns to the list when it is destroyed.
  struct Loan {
    std::shared_ptr<FreeList> list;
    size_t position;
    ~Loan();
  };

  explicit LaunchCounters(const Device &device) : device(device) {}
  uint64_t addressOf(size_t index) const;
  Result<uint64_t> takeForGraph(void *stream);
  Result<uint64_t> takeForStream(void *stream);
  /// Ties a loan to the graph that `stream` is captured into.
  Status keepWithGraph(std::unique_ptr<Loan> loan, void *stream);

  Device device;
  DeviceBuffer buffer;
  std::shared_ptr<FreeList> graphs;
  std::mutex mutex;
  /// By the stream's id, which is never used again.
  std::unordered_map<unsigned long long, size_t> ofStream;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_LAUNCHCOUNTERS_H
