// Barriers, mbarriers and fences of the happens-before engine.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/HappensBefore.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

/// Publishes all that `actor` has done; what it does next is not covered.
void HappensBefore::release(Actor actor, View &into) {
  View &view = actors[actor].view;
  into.join(view);
  view.seen.set(actor, view.seen.at(actor) + 1);
}

unsigned HappensBefore::addBarrier(unsigned threads) {
  barriers.emplace_back().threads = threads;
  return barriers.size() - 1;
}

unsigned HappensBefore::addMBarrier(unsigned arrivals) {
  mbarriers.emplace_back().arrivals = arrivals;
  return mbarriers.size() - 1;
}

Finding HappensBefore::arrive(Actor agent, unsigned barrier) {
  Barrier &state = barriers[barrier];
  state.arrived += actors[agent].threads;
  if (state.arrived > state.threads)
    return Violation{Fault::TooManyArrivals};
  if (agent >= state.waitingIn.size())
    state.waitingIn.resize(agent + 1);
  state.waitingIn[agent] = state.released.size();
  release(agent, state.gathering);
  if (state.arrived == state.threads) {
    state.released.push_back(std::exchange(state.gathering, View()));
    state.arrived = 0;
  }
  return {};
}

bool HappensBefore::tryPass(Actor agent, unsigned barrier) {
  const Barrier &state = barriers[barrier];
  unsigned phase = state.waitingIn[agent];
  if (phase >= state.released.size())
    return false;
  actors[agent].view.join(state.released[phase]);
  return true;
}

/// Starts the next phase where nothing is missing from this one.
Finding HappensBefore::completePhase(MBarrier &barrier) {
  if (barrier.arrived < barrier.arrivals)
    return {};
  if (barrier.missingBytes < 0)
    return Violation{Fault::TooManyBytes};
  if (barrier.missingBytes == 0) {
    barrier.released = std::exchange(barrier.gathering, View());
    barrier.arrived = 0;
    ++barrier.phase;
  }
  return {};
}

Finding HappensBefore::arriveMBarrier(Actor agent, unsigned mbarrier) {
  MBarrier &state = mbarriers[mbarrier];
  if (state.arrived == state.arrivals)
    return Violation{Fault::TooManyArrivals};
  ++state.arrived;
  release(agent, state.gathering);
  return completePhase(state);
}

void HappensBefore::expectBytes(unsigned mbarrier, int64_t bytes) {
  mbarriers[mbarrier].missingBytes += bytes;
}

Finding HappensBefore::completeBytes(Actor operation, unsigned mbarrier,
                                     int64_t bytes) {
  MBarrier &state = mbarriers[mbarrier];
  state.missingBytes -= bytes;
  // Only the operation's own accesses are ordered by its bytes.
  state.gathering.seen.set(operation, 1);
  return completePhase(state);
}

bool HappensBefore::tryWait(Actor agent, unsigned mbarrier, unsigned parity) {
  const MBarrier &state = mbarriers[mbarrier];
  if (state.phase % 2 == parity)
    return false;
  actors[agent].view.join(state.released);
  return true;
}

void HappensBefore::fenceAsync(Actor agent) {
  View &view = actors[agent].view;
  view.fenced.join(view.seen);
}

std::string HappensBefore::describeBarrier(unsigned barrier) const {
  const Barrier &state = barriers[barrier];
  return llvm::formatv("{0} of {1} threads have arrived", state.arrived,
                       state.threads);
}

std::string HappensBefore::describeMBarrier(unsigned mbarrier) const {
  const MBarrier &state = mbarriers[mbarrier];
  return llvm::formatv("in phase {0}, with {1} of {2} arrivals and {3} "
                       "expected bytes missing",
                       state.phase, state.arrived, state.arrivals,
                       state.missingBytes);
}

} // namespace selvedge::verify
