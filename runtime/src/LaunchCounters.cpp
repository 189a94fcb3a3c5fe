// Counters that kernels hand out tiles with.
// SPDX-License-Identifier: MIT
#include "runtime/src/LaunchCounters.h"

#include "runtime/src/DeviceState.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <numeric>

namespace selvedge::inline runtime {

namespace {

/// Counters of streams come first, those of graphs follow.
constexpr size_t streamCounters = 1024, graphCounters = 8192,
                 poolSize = streamCounters + graphCounters;

} // namespace

LaunchCounters::Loan::~Loan() {
  std::lock_guard lock(list->mutex);
  list->positions.push_back(position);
}

Result<std::unique_ptr<LaunchCounters>>
LaunchCounters::create(const Device &device) {
  std::unique_ptr<LaunchCounters> pool(new LaunchCounters(device));
  std::array<uint32_t, poolSize> zeros = {};
  Result<DeviceBuffer> buffer = device.allocate(sizeof(zeros));
  if (!buffer.ok())
    return buffer.status();
  pool->buffer = std::move(*buffer);
  pool->graphs = std::make_shared<FreeList>();
  // With room for all, so that giving one back cannot fail.
  pool->graphs->positions.resize(graphCounters);
  std::iota(pool->graphs->positions.rbegin(), pool->graphs->positions.rend(),
            streamCounters);
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
  const DeviceState &state = *device.state();
  Result<bool> captured = state.driver->isCaptured(stream, state.context);
  if (!captured.ok())
    return captured.status();
  return *captured ? takeForGraph(stream) : takeForStream(stream);
}

Result<uint64_t> LaunchCounters::takeForGraph(void *stream) {
  std::unique_ptr<Loan> loan;
  {
    std::lock_guard lock(graphs->mutex);
    if (graphs->positions.empty())
      return Status::unavailable(fmt::format(
          "no counter is left: graphs that exist hold {} launches of this op; "
          "destroy some, or load the op again for more",
          graphCounters));
    loan.reset(new Loan{graphs, graphs->positions.back()});
    graphs->positions.pop_back();
  }
  uint64_t address = addressOf(loan->position);
  if (Status s = keepWithGraph(std::move(loan), stream); !s.ok())
    return s;
  return address;
}

Status LaunchCounters::keepWithGraph(std::unique_ptr<Loan> loan, void *stream) {
  const CudaDriver &driver = *device.state()->driver;
  if (!driver.cuStreamGetCaptureInfo_v2 || !driver.cuUserObjectCreate ||
      !driver.cuUserObjectRelease || !driver.cuGraphRetainUserObject) {
    // Nobody tells when the graph is gone: it keeps the counter for good.
    loan.release();
    return Status();
  }
  constexpr const char *what = "cannot tie a counter to the captured graph";
  int capture = 0;
  unsigned long long id = 0;
  CuHandle graph = nullptr, object = nullptr;
  if (Status s =
          driver.check(driver.cuStreamGetCaptureInfo_v2(
                           stream, &capture, &id, &graph, nullptr, nullptr),
                       what);
      !s.ok())
    return s;
  auto giveBack = [](void *loan) { delete static_cast<Loan *>(loan); };
  if (Status s = driver.check(
          driver.cuUserObjectCreate(&object, loan.get(), giveBack, 1,
                                    cuUserObjectNoDestructorSync),
          what);
      !s.ok())
    return s;
  // From here on the driver owns it.
  loan.release();
  CuResult result =
      driver.cuGraphRetainUserObject(graph, object, 1, cuGraphUserObjectMove);
  if (result != cuSuccess)
    driver.cuUserObjectRelease(object, 1);
  return driver.check(result, what);
}

Result<uint64_t> LaunchCounters::takeForStream(void *stream) {
  unsigned long long id = 0;
  const CudaDriver &driver = *device.state()->driver;
  if (Status s = driver.check(driver.cuStreamGetId(stream, &id),
                              "cannot identify the launch's stream");
      !s.ok())
    return s;
  std::lock_guard lock(mutex);
  if (auto known = ofStream.find(id); known != ofStream.end())
    return addressOf(known->second);
  if (ofStream.size() == streamCounters) {
    // Once all work is done, counters of streams are free again.
    if (Status s = device.synchronize(); !s.ok())
      return s;
    ofStream.clear();
  }
  size_t position = ofStream.size();
  ofStream[id] = position;
  return addressOf(position);
}

} // namespace selvedge::inline runtime
