// Shared memory of a thread block, in the worst order that is allowed.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/SharedMemory.h"
#include "compiler/Physical/Executor.h"

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;
using reference::TileValue;

/// `base` with the lanes of `over`.
static TileRef merged(const TileRef &base, const TileRef &over,
                      const LaneMask &lanes) {
  if (lanes.empty())
    return over;
  auto result = std::make_shared<TileValue>(*base);
  for (auto [lane, isOver] : llvm::enumerate(lanes)) {
    if (!isOver)
      continue;
    if (result->isFloat)
      result->values[lane] = over->values[lane];
    else
      result->ints[lane] = over->ints[lane];
  }
  return result;
}

void SharedMemory::allocate(sm::AllocOp op) {
  for (int64_t stage = 0; stage < op.getType().getStages(); ++stage) {
    SlotId id(op.getResult(), stage);
    slots[id] = Slot{poisoned(id)};
  }
}

llvm::Error SharedMemory::name(sm::SlotOp op, int64_t stage) {
  int64_t stages = op.getRing().getType().getStages();
  if (stage < 0 || stage >= stages)
    return reference::errorAt(op, "names stage " + llvm::Twine(stage) +
                                      ", expected one of 0 to " +
                                      llvm::Twine(stages - 1));
  names[op.getResult()] = SlotId(op.getRing(), stage);
  return llvm::Error::success();
}

SharedMemory::SlotId SharedMemory::idOf(Value buffer) const {
  auto it = names.find(buffer);
  return it == names.end() ? SlotId(buffer, 0) : it->second;
}

TileRef SharedMemory::poisoned(SlotId slot) {
  auto type = cast<sm::BufferType>(slot.first.getType());
  return poison.tile(shapeOf(type), type.getElementType());
}

TileRef SharedMemory::read(Value buffer) {
  SlotId id = idOf(buffer);
  Slot &slot = slots[id];
  slot.readAt = barriers;
  auto it = early.find({barriers, id.first, id.second});
  return it == early.end() ? slot.contents
                           : merged(slot.contents, poisoned(id), it->second);
}

void SharedMemory::write(Value buffer, const TileRef &data,
                         const LaneMask &lanes) {
  Slot &slot = slots[idOf(buffer)];
  slot.contents = merged(slot.contents, data, lanes);
}

void SharedMemory::stage(Value buffer, TileRef data) {
  begin(buffer, std::move(data), {}, /*isAwaited=*/true);
}

void SharedMemory::issue(Value buffer, TileRef data, LaneMask lanes) {
  begin(buffer, std::move(data), std::move(lanes), /*isAwaited=*/false);
}

void SharedMemory::begin(Value buffer, TileRef data, LaneMask lanes,
                         bool isAwaited) {
  SlotId id = idOf(buffer);
  Slot &slot = slots[id];
  if (slot.readAt == barriers)
    noteEarly(id, lanes);
  slot.contents = merged(slot.contents, poisoned(id), lanes);
  // Of two writes on the way no one knows which comes last.
  for (Write &other : underWay)
    if (other.slot == id)
      other.data = data = poisoned(id);
  underWay.push_back({id, std::move(data), std::move(lanes), isAwaited});
}

void SharedMemory::noteEarly(SlotId slot, const LaneMask &lanes) {
  auto [it, isNew] =
      early.try_emplace({barriers, slot.first, slot.second}, lanes);
  if (isNew) {
    isNews = true;
    return;
  }
  LaneMask &known = it->second;
  if (lanes.empty() && !known.empty()) {
    known.clear();
    isNews = true;
  }
  for (auto [old, now] : llvm::zip(known, lanes)) {
    isNews |= now > old;
    old |= now;
  }
}

void SharedMemory::await(int64_t pending) {
  for (Write &write : llvm::reverse(underWay))
    if (!write.isAwaited && pending-- <= 0)
      write.isAwaited = true;
}

void SharedMemory::barrier() {
  llvm::erase_if(underWay, [&](Write &write) {
    if (!write.isAwaited)
      return false;
    Slot &slot = slots[write.slot];
    slot.contents = merged(slot.contents, write.data, write.lanes);
    return true;
  });
  ++barriers;
}

bool SharedMemory::exchange(Value scratch) {
  auto type = cast<sm::BufferType>(scratch.getType());
  TileRef parts =
      PoisonSource(Poison::None, 0).tile(shapeOf(type), type.getElementType());
  stage(scratch, parts);
  barrier();
  return read(scratch) == parts;
}

bool SharedMemory::isCopying() const {
  return llvm::any_of(underWay, [](const Write &w) { return !w.isAwaited; });
}

} // namespace selvedge::physical
