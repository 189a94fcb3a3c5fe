// Shared memory of a thread block with roles, in the worst order allowed.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleMemory.h"
#include "compiler/Physical/Executor.h"

#include <utility>

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;

TileRef RoleMemory::poisoned(StageId stage) {
  Type type = stage.first.getType();
  auto buffer = dyn_cast<sm::BufferType>(type);
  Type word = IntegerType::get(type.getContext(), 32);
  return poison.tile(shapeOf(type), buffer ? buffer.getElementType() : word);
}

void RoleMemory::destroy(StageId stage) { contents[stage] = {poisoned(stage)}; }

TileRef RoleMemory::read(StageId stage, const Seen &seen) {
  auto it = contents.find(stage);
  if (it == contents.end() ||
      (it->second.mbarrier.first &&
       seen.lookup(it->second.mbarrier) < it->second.phase))
    return poisoned(stage);
  return it->second.data;
}

void RoleMemory::signal(StageId id, int64_t arrivals, int64_t bytes,
                        ArrayRef<LateWrite> writes) {
  MBarrier &barrier = mbarriers[id];
  barrier.arrived += arrivals;
  barrier.bytes += bytes;
  llvm::append_range(barrier.coming, writes);
  int64_t expected = cast<sm::MBarrierType>(id.first.getType()).getArrivals();
  if (barrier.arrived < expected || barrier.bytes != 0)
    return;
  barrier.arrived -= expected;
  ++barrier.phases;
  for (LateWrite &write : std::exchange(barrier.coming, {}))
    contents[write.stage] = {std::move(write.data), id, barrier.phases};
}

bool RoleMemory::passes(StageId id, int64_t parity, Seen &seen) {
  int64_t phases = mbarriers[id].phases;
  if (phases % 2 == parity)
    return false;
  seen[id] = phases;
  return true;
}

int64_t RoleMemory::arrive(int64_t id, int64_t threads, int64_t expected,
                           ArrayRef<LateWrite> writes) {
  NamedBarrier &barrier = named[id];
  int64_t round = barrier.round;
  barrier.arrived += threads;
  llvm::append_range(barrier.coming, writes);
  if (barrier.arrived >= expected) {
    barrier.arrived -= expected;
    ++barrier.round;
    for (LateWrite &write : std::exchange(barrier.coming, {}))
      contents[write.stage] = {std::move(write.data)};
  }
  return round;
}

} // namespace selvedge::physical
