// Floats of 16 bits.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_HALFFLOAT_H
#define SELVEDGE_COMPILER_SIM_HALFFLOAT_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace selvedge::sim {

inline float bf16ToFloat(uint32_t bits) {
  return std::bit_cast<float>((bits & 0xFFFF) << 16);
}

/// Rounds to the nearest, ties to even.
inline uint32_t floatToBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return 0x7FFF;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

inline float f16ToFloat(uint32_t bits) {
  uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31,
           fraction = bits & 0x3FF;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float value = static_cast<float>(fraction) * 0x1p-24F;
  return sign ? -value : value;
}

inline uint32_t floatToF16(float value) {
  uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000;
  float size = std::fabs(value);
  if (value != value)
    return 0x7FFF;
  // Half a step above the largest finite value is Inf.
  if (size >= 65520.0F)
    return sign | 0x7C00;
  if (size < 0x1p-14F)
    return sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24F));
  auto bits = std::bit_cast<uint32_t>(size);
  bits += 0xFFF + (bits >> 13 & 1);
  return sign | (bits >> 13) - (112 << 10);
}

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_HALFFLOAT_H
