// Shared memory of a thread block with roles: its barriers.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleMemory.h"

using namespace mlir;

namespace selvedge::physical {

RoleMemory::Problem RoleMemory::arriveAt(Barrier &barrier, Warps warps,
                                         int64_t arrivals, int64_t bytes,
                                         int64_t expected) {
  for (Warp &warp : warps) {
    if (warp.view.seen.at(barrier.index) != barrier.phases())
      return "may count for the phase before, which is not known to be over";
    if (arrivals == 0)
      continue;
    barrier.gathering.seen.join(warp.view.seen);
    barrier.gathering.fenced.join(warp.view.fenced);
    // What it does from here on is not over with the phase.
    warp.view.seen.set(warp.index, warp.view.seen.at(warp.index) + 1);
  }
  barrier.arrived += arrivals;
  barrier.bytes += bytes;
  if (barrier.arrived > expected)
    return "is one arrival more than the barrier's phase takes";
  if (barrier.arrived < expected || barrier.bytes != 0)
    return "";
  for (const Barrier::Passage &passage : barrier.passages)
    if (passage.phase + 1 == barrier.phases() &&
        barrier.gathering.seen.at(passage.by.index) < passage.by.time)
      return "ends a phase that may begin before who waits for the end of the "
             "one before looks";
  llvm::erase_if(barrier.passages, [&](const Barrier::Passage &passage) {
    return passage.phase < barrier.phases();
  });
  barrier.arrived = 0;
  View view = std::exchange(barrier.gathering, View());
  for (Clock *clock : {&view.seen, &view.fenced})
    clock->set(barrier.index, barrier.phases() + 1);
  barrier.released.push_back(std::move(view));
  return "";
}

void RoleMemory::learn(Warps warps, const Barrier &barrier, int64_t phase) {
  for (Warp &warp : warps) {
    warp.view.seen.join(barrier.released[phase].seen);
    warp.view.fenced.join(barrier.released[phase].fenced);
  }
}

RoleMemory::Problem RoleMemory::arrive(Warps warps, StageId mbarrier,
                                       int64_t arrivals, int64_t bytes) {
  auto type = cast<sm::MBarrierType>(mbarrier.first.getType());
  return arriveAt(barrier(mbarriers, mbarrier), warps, arrivals, bytes,
                  static_cast<int64_t>(type.getArrivals()));
}

RoleMemory::Problem RoleMemory::wait(Warps warps, StageId mbarrier,
                                     int64_t parity, bool &isOver) {
  Barrier &waited = barrier(mbarriers, mbarrier);
  // In some order no more is over than the warps know.
  int64_t known = warps.front().view.seen.at(waited.index),
          phase = known % 2 == parity ? known : known - 1;
  isOver = phase < waited.phases();
  if (!isOver)
    return "";
  if (phase + 1 < waited.phases())
    return "waits for a phase after which another is over, too: for ever";
  if (phase == known)
    learn(warps, waited, phase);
  for (Stamp by : stampsOf(warps))
    waited.passages.push_back({by, phase});
  return "";
}

RoleMemory::Problem RoleMemory::meet(Warps warps, int64_t id, int64_t threads,
                                     int64_t expected, int64_t &round) {
  Barrier &met = barrier(named, id);
  round = met.phases();
  return arriveAt(met, warps, threads, 0, expected);
}

bool RoleMemory::isComplete(Warps warps, int64_t id, int64_t round) {
  const Barrier &met = barrier(named, id);
  if (round >= met.phases())
    return false;
  learn(warps, met, round);
  return true;
}

} // namespace selvedge::physical
