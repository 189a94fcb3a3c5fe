// Milliseconds of an op on a GPU.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/BenchTiming.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace selvedge::cli {

namespace {

/// A batch is long beside the resolution of events and the time of one launch.
constexpr double batchMs = 10;
constexpr int64_t numBatches = 7, maxLaunches = 2000, warmUp = 3;

/// A stream with two events, released with it.
class StopWatch {
public:
  explicit StopWatch(const Device &device) : device(device) {}
  StopWatch(const StopWatch &) = delete;
  StopWatch &operator=(const StopWatch &) = delete;
  ~StopWatch() {
    for (void *event : {start, end})
      if (event)
        (void)device.destroyEvent(event);
    if (stream)
      (void)device.destroyStream(stream);
  }

  Status open() {
    Result<void *> made = device.createStream();
    if (!made.ok())
      return made.status();
    stream = *made;
    for (void **event : {&start, &end}) {
      made = device.createEvent();
      if (!made.ok())
        return made.status();
      *event = *made;
    }
    return Status();
  }

  /// Milliseconds of `count` launches, all together.
  Result<float> launch(const Op &op, const LaunchArgs &args, int64_t count) {
    Status status = device.recordEvent(start, stream);
    for (int64_t i = 0; status.ok() && i < count; ++i)
      status = op.launch(args, stream);
    if (status.ok())
      status = device.recordEvent(end, stream);
    if (!status.ok())
      return status;
    return device.elapsedMs(start, end);
  }

private:
  const Device &device;
  void *stream = nullptr, *start = nullptr, *end = nullptr;
};

} // namespace

Result<BenchArgs> BenchArgs::place(const Problem &problem,
                                   const Device &device) {
  BenchArgs result(device);
  for (const ManifestTensor &tensor : problem.signature.tensors) {
    auto given = problem.inputs.find(tensor.name);
    bool isGiven = given != problem.inputs.end();
    bool isWritten = tensor.role == Role::Out || tensor.role == Role::InOut;
    if (tensor.role == Role::Temp || (!isGiven && !isWritten))
      continue;
    Result<std::vector<int64_t>> shape =
        shapeOf(problem.signature, tensor, problem.dims);
    if (!shape.ok())
      return shape.status();
    Result<int64_t> bytes = byteCount(tensor.dtype, *shape);
    if (!bytes.ok())
      return bytes.status();
    Result<DeviceBuffer> buffer =
        device.allocate(static_cast<uint64_t>(*bytes));
    Status status = buffer.status();
    if (status.ok() && isGiven)
      status = device.copyTo(buffer->data(), given->second.data);
    if (!status.ok())
      return Status(status.code(), fmt::format("tensor '{}': {}", tensor.name,
                                               status.message()));
    result.args.tensors[tensor.name] =
        contiguousView(buffer->data(), tensor.dtype, *shape);
    result.buffers.push_back(std::move(*buffer));
  }
  result.args.scalars = problem.scalars;
  result.args.dims = problem.givenDims();
  return result;
}

Status BenchArgs::reserve(const Op &op) {
  Result<uint64_t> bytes = op.workspaceSize(args);
  if (!bytes.ok() || *bytes <= args.workspaceBytes)
    return bytes.status();
  Result<DeviceBuffer> buffer = device.allocate(*bytes);
  if (!buffer.ok())
    return buffer.status();
  workspace = std::move(*buffer);
  args.workspace = workspace.data();
  args.workspaceBytes = *bytes;
  return Status();
}

Result<Timing> BenchArgs::time(const Op &op) {
  if (Status status = reserve(op); !status.ok())
    return status;
  Result<Plan> plan = planLaunch(op.manifest(), args, device.multiprocessors());
  if (!plan.ok())
    return plan.status();
  Timing timing;
  timing.variant = variantName(op.manifest(), *plan);
  for (const PlannedLaunch &planned : plan->launches)
    timing.kernels.push_back(planned.launch->kernel);
  StopWatch watch(device);
  if (Status status = watch.open(); !status.ok())
    return status;
  // The first launches load code and fill caches.
  Result<float> first = watch.launch(op, args, warmUp);
  if (first.ok())
    first = watch.launch(op, args, warmUp);
  if (!first.ok())
    return first.status();
  double estimate = std::max<double>(*first / warmUp, 1e-4);
  timing.launchesPerBatch = std::clamp<int64_t>(
      static_cast<int64_t>(std::ceil(batchMs / estimate)), 1, maxLaunches);
  std::vector<double> samples;
  for (int64_t i = 0; i < numBatches; ++i) {
    Result<float> ms = watch.launch(op, args, timing.launchesPerBatch);
    if (!ms.ok())
      return ms.status();
    samples.push_back(*ms / static_cast<double>(timing.launchesPerBatch));
  }
  std::sort(samples.begin(), samples.end());
  timing.batches = numBatches;
  timing.best = samples.front();
  timing.median = samples[samples.size() / 2];
  return timing;
}

} // namespace selvedge::cli
