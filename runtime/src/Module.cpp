// Loading code and launching single kernels.
// SPDX-License-Identifier: MIT
#include "selvedge/Module.h"

#include "runtime/src/DeviceState.h"
#include "selvedge/Ptxas.h"

#include <fmt/format.h>
#include <vector>

namespace selvedge::inline runtime {

/// A module in a context.
struct ModuleState {
  std::shared_ptr<DeviceState> device;
  CuHandle handle = nullptr;

  ModuleState() = default;
  ModuleState(const ModuleState &) = delete;
  ModuleState &operator=(const ModuleState &) = delete;
  ~ModuleState() {
    if (!handle)
      return;
    ContextScope scope(*device->driver, device->context);
    device->driver->cuModuleUnload(handle);
  }
};

namespace {

/// Dynamic shared memory that every kernel has without asking.
constexpr int64_t defaultSmemBytes = 48 * 1024;

} // namespace

Result<Module> Module::load(const Device &device, const std::string &image) {
  auto state = std::make_shared<ModuleState>();
  state->device = device.state();
  const CudaDriver &driver = *state->device->driver;
  ContextScope scope(driver, state->device->context);
  if (Status s = scope.status(); !s.ok())
    return s;
  std::array<char, 4096> log = {};
  std::array<int, 2> options = {cuJitErrorLogBuffer,
                                cuJitErrorLogBufferSizeBytes};
  std::array<void *, 2> values = {log.data(),
                                  reinterpret_cast<void *>(log.size())};
  // A std::string ends in a zero byte, which is how the driver finds the end
  // of PTX; a cubin carries its size.
  CuResult result =
      driver.cuModuleLoadDataEx(&state->handle, image.data(), options.size(),
                                options.data(), values.data());
  std::string what = "cannot load the code on the GPU";
  if (log[0])
    what += fmt::format(" [{}]", log.data());
  if (Status s = driver.check(result, what); !s.ok()) {
    state->handle = nullptr;
    return s;
  }
  Module module;
  module.state = std::move(state);
  module.path =
      image.starts_with("\177ELF") ? "cubin" : "ptx assembled by the driver";
  return module;
}

Result<Module> Module::loadPtx(const Device &device, const std::string &ptx,
                               const std::string &arch) {
  Result<std::string> cubin = assemblePtx(ptx, arch);
  Status refusal = cubin.status();
  if (cubin.ok()) {
    Result<Module> module = load(device, *cubin);
    if (module.ok()) {
      module->path = "ptx assembled by ptxas";
      return module;
    }
    refusal = module.status();
  }
  // The driver can stand in for a ptxas that is missing, too old for
  // this GPU, or newer than the driver understands.
  Result<Module> module = load(device, ptx);
  if (module.ok())
    return module;
  return Status(module.status().code(),
                fmt::format("{}; before that, with ptxas: {}",
                            module.status().message(), refusal.message()));
}

Result<Kernel> Module::kernel(const std::string &name,
                              int64_t smemBytes) const {
  const CudaDriver &driver = *state->device->driver;
  ContextScope scope(driver, state->device->context);
  if (Status s = scope.status(); !s.ok())
    return s;
  Kernel kernel;
  kernel.module = state;
  kernel.name = name;
  kernel.smemBytes = static_cast<uint32_t>(smemBytes);
  CuResult result =
      driver.cuModuleGetFunction(&kernel.function, state->handle, name.c_str());
  if (Status s =
          driver.check(result, fmt::format("cannot find kernel '{}'", name));
      !s.ok())
    return s;
  if (smemBytes <= defaultSmemBytes)
    return kernel;
  result = driver.cuFuncSetAttribute(kernel.function,
                                     cuFuncAttributeMaxDynamicSharedSizeBytes,
                                     static_cast<int>(smemBytes));
  if (Status s = driver.check(
          result, fmt::format("kernel '{}' needs {} bytes of shared memory",
                              name, smemBytes));
      !s.ok())
    return s;
  return kernel;
}

Status Kernel::launch(const LaunchShape &shape, std::span<uint64_t> params,
                      void *stream) const {
  std::vector<void *> pointers;
  pointers.reserve(params.size());
  for (uint64_t &slot : params)
    pointers.push_back(&slot);
  return launch(shape, std::span<void *>(pointers), stream);
}

Status Kernel::launch(const LaunchShape &shape, std::span<void *> params,
                      void *stream) const {
  const DeviceState &device = *module->device;
  ContextScope scope(*device.driver, device.context);
  if (Status s = scope.status(); !s.ok())
    return s;
  const CudaDriver &driver = *device.driver;
  CuResult result = cuSuccess;
  if (shape.isDependent && driver.startsDependents(stream)) {
    CuLaunchAttribute early{cuLaunchAttributeProgrammaticStreamSerialization,
                            1};
    CuLaunchConfig config{
        shape.grid, {shape.block, 1, 1}, smemBytes, stream, &early, 1};
    result = driver.cuLaunchKernelEx(&config, function, params.data(), nullptr);
  } else {
    result = driver.cuLaunchKernel(function, shape.grid[0], shape.grid[1],
                                   shape.grid[2], shape.block, 1, 1, smemBytes,
                                   stream, params.data(), nullptr);
  }
  if (result == cuSuccess)
    return Status();
  return device.driver->checkOn(stream, device.context, result,
                                fmt::format("cannot launch kernel '{}'", name));
}

} // namespace selvedge::inline runtime
