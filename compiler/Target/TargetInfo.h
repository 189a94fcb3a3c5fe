// The architectures there are and what each offers; passes and tools ask here
// and never guess.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_TARGETINFO_H
#define SELVEDGE_COMPILER_TARGET_TARGETINFO_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace selvedge {

/// LLVM's attribute of a kernel with roles whose steps are finished one by one:
/// no product runs beside the next step's.
inline constexpr char finishesSteps[] = "selvedge-finishes-steps";

/// Limits of a GPU architecture (CUDA C++ Programming Guide, "Compute
/// Capabilities").
struct TargetInfo {
  /// As `--arch` and ptxas take it.
  std::string_view name;
  /// Shared memory that one thread block can use, in bytes.
  int64_t smemBytesPerBlock;
  /// The same of the devices with the least that run its code: those of compute
  /// capability 8.6, 8.9 and 12.0 run that of sm_80.
  int64_t leastSmemBytesPerBlock;
  /// Shared memory of a multiprocessor, in bytes.
  int64_t smemBytesPerSm;
  /// 32-bit registers that one thread can use.
  int64_t regsPerThread;
  /// 32-bit registers of a multiprocessor.
  int64_t regsPerSm;
  /// Warpgroups multiply 64 rows at a time from shared memory (`wgmma`), and
  /// warps have roles.
  bool hasWarpgroups;
  /// A kernel may start while the one before it ends, and waits for it
  /// (`griddepcontrol`).
  bool hasDependentLaunches;
};

/// All of them, oldest first.
inline constexpr std::array targets{
    TargetInfo{"sm_80", 163 * 1024, 99 * 1024, 164 * 1024, 255, 65536, false,
               false},
    TargetInfo{"sm_90a", 227 * 1024, 227 * 1024, 228 * 1024, 255, 65536, true,
               true},
};

/// Limits of `arch`; none for other names.
inline std::optional<TargetInfo> targetInfo(std::string_view arch) {
  for (const TargetInfo &target : targets)
    if (target.name == arch)
      return target;
  return std::nullopt;
}

/// Their names for a message, with `last` before the last one.
inline std::string targetNames(std::string_view last) {
  std::string text;
  for (const TargetInfo &target : targets) {
    if (!text.empty())
      text += &target == &targets.back() ? " " + std::string(last) + " " : ", ";
    text += target.name;
  }
  return text;
}

} // namespace selvedge

#endif // SELVEDGE_COMPILER_TARGET_TARGETINFO_H
