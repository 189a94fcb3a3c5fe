// Accesses of threads to global and shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <cstring>
#include <utility>

namespace selvedge::sim {

//===-- Global memory -----------------------------------------------------===//

bool Block::isBehindLaunches(Warp &w, unsigned lane, const Instr &in,
                             const GlobalMemory::Place &place, uint64_t size,
                             bool isWrite) {
  bool isMinded = place.region->use(place.offset, size, isWrite);
  if (!isMinded || !launch.isDependent || (w.awaited >> lane & 1))
    return true;
  fail(w, lane, in,
       std::string(isWrite ? "writes to '" : "reads '") + place.region->name +
           "' before it has waited for launches before, which may still run");
  return false;
}

std::optional<GlobalMemory::Place>
Block::findGlobal(Warp &w, unsigned lane, const Instr &in, uint64_t address,
                  uint64_t size, uint64_t align, bool isWrite) {
  std::string problem;
  auto place = global.find(address, size, align, problem);
  if (!place) {
    fail(w, lane, in,
         std::string(isWrite ? "writes" : "reads") +
             " out of bounds: " + problem);
    return std::nullopt;
  }
  if (isWrite && !place->region->isWritable) {
    fail(w, lane, in, "writes to input '" + place->region->name + "'");
    return std::nullopt;
  }
  if (!isBehindLaunches(w, lane, in, *place, size, isWrite))
    return std::nullopt;
  return place;
}

/// Nothing orders what different threads do to global memory in a launch.
bool Block::claim(Warp &w, unsigned lane, const Instr &in,
                  const GlobalMemory::Place &place, uint64_t size,
                  uint64_t who) {
  for (uint64_t i = 0; i < size; ++i) {
    uint64_t &writer = place.region->writer[place.offset + i];
    if (writer != 0) {
      fail(w, lane, in,
           "writes byte " + std::to_string(place.offset + i) + " of '" +
               place.region->name + "', which this launch has written before");
      return false;
    }
    writer = who;
  }
  return true;
}

void Block::loadGlobal(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  const Slot *to = program.list(in);
  uint32_t wordBytes = in.width / 8, bytes = wordBytes * in.count;
  // Lanes read what others have written in another launch only.
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto place = findGlobal(w, lane, in, addressOf(w, in, lane), bytes, bytes,
                            /*isWrite=*/false);
    if (!place)
      return;
    const Region &region = *place->region;
    uint64_t self =
        (uint64_t(number) << 32 | (w.number * warpLanes + lane)) + 1;
    for (uint32_t i = 0; i < bytes && region.isWritable; ++i) {
      uint64_t writer = region.writer[place->offset + i];
      if (writer != 0 && writer != self)
        return fail(w, lane, in,
                    "reads byte " + std::to_string(place->offset + i) +
                        " of '" + region.name +
                        "', which another thread of this launch writes");
    }
    for (uint32_t i = 0; i < in.count; ++i) {
      uint64_t at = place->offset + uint64_t(i) * wordBytes;
      uint64_t value = 0;
      std::memcpy(&value, region.bytes.data() + at, wordBytes);
      if (wordBytes == 8)
        w.wide(to[i])[lane] = value;
      else
        w.word(to[i])[lane] = static_cast<uint32_t>(value);
      Shadow shadow = 0;
      for (uint32_t j = 0; j < wordBytes; ++j)
        shadow |= Shadow(region.state[at + j] != State::Defined) << j;
      // The bytes of a wide register have no states of their own.
      setShadow(w, to[i], lane,
                wordBytes == 8 && shadow ? undefinedWord : shadow);
    }
  });
}

void Block::storeGlobal(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  const Slot *from = program.list(in);
  uint32_t wordBytes = in.width / 8, bytes = wordBytes * in.count;
  Shadow bytesOfWord = Shadow((1U << wordBytes) - 1);
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto place = findGlobal(w, lane, in, addressOf(w, in, lane), bytes, bytes,
                            /*isWrite=*/true);
    if (!place)
      return;
    Region &region = *place->region;
    if (!region.isAtomic &&
        !claim(w, lane, in, *place, bytes,
               (uint64_t(number) << 32 | (w.number * warpLanes + lane)) + 1))
      return;
    for (uint32_t i = 0; i < in.count; ++i) {
      if (see(w, from[i], lane, in) & bytesOfWord)
        return fail(w, lane, in,
                    "stores undefined bits to byte " +
                        std::to_string(place->offset + i * wordBytes) +
                        " of '" + region.name + "'");
      uint64_t at = place->offset + uint64_t(i) * wordBytes;
      uint32_t value = w.word(from[i])[lane];
      std::memcpy(region.bytes.data() + at, &value, wordBytes);
      std::fill_n(region.state.begin() + static_cast<int64_t>(at), wordBytes,
                  State::Defined);
    }
  });
}

