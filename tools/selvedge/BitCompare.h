// Comparison of device memory bit for bit, on the device.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_BITCOMPARE_H
#define SELVEDGE_TOOLS_SELVEDGE_BITCOMPARE_H

#include "selvedge/Module.h"

#include <cstdint>
#include <string>

namespace selvedge::cli {

/// The PTX of a kernel that compares; for sm_80 and newer.
std::string comparePtx();

/// The kernel, loaded on a GPU.
class BitCompare {
public:
  /// What is compared is aligned to so many bytes, and a multiple of them.
  static constexpr uint64_t alignment = 16;

  /// Assembles and loads the kernel.
  static Result<BitCompare> load(const Device &device);

  /// Sets the i32 at `flag` to 1 where `bytes` bytes at two addresses differ,
  /// after what is on the default stream.
  Status run(const void *first, const void *second, uint64_t bytes,
             void *flag) const;

private:
  Kernel kernel;
  uint32_t blocks = 0;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_BITCOMPARE_H
