// What a target offers; passes ask here and never guess.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_TARGETINFO_H
#define SELVEDGE_COMPILER_TARGET_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace selvedge {

/// Limits of a GPU architecture (CUDA C++ Programming Guide, "Compute
/// Capabilities").
struct TargetInfo {
  /// Shared memory that one thread block can use, in bytes.
  int64_t smemBytesPerBlock;
  /// Shared memory of a multiprocessor, in bytes.
  int64_t smemBytesPerSm;
  /// 32-bit registers that one thread can use.
  int64_t regsPerThread;
  /// 32-bit registers of a multiprocessor.
  int64_t regsPerSm;
  /// Warpgroups multiply 64 rows at a time from shared memory (`wgmma`).
  bool hasWarpgroups;
};

/// Limits of `arch` (`sm_80`, `sm_90a`); none for other names.
inline std::optional<TargetInfo> targetInfo(llvm::StringRef arch) {
  if (arch == "sm_80")
    return TargetInfo{163 * 1024, 164 * 1024, 255, 65536, false};
  if (arch == "sm_90a")
    return TargetInfo{227 * 1024, 228 * 1024, 255, 65536, true};
  return std::nullopt;
}

} // namespace selvedge

#endif // SELVEDGE_COMPILER_TARGET_TARGETINFO_H
