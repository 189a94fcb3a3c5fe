// What tests see of the driver in FakeCuda.cpp, through dlsym.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_TOOLS_FAKECUDA_H
#define SELVEDGE_TESTS_TOOLS_FAKECUDA_H

#include <array>
#include <cstdint>

/// What the driver says of a GPU.
struct FakeCudaGpu {
  const char *name;
  int major, minor, multiprocessors;
  /// Of a thread block that asks for it, in bytes.
  int sharedMemory;
};

/// Those that run code for sm_80 (CUDA C++ Programming Guide, "Compute
/// Capabilities"; the vendor's data sheets).
inline constexpr std::array fakeCudaGpus{
    FakeCudaGpu{"NVIDIA A100", 8, 0, 108, 166912},
    FakeCudaGpu{"NVIDIA A10", 8, 6, 72, 101376},
    FakeCudaGpu{"NVIDIA GeForce RTX 4090", 8, 9, 128, 101376},
    FakeCudaGpu{"NVIDIA L40S", 8, 9, 142, 101376},
    FakeCudaGpu{"NVIDIA RTX PRO 6000", 12, 0, 188, 101376}};

/// Called for each launch, on its thread: kernel, grid, addresses of the
/// parameters.
using FakeCudaWatch = void (*)(const char *kernel, std::array<unsigned, 3> grid,
                               void **params);

/// What the driver puts into a tensor map, innermost dimension first.
struct FakeCudaDescriptor {
  void *address;
  uint64_t extents[5];
  uint64_t strides[5];
};

/// fakeCudaWatch: sets the watch; null ends it.
using FakeCudaSetWatch = void (*)(FakeCudaWatch);
/// fakeCudaDescriptors: the number of tensor maps ever encoded.
using FakeCudaCount = int (*)();
/// fakeCudaIsDependent: whether the launch that is watched may start before the
/// one ahead of it ends.
using FakeCudaFlag = bool (*)();
/// fakeCudaContext: a context of GPU 1 that is not its primary one.
using FakeCudaContext = void *(*)();

#endif // SELVEDGE_TESTS_TOOLS_FAKECUDA_H
