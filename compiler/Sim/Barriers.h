// Barriers of a thread block.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_BARRIERS_H
#define SELVEDGE_COMPILER_SIM_BARRIERS_H

#include "compiler/Sim/Clocks.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace selvedge::sim {

/// A barrier that warps name by a number. Those who wait share `passed`, which
/// is filled when the last has arrived.
struct NamedBarrier {
  uint32_t expected = 0;
  uint32_t arrived = 0;
  Knowledge known = {};
  std::shared_ptr<std::unique_ptr<Knowledge>> passed = {};
};

/// A barrier in shared memory (PTX ISA, "mbarrier").
struct MBarrier {
  uint32_t expected = 0;
  uint32_t pending = 0;
  int64_t bytes = 0;
  /// Phases that are over.
  Time phase = 0;
  /// What is known at the end of this phase, and was at the ends of the last.
  Knowledge arriving = {};
  std::deque<Knowledge> completed = {};
  /// Who made it, when, and who has fenced that for the engines.
  Worker madeBy = 0, fencedBy = 0;
  Time madeAt = 0, fencedAt = 0;

  /// "phase 3: 2 of 4 arrivals and 8192 bytes are missing".
  std::string describe() const;
  /// Ends the phase if nothing is missing.
  void settle(Worker self);
  /// What was known at the end of a phase.
  const Knowledge &knownAfter(Time ended) const;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_BARRIERS_H
