// The state of a warp: registers of 32 lanes, and where each lane is.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_WARP_H
#define SELVEDGE_COMPILER_SIM_WARP_H

#include "compiler/Sim/Clocks.h"
#include "compiler/Sim/Program.h"

#include <array>
#include <memory>

namespace selvedge::sim {

/// State of a register of a lane: bit i says that byte i is undefined. The
/// rest is the number of a group of products that has still to write it.
using Shadow = uint16_t;
inline constexpr Shadow undefinedWord = 0xF;
inline constexpr unsigned groupShift = 4;

/// How a shadow names a group of products; 0 names none.
inline Shadow shadowOfGroup(uint32_t group) {
  return Shadow((group % 4095 + 1) << groupShift);
}

/// Lanes at one instruction, and what they wait for.
struct Fragment {
  enum class Wait : uint8_t {
    Nothing,
    Lanes,     // of its warp, at the same instruction
    Barrier,   // named barrier `number`
    Phase,     // of an mbarrier
    Registers, // that another warpgroup gives back
  };

  uint32_t pc = 0;
  uint32_t lanes = allLanes;
  Wait wait = Wait::Nothing;
  uint32_t number = 0;
  /// Of a named barrier: what those knew who have passed it; null until then.
  std::shared_ptr<const std::unique_ptr<Knowledge>> passed = {};
  /// Whether its last look at a barrier ended without the phase.
  bool hasLooked = false;
};

/// Copies that a lane has issued, in groups.
struct CopyQueue {
  struct Copy {
    uint32_t to;
    uint64_t from;
    uint32_t bytes;
    bool isDone;
  };
  std::vector<std::vector<Copy>> groups;
  std::vector<Copy> open;
  Time committed = 0, done = 0;
};

/// Bulk stores of a lane, in groups.
struct BulkStore {
  uint32_t from;
  uint64_t map; // of a tensor, else 0
  std::array<int32_t, 5> at;
  uint64_t to;
  uint32_t bytes;
  uint32_t origin;
  bool isDone;
  bool adds; // to a tensor
};
struct BulkQueue {
  std::vector<std::vector<BulkStore>> groups;
  std::vector<BulkStore> open;
  Time committed = 0, read = 0;
};

/// A warp.
struct Warp {
  uint32_t number = 0;
  std::vector<Fragment> fragments;
  uint32_t exited = 0;
  /// Lanes that have waited for the launches before.
  uint32_t awaited = 0;
  /// Registers by slot and lane.
  std::vector<uint32_t> words;
  std::vector<Shadow> shadows;
  /// By slot whether any lane's shadow may be set.
  std::vector<uint8_t> isDirty;
  /// Time of its accesses now.
  Time now = 1;
  std::array<CopyQueue, warpLanes> copies = {};
  std::array<BulkQueue, warpLanes> bulk = {};
  // Products of its warpgroup, as far as it has come.
  Time productsCommitted = 0, productsDone = 0;
  bool hasOpenProducts = false, isFenced = false;
  uint32_t registers = 0;
  /// Instructions that it has executed.
  uint64_t executed = 0;

  uint32_t *word(Slot slot) { return words.data() + size_t(slot) * warpLanes; }
  const uint32_t *word(Slot slot) const {
    return words.data() + size_t(slot) * warpLanes;
  }
  uint64_t *wide(Slot slot) { return reinterpret_cast<uint64_t *>(word(slot)); }
  Shadow *shadow(Slot slot) {
    return shadows.data() + size_t(slot) * warpLanes;
  }
  /// Whether a shadow names a group of products that is on its way.
  bool isInFlight(Shadow shadow) const {
    uint32_t last = productsCommitted + (hasOpenProducts ? 1 : 0);
    for (uint32_t group = productsDone + 1; group <= last; ++group)
      if (shadowOfGroup(group) >> groupShift == shadow >> groupShift)
        return true;
    return false;
  }
};

/// Calls f(lane) for each lane of a set.
template <typename F>
inline void forLanes(uint32_t lanes, F f) {
  if (lanes == allLanes) {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      f(lane);
    return;
  }
  for (; lanes; lanes &= lanes - 1)
    f(static_cast<unsigned>(__builtin_ctz(lanes)));
}

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_WARP_H
