// What an op requires, checked of the tensors of a launch.
// SPDX-License-Identifier: MIT
#include "runtime/src/ValidateLaunch.h"

#include "runtime/src/DeviceIntegers.h"
#include "runtime/src/DeviceState.h"
#include "runtime/src/FindLast.h"
#include "runtime/src/ReadIntegers.h"
#include "selvedge/Promises.h"

namespace selvedge::inline runtime {

namespace {

/// An error where `stream` is captured: nothing of it runs yet.
Status checkNotCaptured(const DeviceState &device, void *stream) {
  Result<bool> captured = device.driver->isCaptured(stream, device.context);
  if (!captured.ok())
    return captured.status();
  return *captured
             ? Status::badInput(
                   "a launch that is captured cannot be validated, as that "
                   "waits for the stream; validate one before the capture")
             : Status();
}

Status checkTensor(const Manifest &manifest, PromiseKernels &kernels,
                   const Plan &plan, size_t index, const TensorRef &argument,
                   void *stream) {
  const ManifestTensor &declared = manifest.tensors[index];
  TensorView tensor = toTensorView(argument);
  Result<std::vector<int64_t>> whole = shapeOf(manifest, declared, plan.dims);
  if (!whole.ok())
    return whole.status();
  broadcast(declared, *whole, tensor.shape, tensor.strides);
  Result<DeviceIntegers> integers =
      DeviceIntegers::create(kernels, tensor, stream);
  Status status = integers.ok() ? checkPromises(manifest, plan.dims, index,
                                                tensor.shape, *integers)
                                : integers.status();
  if (status.code() != ErrorCode::Unavailable)
    return status;
  Result<std::vector<int64_t>> values =
      readIntegers(*kernels.device().state(), tensor, stream);
  if (!values.ok())
    return values.status();
  return checkPromises(manifest, plan.dims, index, tensor.shape, *values);
}

} // namespace

Status validateLaunch(const Manifest &manifest, PromiseKernels &kernels,
                      const LaunchView &view, void *stream) {
  const DeviceState &device = *kernels.device().state();
  Result<Plan> plan = planLaunch(manifest, view, device.multiprocessors);
  if (!plan.ok())
    return plan.status();
  ContextScope scope(*device.driver, device.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  if (Status s = checkNotCaptured(device, stream); !s.ok())
    return s;
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    auto argument = findLast(view.tensors, manifest.tensors[i].name);
    if (!argument || !hasPromises(manifest, i))
      continue;
    if (Status s = checkTensor(manifest, kernels, *plan, i,
                               view.tensors[*argument], stream);
        !s.ok())
      return s;
  }
  return Status();
}

} // namespace selvedge::inline runtime
