// What tests see of the driver in FakeCuda.cpp, through dlsym.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_TOOLS_FAKECUDA_H
#define SELVEDGE_TESTS_TOOLS_FAKECUDA_H

#include <array>
#include <cstdint>

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
/// fakeCudaContext: a context of GPU 1 that is not its primary one.
using FakeCudaContext = void *(*)();

#endif // SELVEDGE_TESTS_TOOLS_FAKECUDA_H
