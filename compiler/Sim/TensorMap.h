// What the runtime says of a tensor to the engine that copies boxes of it.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_TENSORMAP_H
#define SELVEDGE_COMPILER_SIM_TENSORMAP_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace selvedge::sim {

/// The arguments of cuTensorMapEncodeTiled (CUDA driver API), the contiguous
/// dimension first.
struct TensorMap {
  static constexpr size_t bytes = 128;
  static constexpr uint32_t maxRank = 5;

  int32_t type;
  uint32_t rank;
  uint64_t address;
  std::array<uint64_t, maxRank> extents;
  std::array<uint64_t, maxRank - 1> strides;
  std::array<uint32_t, maxRank> box, steps;
  int32_t interleave, swizzle, promotion, fill;

  /// Bytes of an element; 0 for a type that is not simulated.
  uint32_t elementBytes() const;
  /// Why the driver would refuse it; empty where it would not.
  std::string check() const;
  /// As in the 128 bytes that a kernel gets.
  void encode(void *out) const;
  static TensorMap decode(const void *in);
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_TENSORMAP_H
