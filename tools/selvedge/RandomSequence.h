// Random numbers that are the same on every machine.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_RANDOMSEQUENCE_H
#define SELVEDGE_TOOLS_SELVEDGE_RANDOMSEQUENCE_H

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace selvedge::cli {

/// SplitMix64. The distributions of <random> differ between libraries.
class RandomSequence {
public:
  /// A sequence for a named use of a seed, independent of other names.
  RandomSequence(uint64_t seed, std::string_view name) : state(seed) {
    for (char c : name)
      state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3 + seed;
  }

  /// 64 random bits.
  uint64_t bits() {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }

  /// Uniform in lo..hi, both inclusive.
  int64_t uniform(int64_t lo, int64_t hi) {
    uint64_t span = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
    uint64_t offset = span == 0 ? bits() : bits() % span;
    return static_cast<int64_t>(static_cast<uint64_t>(lo) + offset);
  }

  /// Standard normal, by Box and Muller.
  double normal() {
    // In (0, 1]: the logarithm of 0 does not exist.
    double radius = static_cast<double>((bits() >> 11) + 1) * 0x1p-53;
    double angle = static_cast<double>(bits() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(radius)) *
           std::cos(2 * std::numbers::pi * angle);
  }

private:
  uint64_t state;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_RANDOMSEQUENCE_H
