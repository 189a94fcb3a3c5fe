// Loading libcuda.
// SPDX-License-Identifier: MIT
#include "runtime/src/CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>

namespace selvedge::inline runtime {

static_assert(sizeof(CuLaunchAttribute) == 72 &&
                  offsetof(CuLaunchAttribute, value) == 8 &&
                  sizeof(CuLaunchConfig) == 56 && sizeof(CuCopy2D) == 128 &&
                  offsetof(CuCopy2D, sourcePitch) == 48 &&
                  offsetof(CuCopy2D, width) == 112,
              "as in cuda.h");

namespace {

Result<CudaDriver> loadDriver() {
  // Never closed: other users of the driver in the process may depend on it.
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    return Status::unavailable(
        fmt::format("no CUDA driver: {}", reason ? reason : "libcuda.so.1"));
  }
  CudaDriver driver;
#define SELVEDGE_CUDA_LOAD(name, parameters)                                   \
  driver.name =                                                                \
      reinterpret_cast<CuResult(*) parameters>(::dlsym(library, #name));       \
  if (!driver.name)                                                            \
    return Status::unavailable("the CUDA driver is too old: no " #name);
  SELVEDGE_CUDA_FUNCTIONS(SELVEDGE_CUDA_LOAD)
#undef SELVEDGE_CUDA_LOAD
#define SELVEDGE_CUDA_LOAD(name, parameters)                                   \
  driver.name =                                                                \
      reinterpret_cast<CuResult(*) parameters>(::dlsym(library, #name));
  SELVEDGE_CUDA_OPTIONAL_FUNCTIONS(SELVEDGE_CUDA_LOAD)
#undef SELVEDGE_CUDA_LOAD
  Status status = driver.check(driver.cuInit(0), "cannot initialise CUDA");
  if (!status.ok())
    return Status::unavailable(status.message());
  status = driver.check(driver.cuDriverGetVersion(&driver.version),
                        "cannot tell the version of the CUDA driver");
  if (!status.ok())
    return Status::unavailable(status.message());
  auto isSet = [](const char *name) {
    const char *value = std::getenv(name);
    return value && std::string_view(value) == "1";
  };
  if (isSet("SELVEDGE_PLAIN_LAUNCHES"))
    driver.cuLaunchKernelEx = nullptr;
  if (isSet("SELVEDGE_HOST_VALIDATION"))
    driver.cuMemAllocAsync = nullptr;
  return driver;
}

} // namespace

Result<const CudaDriver *> CudaDriver::get() {
  static const Result<CudaDriver> driver = loadDriver();
  if (!driver.ok())
    return driver.status();
  return &*driver;
}

Status CudaDriver::check(CuResult result, std::string_view what) const {
  if (result == cuSuccess)
    return Status();
  const char *name = nullptr;
  const char *description = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &description);
  std::string message =
      fmt::format("{}: {} ({})", what, name ? name : "unknown CUDA error",
                  description ? description : fmt::format("{}", result));
  // Too large a tensor is the caller's to change.
  return result == cuErrorOutOfMemory ? Status::badInput(message)
                                      : Status::failed(message);
}

bool CudaDriver::startsDependents(CuHandle stream) const {
  constexpr int firstWithEdges = 12030;
  int capture = 0;
  return cuLaunchKernelEx &&
         (version >= firstWithEdges ||
          (cuStreamIsCapturing(stream, &capture) == cuSuccess && capture == 0));
}

Status CudaDriver::checkOn(CuHandle stream, CuHandle context, CuResult result,
                           std::string_view what) const {
  if (result == cuSuccess)
    return Status();
  CuHandle owner = context;
  if (stream && cuStreamGetCtx)
    cuStreamGetCtx(stream, &owner);
  if (owner == context)
    return check(result, what);
  return Status::badInput(fmt::format(
      "{}: the stream belongs to another CUDA context than the op; load the op "
      "with Device::ofContext()",
      what));
}

Result<bool> CudaDriver::isCaptured(CuHandle stream, CuHandle context) const {
  int capture = 0;
  if (Status s = checkOn(stream, context, cuStreamIsCapturing(stream, &capture),
                         "cannot tell whether the launch's stream is captured");
      !s.ok())
    return s;
  return capture != 0;
}

} // namespace selvedge::inline runtime
