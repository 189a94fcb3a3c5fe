// Vector clocks: which accesses of which actors come before.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H

#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>

namespace selvedge::verify {

/// An agent, or one asynchronous operation.
using Actor = unsigned;

/// For each actor the time up to which its accesses have happened; or for each
/// barrier how far it has come.
class VectorClock {
public:
  uint32_t at(unsigned index) const {
    return index < times.size() ? times[index] : 0;
  }
  void set(unsigned index, uint32_t time) {
    if (index >= times.size())
      times.resize(index + 1, 0);
    times[index] = time;
  }
  void join(const VectorClock &other) {
    if (other.times.size() > times.size())
      times.resize(other.times.size(), 0);
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }

private:
  llvm::SmallVector<uint32_t, 0> times;
};

/// What an actor has seen: through ordinary accesses, and of that what a fence
/// has ordered before its accesses through the async proxy; and, by barrier,
/// the number of phases that are over.
struct View {
  VectorClock seen, fenced, phases;

  void join(const View &other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    phases.join(other.phases);
  }
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H
