// The CUDA driver API, loaded at run time.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_RUNTIME_SRC_CUDADRIVER_H
#define SELVEDGE_RUNTIME_SRC_CUDADRIVER_H

#include "selvedge/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace selvedge::inline runtime {

/// The driver's types, declared here so that no toolkit is needed to build.
using CuResult = int;
using CuDevice = int;
using CuPointer = unsigned long long;
using CuHandle = void *;

/// CUlaunchAttribute of cuda.h, with a value that is an int.
struct CuLaunchAttribute {
  int id = 0;
  alignas(8) int value = 0;
  std::array<std::byte, 60> rest = {};
};

/// CUlaunchConfig of cuda.h.
struct CuLaunchConfig {
  std::array<unsigned, 3> grid = {1, 1, 1};
  std::array<unsigned, 3> block = {1, 1, 1};
  unsigned sharedMemory = 0;
  CuHandle stream = nullptr;
  CuLaunchAttribute *attributes = nullptr;
  unsigned numAttributes = 0;
};

/// CUDA_MEMCPY2D of cuda.h.
struct CuCopy2D {
  size_t sourceX = 0, sourceY = 0;
  int sourceType = 0;
  const void *sourceHost = nullptr;
  CuPointer source = 0;
  CuHandle sourceArray = nullptr;
  size_t sourcePitch = 0;
  size_t targetX = 0, targetY = 0;
  int targetType = 0;
  void *targetHost = nullptr;
  CuPointer target = 0;
  CuHandle targetArray = nullptr;
  size_t targetPitch = 0;
  /// Bytes of a row, and rows.
  size_t width = 0, height = 0;
};

/// Values of cuda.h that this runtime uses.
enum : int {
  cuSuccess = 0,
  cuErrorInvalidValue = 1,
  cuErrorOutOfMemory = 2,
  cuAttributeMultiprocessorCount = 16,
  cuAttributeComputeCapabilityMajor = 75,
  cuAttributeComputeCapabilityMinor = 76,
  cuAttributeMaxSharedMemoryPerBlockOptin = 97,
  cuFuncAttributeMaxDynamicSharedSizeBytes = 8,
  cuJitErrorLogBuffer = 5,
  cuJitErrorLogBufferSizeBytes = 6,
  cuMemoryTypeHost = 1,
  cuMemoryTypeUnified = 4,
  cuLaunchAttributeProgrammaticStreamSerialization = 6,
  cuUserObjectNoDestructorSync = 1,
  cuGraphUserObjectMove = 1
};

/// Every function that this runtime calls: name in libcuda, result and
/// parameters. The "_v2" names are the ones that cuda.h maps the plain names
/// to.
#define SELVEDGE_CUDA_FUNCTIONS(X)                                             \
  X(cuInit, (unsigned))                                                        \
  X(cuDriverGetVersion, (int *))                                               \
  X(cuGetErrorName, (CuResult, const char **))                                 \
  X(cuGetErrorString, (CuResult, const char **))                               \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDeviceGet, (CuDevice *, int))                                            \
  X(cuDeviceGetName, (char *, int, CuDevice))                                  \
  X(cuDeviceGetAttribute, (int *, int, CuDevice))                              \
  X(cuDeviceTotalMem_v2, (size_t *, CuDevice))                                 \
  X(cuDevicePrimaryCtxRetain, (CuHandle *, CuDevice))                          \
  X(cuDevicePrimaryCtxRelease_v2, (CuDevice))                                  \
  X(cuCtxGetCurrent, (CuHandle *))                                             \
  X(cuCtxGetDevice, (CuDevice *))                                              \
  X(cuCtxPushCurrent_v2, (CuHandle))                                           \
  X(cuCtxPopCurrent_v2, (CuHandle *))                                          \
  X(cuCtxSynchronize, ())                                                      \
  X(cuModuleLoadDataEx, (CuHandle *, const void *, unsigned, int *, void **))  \
  X(cuModuleUnload, (CuHandle))                                                \
  X(cuModuleGetFunction, (CuHandle *, CuHandle, const char *))                 \
  X(cuFuncSetAttribute, (CuHandle, int, int))                                  \
  X(cuLaunchKernel,                                                            \
    (CuHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, CuHandle, void **, void **))                                    \
  X(cuTensorMapEncodeTiled,                                                    \
    (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,        \
     const uint32_t *, const uint32_t *, int, int, int, int))                  \
  X(cuMemAlloc_v2, (CuPointer *, size_t))                                      \
  X(cuMemFree_v2, (CuPointer))                                                 \
  X(cuMemcpyHtoD_v2, (CuPointer, const void *, size_t))                        \
  X(cuMemcpyDtoH_v2, (void *, CuPointer, size_t))                              \
  X(cuMemcpyHtoDAsync_v2, (CuPointer, const void *, size_t, CuHandle))         \
  X(cuMemcpyDtoHAsync_v2, (void *, CuPointer, size_t, CuHandle))               \
  X(cuMemcpyDtoDAsync_v2, (CuPointer, CuPointer, size_t, CuHandle))            \
  X(cuMemcpy2DAsync_v2, (const CuCopy2D *, CuHandle))                          \
  X(cuMemsetD8Async, (CuPointer, unsigned char, size_t, CuHandle))             \
  X(cuStreamCreate, (CuHandle *, unsigned))                                    \
  X(cuStreamDestroy_v2, (CuHandle))                                            \
  X(cuStreamGetId, (CuHandle, unsigned long long *))                           \
  X(cuStreamIsCapturing, (CuHandle, int *))                                    \
  X(cuStreamSynchronize, (CuHandle))                                           \
  X(cuEventCreate, (CuHandle *, unsigned))                                     \
  X(cuEventDestroy_v2, (CuHandle))                                             \
  X(cuEventRecord, (CuHandle, CuHandle))                                       \
  X(cuEventSynchronize, (CuHandle))                                            \
  X(cuEventElapsedTime, (float *, CuHandle, CuHandle))

