// Shared memory of a thread block.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/SharedMemory.h"

#include "compiler/Sim/Program.h"

namespace selvedge::sim {

static constexpr uint32_t none = ~uint32_t(0);
/// Marks an engine among readers; others are warps.
static constexpr Worker engineBit = Worker(1) << 31;

SharedMemory::SharedMemory(uint32_t size, uint32_t granule, uint32_t threads)
    : granule(granule), threads(threads), bytes(size, 0xFF),
      state(size, State::Undefined), writes((size + granule - 1) / granule),
      firstRead(writes.size(), none), freeRead(none) {}

/// What a thread did is seen by itself in order; by an engine only behind a
/// proxy fence, whoever it works for.
bool SharedMemory::isAfter(const Accessor &by, const Write &write,
                           bool &lacksFence) const {
  lacksFence = false;
  if (write.time == 0)
    return true;
  if (write.who >= threads)
    return Knowledge::at(by.knowledge->all, write.who) >= write.time;
  bool isKnown = write.who == by.thread ||
                 Knowledge::at(by.knowledge->all, write.who) >= write.time;
  if (!isKnown || !by.isAsync)
    return isKnown;
  lacksFence = true;
  return Knowledge::at(by.knowledge->visible, write.who) >= write.time;
}

bool SharedMemory::isAfter(const Accessor &by, const Read &read) const {
  if (read.who & engineBit)
    return Knowledge::at(by.knowledge->all, read.who & ~engineBit) >= read.time;
  for (uint32_t lanes = read.lanes; lanes; lanes &= lanes - 1) {
    Worker thread =
        read.who * warpLanes + static_cast<uint32_t>(__builtin_ctz(lanes));
    if (thread != by.thread &&
        Knowledge::at(by.knowledge->all, thread) < read.time)
      return false;
  }
  return true;
}

std::optional<Race> SharedMemory::findWrite(const Accessor &by,
                                            uint32_t granule) const {
  bool lacksFence = false;
  const Write &last = writes[granule];
  if (!isAfter(by, last, lacksFence))
    return Race{last.who, last.origin, true, lacksFence};
  if (last.hasOthers)
    for (const Write &write : others.at(granule))
      if (!isAfter(by, write, lacksFence))
        return Race{write.who, write.origin, true, lacksFence};
  return std::nullopt;
}

std::optional<Race> SharedMemory::read(const Accessor &by, uint32_t offset,
                                       uint32_t size) {
  bool isEngine = by.who >= threads;
  Worker who = isEngine ? by.who | engineBit : by.who / warpLanes;
  uint32_t lane = isEngine ? 0 : uint32_t(1) << by.who % warpLanes;
  for (uint32_t g = offset / granule; g * granule < offset + size; ++g) {
    if (auto race = findWrite(by, g))
      return race;
    // Later reads of the same lanes make earlier ones known with them.
    uint32_t *link = &firstRead[g];
    bool isNoted = false;
    while (*link != none) {
      Read &other = reads[*link];
      if (other.who == who) {
        if (other.time == by.time) {
          other.lanes |= lane;
          isNoted = true;
        } else if ((other.lanes & ~lane) == 0) {
          uint32_t gone = *link;
          *link = other.next;
          reads[gone].next = freeRead;
          freeRead = gone;
          continue;
        }
      }
      link = &reads[*link].next;
    }
    if (isNoted)
      continue;
    Read entry{who, by.time, lane, by.origin, firstRead[g]};
    if (freeRead != none) {
      uint32_t place = freeRead;
      freeRead = reads[place].next;
      reads[place] = entry;
      firstRead[g] = place;
    } else {
      reads.push_back(entry);
      firstRead[g] = static_cast<uint32_t>(reads.size() - 1);
    }
  }
  return std::nullopt;
}

std::optional<Race> SharedMemory::write(const Accessor &by, uint32_t offset,
                                        uint32_t size, const uint8_t *data) {
  bool isSame =
      data && std::equal(data, data + size, bytes.begin() + offset) &&
      std::all_of(state.begin() + offset, state.begin() + offset + size,
                  [](State s) { return s == State::Defined; });
  for (uint32_t g = offset / granule; g * granule < offset + size; ++g) {
    bool isBeside = false;
    if (auto race = findWrite(by, g)) {
      isBeside = isSame && race->who < threads && !race->lacksFence;
      if (!isBeside)
        return race;
    }
    for (uint32_t at = firstRead[g]; at != none;) {
      Read &read = reads[at];
      if (!isAfter(by, read)) {
        bool isEngine = read.who & engineBit;
        return Race{isEngine
                        ? read.who & ~engineBit
                        : read.who * warpLanes +
                              static_cast<uint32_t>(__builtin_ctz(read.lanes)),
                    read.origin, false, false};
      }
      uint32_t next = read.next;
      read.next = freeRead;
      freeRead = at;
      at = next;
    }
    firstRead[g] = none;
    if (isBeside)
      others[g].push_back(writes[g]);
    else if (writes[g].hasOthers)
      others.erase(g);
    writes[g] = {by.who, by.time, by.origin, isBeside};
  }
  return std::nullopt;
}

} // namespace selvedge::sim