void Block::addGlobal(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto place = findGlobal(w, lane, in, addressOf(w, in, lane), 4, 4,
                            /*isWrite=*/true);
    if (!place)
      return;
    const Region &region = *place->region;
    auto what = [&] {
      return "byte " + std::to_string(place->offset) + " of '" + region.name +
             "'";
    };
    if (see(w, in.b, lane, in))
      return fail(w, lane, in, "adds undefined bits to " + what());
    if (region.state[place->offset] != State::Defined)
      return fail(w, lane, in, "adds to " + what() + ", which is undefined");
    if (!region.writer.empty() && region.writer[place->offset] != 0)
      return fail(w, lane, in,
                  "adds to " + what() +
                      ", which another thread of this launch may "
                      "store");
    global.addLater(*place, {number, w.number * warpLanes + lane},
                    w.word(in.b)[lane], in.kind != 0);
  });
}

void Block::atomic(Warp &w, const Instr &in, uint32_t lanes) {
  bool isSwap = static_cast<Atomic>(in.kind) == Atomic::CompareAndSwap;
  if (!needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "an atomic operation") ||
      (isSwap && !needs(w, in.c, lanes, in, "an atomic operation")))
    return;
  uint32_t bytes = in.width / 8;
  auto bits = [&](Slot slot, unsigned lane) -> uint64_t {
    return bytes == 8 ? w.wide(slot)[lane] : w.word(slot)[lane];
  };
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto place = findGlobal(w, lane, in, addressOf(w, in, lane), bytes, bytes,
                            /*isWrite=*/true);
    if (!place)
      return;
    Region &region = *place->region;
    if (!region.isAtomic)
      return fail(w, lane, in,
                  "has an atomic operation on '" + region.name +
                      "', which is no counter");
    if (region.state[place->offset] != State::Defined)
      return fail(w, lane, in,
                  "has an atomic operation on byte " +
                      std::to_string(place->offset) + " of '" + region.name +
                      "', which is undefined");
    uint8_t *at = region.bytes.data() + place->offset;
    uint64_t old = 0, by = bits(in.b, lane), value = 0;
    std::memcpy(&old, at, bytes);
    switch (static_cast<Atomic>(in.kind)) {
    case Atomic::Add:
      value = old + by;
      break;
    case Atomic::MinU:
      value = std::min(old, by);
      break;
    case Atomic::CompareAndSwap:
      value = old == by ? bits(in.c, lane) : old;
      break;
    }
    std::memcpy(at, &value, bytes);
    if (bytes == 8)
      w.wide(in.dst)[lane] = old;
    else
      w.word(in.dst)[lane] = static_cast<uint32_t>(old);
    setShadow(w, in.dst, lane, 0);
  });
}

//===-- Shared memory -----------------------------------------------------===//

std::optional<uint32_t> Block::findShared(Warp &w, unsigned lane,
                                          const Instr &in, uint64_t address,
                                          uint64_t size, uint64_t align) {
  auto offset = static_cast<int64_t>(address) - int64_t(sharedStart);
  if (offset < 0 || offset + static_cast<int64_t>(size) > shared.size()) {
    fail(w, lane, in,
         "is out of bounds: byte " + std::to_string(offset) +
             " of shared memory, of which the block has " +
             std::to_string(shared.size()));
    return std::nullopt;
  }
  if (address % align != 0) {
    fail(w, lane, in,
         "is not aligned to " + std::to_string(align) + " bytes: byte " +
             std::to_string(offset) + " of shared memory");
    return std::nullopt;
  }
  auto start = static_cast<uint32_t>(offset);
  auto it = mbarriers.upper_bound(start + static_cast<uint32_t>(size) - 1);
  if (it != mbarriers.begin() && std::prev(it)->first + 8 > start &&
      in.op != Op::MBarrierInit) {
    fail(w, lane, in,
         "accesses the mbarrier at byte " +
             std::to_string(std::prev(it)->first) + " of shared memory");
    return std::nullopt;
  }
  return start;
}

Accessor Block::threadAccess(const Warp &w, unsigned lane,
                             const Instr &in) const {
  uint32_t thread = w.number * warpLanes + lane;
  return {thread, w.now, thread, false, &knowledge[thread], in.origin};
}

Accessor Block::engineAccess(const Warp &w, unsigned lane, const Instr &in,
                             Worker who, Time time, bool isAsync) const {
  uint32_t thread = w.number * warpLanes + lane;
  return {who, time, thread, isAsync, &knowledge[thread], in.origin};
}

bool Block::noteRead(const Accessor &by, Warp &w, unsigned lane,
                     const Instr &in, uint32_t offset, uint32_t size) {
  if (auto race = shared.read(by, offset, size)) {
    failRace(w, lane, in, by, *race, /*isWrite=*/false, offset);
    return false;
  }
  return true;
}

