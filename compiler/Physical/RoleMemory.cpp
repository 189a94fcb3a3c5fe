// Shared memory of a thread block with roles, in the worst order allowed.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleMemory.h"
#include "compiler/Physical/Executor.h"

#include <utility>

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;

void RoleMemory::destroy(StageId stage) {
  auto buffer = dyn_cast<sm::BufferType>(stage.first.getType());
  Type word = IntegerType::get(stage.first.getContext(), 32);
  contents[stage] = poison.tile(shapeOf(stage.first.getType()),
                                buffer ? buffer.getElementType() : word);
}

TileRef RoleMemory::read(StageId stage) {
  if (!contents.contains(stage))
    destroy(stage);
  return contents[stage];
}

void RoleMemory::land(ArrayRef<LateWrite> writes) {
  for (const LateWrite &write : writes)
    contents[write.stage] = write.data;
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
  llvm::append_range(barrier.complete, std::exchange(barrier.coming, {}));
}

bool RoleMemory::passes(StageId id, int64_t parity) {
  MBarrier &barrier = mbarriers[id];
  if (barrier.phases % 2 == parity)
    return false;
  land(std::exchange(barrier.complete, {}));
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
    land(std::exchange(barrier.coming, {}));
  }
  return round;
}

} // namespace selvedge::physical
