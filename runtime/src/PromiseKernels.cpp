// The kernels that check promises, and memory for them.
// SPDX-License-Identifier: MIT
#include "runtime/src/PromiseKernels.h"

#include "runtime/src/DeviceState.h"
#include "runtime/src/TensorWalk.h"

#include <map>

namespace selvedge::inline runtime {

namespace {

constexpr const char *ptx =
#include "runtime/src/PromisesPtx.inc"
    ;

/// Bytes of memory that is kept: allocating takes longer than most checks.
constexpr uint64_t keptBytes = 64 * 1024;

/// By context. An op keeps the ones of its context, which outlives it.
struct Registry {
  std::mutex mutex;
  std::map<void *, std::weak_ptr<PromiseKernels>> kernels;
};

Registry &registry() {
  static Registry all;
  return all;
}

} // namespace

std::vector<uint64_t> Question::params() const {
  return {static_cast<uint64_t>(lo), static_cast<uint64_t>(hi),
          uint64_t(isOrder ? 2 : 1), uint64_t(isInside)};
}

std::vector<uint64_t> tensorParams(const TensorView &tensor,
                                   const TensorWalk &walk, CuPointer inner,
                                   CuPointer found) {
  return {reinterpret_cast<uintptr_t>(tensor.data),
          uint64_t(tensor.dtype == DType::I64),
          static_cast<uint64_t>(walk.count),
          static_cast<uint64_t>(walk.outer),
          walk.inner.size() * sizeof(WalkDimension),
          inner,
          found};
}

PromiseKernels::Scratch::~Scratch() {
  if (isKept) {
    std::lock_guard lock(owner.mutex);
    owner.free.push_back(address);
    return;
  }
  const DeviceState &state = *owner.gpu.state();
  ContextScope scope(*state.driver, state.context);
  state.driver->cuMemFreeAsync(address, stream);
}

std::shared_ptr<PromiseKernels> PromiseKernels::of(const Device &device) {
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  std::weak_ptr<PromiseKernels> &known = all.kernels[device.context()];
  std::shared_ptr<PromiseKernels> kernels = known.lock();
  if (!kernels) {
    kernels.reset(new PromiseKernels(device));
    known = kernels;
  }
  return kernels;
}

PromiseKernels::~PromiseKernels() {
  const DeviceState &state = *gpu.state();
  ContextScope scope(*state.driver, state.context);
  for (CuPointer address : free)
    state.driver->cuMemFree_v2(address);
}

Result<PromiseKernels::Code> PromiseKernels::load() const {
  const CudaDriver &driver = *gpu.state()->driver;
  if (!driver.cuMemAllocAsync || !driver.cuMemFreeAsync)
    return Status::unavailable("the driver allocates no memory on streams");
  Result<Module> module = Module::load(gpu, ptx);
  if (!module.ok())
    return module.status();
  Result<Kernel> outside = module->kernel("selvedge_outside", 0);
  Result<Kernel> repeated = module->kernel("selvedge_repeated", 0);
  if (!outside.ok() || !repeated.ok())
    return (outside.ok() ? repeated : outside).status();
  return Code{std::move(*outside), std::move(*repeated)};
}

Result<const PromiseKernels::Code *> PromiseKernels::code() {
  std::lock_guard lock(mutex);
  if (!loaded)
    loaded = load();
  if (!loaded->ok())
    return Status::unavailable(loaded->status().message());
  return &loaded->value();
}

std::unique_ptr<PromiseKernels::Scratch>
PromiseKernels::allocate(uint64_t bytes, void *stream) {
  bool isKept = bytes <= keptBytes;
  const CudaDriver &driver = *gpu.state()->driver;
  CuPointer address = 0;
  std::lock_guard lock(mutex);
  if (isKept && !free.empty()) {
    address = free.back();
    free.pop_back();
  } else if (driver.cuMemAllocAsync(&address, isKept ? keptBytes : bytes,
                                    stream) != cuSuccess) {
    return nullptr;
  }
  return std::make_unique<Scratch>(*this, address, isKept, stream);
}

} // namespace selvedge::inline runtime
