// Barriers of a thread block.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Barriers.h"

namespace selvedge::sim {

/// Nobody who waits is further behind.
static constexpr size_t keptPhases = 16;

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
  // What was known stays known.
  completed.push_back(arriving);
  if (completed.size() > keptPhases)
    completed.pop_front();
}

const Knowledge &MBarrier::knownAfter(Time ended) const {
  Time first = phase - static_cast<Time>(completed.size());
  return completed[ended < first ? 0 : ended - first];
}

} // namespace selvedge::sim