bool Block::noteWrite(const Accessor &by, Warp &w, unsigned lane,
                      const Instr &in, uint32_t offset, uint32_t size,
                      const uint8_t *data) {
  if (auto race = shared.write(by, offset, size, data)) {
    failRace(w, lane, in, by, *race, /*isWrite=*/true, offset);
    return false;
  }
  return true;
}

void Block::loadShared(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  const Slot *to = program.list(in);
  uint32_t wordBytes = in.width / 8, bytes = wordBytes * in.count;
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto offset = findShared(w, lane, in, addressOf(w, in, lane), bytes, bytes);
    if (!offset ||
        !noteRead(threadAccess(w, lane, in), w, lane, in, *offset, bytes))
      return;
    for (uint32_t i = 0; i < in.count; ++i) {
      uint32_t at = *offset + i * wordBytes, value = 0;
      std::memcpy(&value, shared.data(at), wordBytes);
      w.word(to[i])[lane] = value;
      Shadow shadow = 0;
      for (uint32_t j = 0; j < wordBytes; ++j)
        shadow |= Shadow(shared.states(at)[j] != State::Defined) << j;
      setShadow(w, to[i], lane, shadow);
    }
  });
}

void Block::storeShared(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  const Slot *from = program.list(in);
  uint32_t wordBytes = in.width / 8, bytes = wordBytes * in.count;
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto offset = findShared(w, lane, in, addressOf(w, in, lane), bytes, bytes);
    uint8_t data[16];
    for (uint32_t i = 0; i < in.count; ++i)
      std::memcpy(data + i * wordBytes, &w.word(from[i])[lane], wordBytes);
    if (!offset || !noteWrite(threadAccess(w, lane, in), w, lane, in, *offset,
                              bytes, data))
      return;
    std::memcpy(shared.data(*offset), data, bytes);
    for (uint32_t i = 0; i < in.count; ++i) {
      uint32_t at = *offset + i * wordBytes;
      Shadow shadow = see(w, from[i], lane, in);
      for (uint32_t j = 0; j < wordBytes; ++j)
        shared.states(at)[j] =
            shadow >> j & 1 ? State::Undefined : State::Defined;
    }
  });
}

//===-- Copies by threads -------------------------------------------------===//

/// 16 bytes, of which the first `c` are read and the rest is zero (PTX ISA,
/// "cp.async").
void Block::copyAsync(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "an address") ||
      !needs(w, in.c, lanes, in, "the size of a copy"))
    return;
  auto bytes = static_cast<uint32_t>(in.imm);
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    auto to = findShared(w, lane, in, addressOf(w, in, lane), bytes, bytes);
    if (!to)
      return;
    uint32_t read = w.word(in.c)[lane];
    if (read > bytes)
      return fail(w, lane, in, "copies more bytes than it has room for");
    CopyQueue &queue = w.copies[lane];
    uint32_t thread = w.number * warpLanes + lane;
    Accessor by = engineAccess(w, lane, in, workers.of(Engine::Copies, thread),
                               queue.committed + 1, /*isAsync=*/false);
    if (!noteWrite(by, w, lane, in, *to, bytes))
      return;
    // The address of a copy that reads nothing is not used.
    CopyQueue::Copy copy{*to, w.wide(in.b)[lane], read, false};
    if (read &&
        !findGlobal(w, lane, in, copy.from, read, bytes, /*isWrite=*/false))
      return;
    if (schedule.isRandom ? random() % 2 == 0 : !schedule.isLate)
      finishCopy(w, lane, in, copy);
    queue.open.push_back(copy);
  });
}

void Block::finishCopy(Warp &w, unsigned lane, const Instr &in,
                       CopyQueue::Copy &copy) {
  constexpr uint32_t size = 16;
  if (std::exchange(copy.isDone, true))
    return;
  std::memset(shared.data(copy.to), 0, size);
  std::fill_n(shared.states(copy.to), size, State::Defined);
  if (!copy.bytes)
    return;
  auto place = findGlobal(w, lane, in, copy.from, copy.bytes, 1,
                          /*isWrite=*/false);
  if (!place)
    return;
  std::memcpy(shared.data(copy.to), place->region->bytes.data() + place->offset,
              copy.bytes);
  for (uint32_t i = 0; i < copy.bytes; ++i)
    shared.states(copy.to)[i] = place->region->state[place->offset + i];
}

void Block::awaitCopies(Warp &w, const Instr &in, uint32_t lanes) {
  forLanes(lanes, [&](unsigned lane) {
    CopyQueue &queue = w.copies[lane];
    Time done = queue.committed -
                std::min<Time>(queue.committed, static_cast<Time>(in.imm));
    for (; queue.done < done; ++queue.done) {
      for (CopyQueue::Copy &copy : queue.groups[queue.done])
        finishCopy(w, lane, in, copy);
      queue.groups[queue.done].clear();
    }
    uint32_t thread = w.number * warpLanes + lane;
    Knowledge::raise(knowledge[thread].all, workers.of(Engine::Copies, thread),
                     queue.done);
  });
}

} // namespace selvedge::sim
