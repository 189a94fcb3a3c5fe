// Integers of a tensor in device memory, checked there.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_DEVICEINTEGERS_H
#define SELVEDGE_RUNTIME_SRC_DEVICEINTEGERS_H

#include "runtime/src/IntegerScan.h"
#include "runtime/src/PromiseKernels.h"
#include "runtime/src/TensorWalk.h"

namespace selvedge::inline runtime {

/// Scans run on a stream, in the device's context, which is current, and wait
/// for it. Unavailable where the GPU cannot check the tensor.
class DeviceIntegers : public IntegerScan {
public:
  /// An error of the copy if the tensor's ends cannot be read.
  static Result<DeviceIntegers> create(PromiseKernels &kernels,
                                       const TensorView &tensor, void *stream);

  Result<Breach> outside(int64_t lo, int64_t hi) override;
  Result<Breach> descending() override;
  Result<Breach> repeated() override;
  Result<int64_t> at(int64_t position) override;
  Result<int64_t> find(int64_t value) override;

private:
  DeviceIntegers(PromiseKernels &kernels, const PromiseKernels::Code &code,
                 const TensorView &tensor, TensorWalk walk, void *stream)
      : kernels(kernels), code(code), tensor(tensor), walk(std::move(walk)),
        stream(stream) {}

  Result<Breach> ask(const Question &question);
  /// Launches a kernel; `params` follow those that all kernels have. A table of
  /// `slots` words, all ones, is the first of them if there are any.
  Result<Breach> launch(const Kernel &kernel, std::span<const uint64_t> params,
                        uint64_t slots);
  /// The elements at two distances from the tensor's address.
  Result<std::vector<int64_t>> read(int64_t first, int64_t second) const;

  PromiseKernels &kernels;
  const PromiseKernels::Code &code;
  const TensorView &tensor;
  TensorWalk walk;
  void *stream;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_DEVICEINTEGERS_H
