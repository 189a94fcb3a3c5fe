// Barriers of a thread block.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Barriers.h"

namespace selvedge::sim {

std::string MBarrier::describe() const {
  return "which is in phase " + std::to_string(phase) + " and lacks " +
         std::to_string(pending) + " of " + std::to_string(expected) +
         " arrivals and " + std::to_string(bytes) + " bytes";
}

/// `self` is the worker of the copies that this barrier counts: they are over
/// with the phase.
void MBarrier::settle(Worker self) {
  if (pending != 0 || bytes != 0)
    return;
  ++phase;
  pending = expected;
  Knowledge::raise(arriving.all, self, phase);
  completed = std::move(arriving);
  // What was known stays known.
  arriving = completed;
}

} // namespace selvedge::sim
