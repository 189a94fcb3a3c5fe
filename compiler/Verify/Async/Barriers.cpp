// Barriers, mbarriers and fences of the happens-before engine.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/HappensBefore.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

/// Publishes all that `actor` has done; what it does next is not covered.
void HappensBefore::release(Actor actor, View &into) {
  View &view = actors[actor].view;
  into.join(view);
  view.seen.set(actor, view.seen.at(actor) + 1);
}

unsigned HappensBefore::addBarrier(unsigned threads) {
  Barrier barrier;
  barrier.index = barriers.size() + mbarriers.size();
  barrier.threads = threads;
  barriers.push_back(std::move(barrier));
  return barriers.size() - 1;
}

unsigned HappensBefore::addMBarrier(unsigned arrivals) {
  MBarrier barrier;
  barrier.index = barriers.size() + mbarriers.size();
  barrier.arrivals = arrivals;
  mbarriers.push_back(std::move(barrier));
  return mbarriers.size() - 1;
}

template <typename B>
void HappensBefore::endPhase(B &barrier) {
  View view = std::exchange(barrier.gathering, View());
  barrier.arrived = 0;
  view.phases.set(barrier.index, barrier.released.size() + 1);
  barrier.released.push_back(std::move(view));
}

Finding HappensBefore::arrive(Actor agent, unsigned barrier) {
  Barrier &state = barriers[barrier];
  if (!knowsPhase(agent, state))
    return Violation{Fault::EarlyArrival};
  state.arrived += actors[agent].threads;
  if (state.arrived > state.threads)
    return Violation{Fault::TooManyArrivals};
  if (agent >= state.waitingIn.size())
    state.waitingIn.resize(agent + 1);
  state.waitingIn[agent] = state.released.size();
  release(agent, state.gathering);
  if (state.arrived == state.threads)
    endPhase(state);
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

/// Ends the phase where nothing is missing from it.
Finding HappensBefore::tryComplete(MBarrier &barrier) {
  if (barrier.arrived < barrier.arrivals)
    return {};
  if (barrier.missingBytes < 0)
    return Violation{Fault::TooManyBytes};
  if (barrier.missingBytes > 0)
    return {};
  int64_t current = barrier.released.size();
  for (const Passage &passage : barrier.passages)
    if (passage.phase + 1 == current &&
        barrier.gathering.seen.at(passage.agent) < passage.time)
      return Violation{Fault::PhaseOverrun};
  llvm::erase_if(barrier.passages, [&](const Passage &passage) {
    return passage.phase < current;
  });
  endPhase(barrier);
  return {};
}

Finding HappensBefore::arriveMBarrier(Actor agent, unsigned mbarrier,
                                      unsigned arrivals) {
  MBarrier &state = mbarriers[mbarrier];
  if (!knowsPhase(agent, state))
    return Violation{Fault::EarlyArrival};
  if (state.arrived + arrivals > state.arrivals)
    return Violation{Fault::TooManyArrivals};
  state.arrived += arrivals;
  release(agent, state.gathering);
  return tryComplete(state);
}

Finding HappensBefore::expectBytes(Actor agent, unsigned mbarrier,
                                   int64_t bytes) {
  MBarrier &state = mbarriers[mbarrier];
  if (!knowsPhase(agent, state))
    return Violation{Fault::EarlyArrival};
  state.missingBytes += bytes;
  return {};
}

Finding HappensBefore::completeBytes(Actor operation, unsigned mbarrier,
                                     int64_t bytes) {
  MBarrier &state = mbarriers[mbarrier];
  if (!knowsPhase(operation, state))
    return Violation{Fault::EarlyArrival};
  state.missingBytes -= bytes;
  // Only the operation's own accesses are ordered by its bytes.
  state.gathering.seen.set(operation, 1);
  return tryComplete(state);
}

Finding HappensBefore::tryWait(Actor agent, unsigned mbarrier, unsigned parity,
                               bool &passed) {
  MBarrier &state = mbarriers[mbarrier];
  View &view = actors[agent].view;
  // What is over as far as the agent knows: in some schedule no more than that
  // is over when it gets here.
  int64_t known = view.phases.at(state.index);
  int64_t over = state.released.size();
  int64_t phase = known % 2 == parity ? known : known - 1;
  passed = phase < over;
  if (!passed)
    return {};
  if (phase + 1 < over)
    return Violation{Fault::PhaseOverrun};
  if (phase == known)
    view.join(state.released[phase]);
  state.passages.push_back({agent, view.seen.at(agent), phase});
  return {};
}

void HappensBefore::fenceAsync(Actor agent) {
  View &view = actors[agent].view;
  view.fenced.join(view.seen);
  // What it writes from now on is not fenced.
  view.seen.set(agent, view.seen.at(agent) + 1);
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
                       state.released.size(), state.arrived, state.arrivals,
                       state.missingBytes);
}

} // namespace selvedge::verify