/// The same, of drivers that are new enough; null in others.
#define SELVEDGE_CUDA_OPTIONAL_FUNCTIONS(X)                                    \
  X(cuLaunchKernelEx, (const CuLaunchConfig *, CuHandle, void **, void **))    \
  X(cuMemAllocAsync, (CuPointer *, size_t, CuHandle))                          \
  X(cuMemFreeAsync, (CuPointer, CuHandle))                                     \
  X(cuStreamGetCtx, (CuHandle, CuHandle *))                                    \
  X(cuStreamGetCaptureInfo_v2, (CuHandle, int *, unsigned long long *,         \
                                CuHandle *, const CuHandle **, size_t *))      \
  X(cuUserObjectCreate,                                                        \
    (CuHandle *, void *, void (*)(void *), unsigned, unsigned))                \
  X(cuUserObjectRelease, (CuHandle, unsigned))                                 \
  X(cuGraphRetainUserObject, (CuHandle, CuHandle, unsigned, unsigned))

/// The loaded library.
struct CudaDriver {
#define SELVEDGE_CUDA_MEMBER(name, parameters)                                 \
  CuResult(*name) parameters = nullptr;
  SELVEDGE_CUDA_FUNCTIONS(SELVEDGE_CUDA_MEMBER)
  SELVEDGE_CUDA_OPTIONAL_FUNCTIONS(SELVEDGE_CUDA_MEMBER)
#undef SELVEDGE_CUDA_MEMBER
  /// 1000 times the major version and 10 times the minor one of CUDA.
  int version = 0;

  /// Loads and initialises libcuda once per process. Unavailable, with the
  /// reason, where there is no driver or no GPU.
  static Result<const CudaDriver *> get();

  /// Ok, or "<what>: CUDA_ERROR_X (its description)".
  Status check(CuResult result, std::string_view what) const;

  /// Whether a kernel on `stream` may start before the one ahead of it ends:
  /// since CUDA 11.8, and since 12.3 in a graph.
  bool startsDependents(CuHandle stream) const;

  /// check() of something that was done on `stream` for code in `context`;
  /// says so where the stream belongs to another context.
  Status checkOn(CuHandle stream, CuHandle context, CuResult result,
                 std::string_view what) const;

  /// Whether a launch's stream, of code in `context`, is captured.
  Result<bool> isCaptured(CuHandle stream, CuHandle context) const;
};

/// Makes a context current for a scope.
class ContextScope {
public:
  /// Pushes `context`, unless it is current.
  ContextScope(const CudaDriver &driver, CuHandle context) : driver(driver) {
    CuHandle current = nullptr;
    if (driver.cuCtxGetCurrent(&current) == cuSuccess && current == context)
      return;
    result = driver.cuCtxPushCurrent_v2(context);
    pushed = result == cuSuccess;
  }
  ~ContextScope() {
    CuHandle previous = nullptr;
    if (pushed)
      driver.cuCtxPopCurrent_v2(&previous);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  /// Whether the context is current.
  Status status() const {
    return driver.check(result, "cannot enter the CUDA context");
  }

private:
  const CudaDriver &driver;
  CuResult result = cuSuccess;
  bool pushed = false;
};

} // namespace selvedge::inline runtime

#endif // SELVEDGE_RUNTIME_SRC_CUDADRIVER_H
