// Shared memory of a thread block with roles: what its stages hold for whom.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleMemory.h"
#include "compiler/Physical/Executor.h"

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;

Warp RoleMemory::addWarp() {
  Warp warp{indices++, {}};
  warp.view.seen.set(warp.index, 1);
  return warp;
}

TileRef RoleMemory::poisoned(StageId stage) {
  Type type = stage.first.getType();
  auto buffer = dyn_cast<sm::BufferType>(type);
  Type word = IntegerType::get(type.getContext(), 32);
  return poison.tile(shapeOf(type), buffer ? buffer.getElementType() : word);
}

RoleMemory::Stamps RoleMemory::stampsOf(Warps warps) {
  Stamps stamps;
  for (const Warp &warp : warps)
    stamps.push_back({warp.index, warp.view.seen.at(warp.index)});
  return stamps;
}

bool RoleMemory::know(Warps warps, ArrayRef<Stamp> stamps, Proxy written,
                      Proxy proxy) {
  bool needsFence = written == Proxy::Generic && proxy == Proxy::Async;
  return llvm::all_of(warps, [&](const Warp &warp) {
    const Clock &clock = needsFence ? warp.view.fenced : warp.view.seen;
    return llvm::all_of(stamps, [&](const Stamp &stamp) {
      return clock.at(stamp.index) >= stamp.time;
    });
  });
}

TileRef RoleMemory::startRead(Warps warps, StageId stage, Proxy proxy,
                              ReadId id) {
  auto it = contents.find(stage);
  if (it == contents.end())
    return poisoned(stage);
  Contents &slot = it->second;
  slot.reads.push_back({id, proxy});
  if (races.contains(id) || !know(warps, slot.written, slot.proxy, proxy))
    return poisoned(stage);
  return slot.data;
}

void RoleMemory::finishRead(Warps warps, StageId stage, ReadId id) {
  auto it = contents.find(stage);
  if (it == contents.end())
    return;
  // What was written meanwhile has taken the read's place.
  for (Read &read : it->second.reads)
    if (read.id == id)
      read = {id, read.proxy, true, stampsOf(warps)};
}

TileRef RoleMemory::lastWritten(StageId stage) {
  auto it = contents.find(stage);
  return it == contents.end() ? poisoned(stage) : it->second.data;
}

void RoleMemory::overwrite(Warps warps, StageId stage, TileRef data,
                           Proxy proxy, Stamps written) {
  Contents &slot = contents[stage];
  // A copy overtakes what is still being read, unless a fence stands between.
  for (const Read &read : slot.reads)
    if (!read.isOver || !know(warps, read.ends, read.proxy, proxy))
      isNews |= races.insert(read.id).second;
  // Of two writes on the way no one knows which comes last.
  if (!know(warps, slot.written, slot.proxy, proxy))
    data = poisoned(stage);
  slot = {std::move(data), proxy, std::move(written)};
}

void RoleMemory::write(Warps warps, StageId stage, TileRef data) {
  overwrite(warps, stage, std::move(data), Proxy::Generic, stampsOf(warps));
}

RoleMemory::Problem RoleMemory::copy(Warps warps, StageId stage, TileRef data,
                                     StageId mbarrier, int64_t bytes) {
  Barrier &signalled = barrier(mbarriers, mbarrier);
  overwrite(warps, stage, std::move(data), Proxy::Async,
            {{signalled.index, signalled.phases() + 1}});
  return arrive(warps, mbarrier, 0, -bytes);
}

void RoleMemory::fence(Warps warps) {
  for (Warp &warp : warps) {
    warp.view.fenced.join(warp.view.seen);
    // What it writes from now on is not fenced.
    warp.view.seen.set(warp.index, warp.view.seen.at(warp.index) + 1);
  }
}

} // namespace selvedge::physical
