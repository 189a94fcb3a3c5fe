// Shared memory of a thread block.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/SharedMemory.h"

#include "compiler/Sim/Program.h"

namespace selvedge::sim {

/// Marks an engine among readers; others are warps.
static constexpr Worker engineBit = Worker(1) << 31;
/// What most instructions access at a time.
static constexpr uint32_t cellBytes = 16;

SharedMemory::SharedMemory(uint32_t size, uint32_t granule, uint32_t threads)
    : granule(std::min(granule, cellBytes)), threads(threads),
      bytes(size, 0xFF), state(size, State::Undefined),
      cells((size + cellBytes - 1) / cellBytes), firstPart(cells.size(), none) {
}

//===-- Order -------------------------------------------------------------===//

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

bool SharedMemory::isAfter(const Accessor &by, const Read &read,
                           bool &lacksFence) const {
  lacksFence = false;
  if (read.who & engineBit)
    return Knowledge::at(by.knowledge->all, read.who & ~engineBit) >= read.time;
  for (uint32_t lanes = read.lanes; lanes; lanes &= lanes - 1) {
    Worker thread =
        read.who * warpLanes + static_cast<uint32_t>(__builtin_ctz(lanes));
    if (thread != by.thread &&
        Knowledge::at(by.knowledge->all, thread) < read.time) {
      lacksFence = false;
      return false;
    }
    // An engine overtakes what a thread is still reading.
    lacksFence |=
        by.isAsync && Knowledge::at(by.knowledge->visible, thread) < read.time;
  }
  return !lacksFence;
}

std::optional<Race> SharedMemory::findWrite(const Accessor &by,
                                            const Record &record) const {
  for (const Write *write = &record.write;;
       write = &otherWrites[write->others]) {
    bool lacksFence = false;
    if (!isAfter(by, *write, lacksFence))
      return Race{write->who, write->origin, true, lacksFence};
    if (write->others == none)
      return std::nullopt;
  }
}

//===-- Records -----------------------------------------------------------===//

uint32_t SharedMemory::addRead(const Read &read) {
  if (freeRead == none) {
    reads.push_back(read);
    return static_cast<uint32_t>(reads.size() - 1);
  }
  uint32_t place = freeRead;
  freeRead = reads[place].next;
  reads[place] = read;
  return place;
}

void SharedMemory::dropReads(Record &record) {
  while (record.reads != none) {
    uint32_t gone = record.reads;
    record.reads = reads[gone].next;
    reads[gone].next = freeRead;
    freeRead = gone;
  }
}

void SharedMemory::split(uint32_t cell) {
  uint32_t count = cellBytes / granule;
  if (freeParts.empty()) {
    freeParts.push_back(static_cast<uint32_t>(parts.size()));
    parts.resize(parts.size() + count);
  }
  firstPart[cell] = freeParts.back();
  freeParts.pop_back();
  for (uint32_t i = 0; i < count; ++i) {
    Record &part = parts[firstPart[cell] + i];
    part = {cells[cell].write, none};
    for (uint32_t at = cells[cell].reads; at != none; at = reads[at].next) {
      Read copy = reads[at];
      copy.next = part.reads;
      part.reads = addRead(copy);
    }
  }
  dropReads(cells[cell]);
}

template <typename F>
std::optional<Race> SharedMemory::visit(uint32_t offset, uint32_t size, F f) {
  uint32_t end = offset + size;
  for (uint32_t cell = offset / cellBytes; cell * cellBytes < end; ++cell) {
    uint32_t start = cell * cellBytes;
    bool isWhole = offset <= start && start + cellBytes <= end;
    if (isWhole && firstPart[cell] == none) {
      if (auto race = f(cells[cell]))
        return race;
      continue;
    }
    if (firstPart[cell] == none)
      split(cell);
    for (uint32_t i = 0; i < cellBytes / granule; ++i) {
      uint32_t at = start + i * granule;
      if (at + granule <= offset || at >= end)
        continue;
      if (auto race = f(parts[firstPart[cell] + i]))
        return race;
    }
  }
  return std::nullopt;
}

std::optional<Race> SharedMemory::noteRead(const Accessor &by, Record &record) {
  if (auto race = findWrite(by, record))
    return race;
  bool isEngine = by.who >= threads;
  Worker who = isEngine ? by.who | engineBit : by.who / warpLanes;
  uint32_t lane = isEngine ? 0 : uint32_t(1) << by.who % warpLanes;
  // Later reads of the same lanes make earlier ones known with them.
  for (uint32_t *link = &record.reads; *link != none;) {
    Read &other = reads[*link];
    if (other.who == who) {
      if (other.time == by.time) {
        other.lanes |= lane;
        return std::nullopt;
      }
      if ((other.lanes & ~lane) == 0) {
        other = {who, by.time, lane, by.origin, other.next};
        return std::nullopt;
      }
    }
    link = &other.next;
  }
  record.reads = addRead({who, by.time, lane, by.origin, record.reads});
  return std::nullopt;
}

std::optional<Race> SharedMemory::noteWrite(const Accessor &by, Record &record,
                                            bool isSame) {
  bool isBeside = false;
  if (auto race = findWrite(by, record)) {
    isBeside = isSame && race->who < threads && !race->lacksFence;
    if (!isBeside)
      return race;
  }
  bool lacksFence = false;
  for (uint32_t at = record.reads; at != none; at = reads[at].next)
    if (const Read &read = reads[at]; !isAfter(by, read, lacksFence)) {
      bool isEngine = read.who & engineBit;
      Worker who = isEngine
                       ? read.who & ~engineBit
                       : read.who * warpLanes +
                             static_cast<uint32_t>(__builtin_ctz(read.lanes));
      return Race{who, read.origin, false, lacksFence};
    }
  dropReads(record);
  Write write{by.who, by.time, by.origin};
  if (isBeside) {
    write.others = static_cast<uint32_t>(otherWrites.size());
    otherWrites.push_back(record.write);
  }
  record.write = write;
  return std::nullopt;
}

//===-- Accesses ----------------------------------------------------------===//

std::optional<Race> SharedMemory::read(const Accessor &by, uint32_t offset,
                                       uint32_t size) {
  return visit(offset, size,
               [&](Record &record) { return noteRead(by, record); });
}

std::optional<Race> SharedMemory::write(const Accessor &by, uint32_t offset,
                                        uint32_t size, const uint8_t *data) {
  bool isSame =
      data && std::equal(data, data + size, bytes.begin() + offset) &&
      std::all_of(state.begin() + offset, state.begin() + offset + size,
                  [](State s) { return s == State::Defined; });
  auto race = visit(offset, size, [&](Record &record) {
    return noteWrite(by, record, isSame);
  });
  if (race)
    return race;
  // Cells that were written as a whole have one record again.
  uint32_t first = (offset + cellBytes - 1) / cellBytes;
  for (uint32_t cell = first; (cell + 1) * cellBytes <= offset + size; ++cell) {
    if (firstPart[cell] == none || isSame)
      continue;
    cells[cell].write = {by.who, by.time, by.origin};
    freeParts.push_back(firstPart[cell]);
    firstPart[cell] = none;
  }
  return std::nullopt;
}

} // namespace selvedge::sim
