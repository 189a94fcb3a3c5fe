// Bulk copies from shared to global memory.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <cstring>

namespace selvedge::sim {

/// Words that these copies move.
static constexpr uint32_t wordBytes = 16;

/// `a`: from where, `b`: map or address, list: indices or the number of bytes.
void Block::startStore(Warp &w, const Instr &in, uint32_t lanes) {
  if (lanes == 0 || !needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "an address"))
    return;
  for (uint32_t i = 0; i < in.count; ++i)
    if (!needs(w, program.list(in)[i], lanes, in, "a bulk copy"))
      return;
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    BulkStore store = {};
    store.origin = static_cast<uint32_t>(&in - program.code.data());
    if (in.op == Op::TensorStore || in.op == Op::TensorAdd) {
      store.adds = in.op == Op::TensorAdd;
      auto map = findMap(w, lane, in, w.wide(in.b)[lane]);
      if (!map)
        return;
      store.map = w.wide(in.b)[lane];
      store.bytes = map->elementBytes();
      for (uint32_t d = 0; d < in.count; ++d) {
        store.bytes *= map->box[d];
        store.at[d] = static_cast<int32_t>(w.word(program.list(in)[d])[lane]);
      }
      if (!beginsAtWord(w, lane, in, *map, store.at[0]))
        return;
    } else {
      store.to = w.wide(in.b)[lane];
      store.bytes = w.word(program.list(in)[0])[lane];
      if (store.bytes % wordBytes != 0)
        return fail(w, lane, in, "copies no multiple of 16 bytes");
    }
    auto from = findShared(w, lane, in, w.word(in.a)[lane], store.bytes,
                           store.map ? 128 : wordBytes);
    if (!from)
      return;
    store.from = *from;
    BulkQueue &queue = w.bulk[lane];
    uint32_t thread = w.number * warpLanes + lane;
    Accessor by =
        engineAccess(w, lane, in, workers.of(Engine::BulkReads, thread),
                     queue.committed + 1, /*isAsync=*/true);
    if (!noteRead(by, w, lane, in, store.from, store.bytes))
      return;
    bool isNow = schedule.isRandom ? random() % 2 == 0 : !schedule.isLate;
    if (isNow && !finishStore(w, lane, in, store))
      return;
    queue.open.push_back(store);
  });
}

/// Adds to the f32 that lies `bytes` behind a place. Zero adds nothing to what
/// is not defined.
bool Block::addAt(Warp &w, unsigned lane, const Instr &in,
                  const GlobalMemory::Place &place, uint32_t bytes,
                  float part) {
  uint8_t *at = place.region->bytes.data() + place.offset + bytes;
  if (place.region->state[place.offset + bytes] != State::Defined) {
    if (part == 0)
      return true;
    fail(w, lane, in, "adds to what is not defined");
    return false;
  }
  float sum = 0;
  std::memcpy(&sum, at, sizeof sum);
  sum += part;
  std::memcpy(at, &sum, sizeof sum);
  return true;
}

bool Block::finishStore(Warp &w, unsigned lane, const Instr &in,
                        BulkStore &store) {
  if (store.isDone)
    return true;
  store.isDone = true;
  // A number that no thread has.
  uint64_t self = (uint64_t(number) << 32 | 0xFFFFFFFF);
  auto fetch = [&](uint32_t from, uint32_t count, uint8_t *to) {
    for (uint32_t i = 0; i < count; ++i) {
      if (shared.states(from)[i] != State::Defined) {
        fail(w, lane, in,
             "stores undefined bits from byte " + std::to_string(from + i) +
                 " of shared memory");
        return false;
      }
      to[i] = *shared.data(from + i);
    }
    return true;
  };
  if (store.map == 0) {
    // Adds f32 values, in any order.
    auto place = findGlobal(w, lane, in, store.to, store.bytes, wordBytes,
                            /*isWrite=*/true);
    if (!place)
      return false;
    for (uint32_t i = 0; i < store.bytes; i += 4) {
      float part = 0;
      if (!fetch(store.from + i, 4, reinterpret_cast<uint8_t *>(&part)) ||
          !addAt(w, lane, in, *place, i, part))
        return false;
    }
    return true;
  }
  auto map = findMap(w, lane, in, store.map);
  for (const BoxRow &row : rowsOf(*map, store.at)) {
    if (row.inside == 0)
      continue;
    // Rows end with whole words, of what shared memory has behind the last
    // element, too.
    uint32_t whole = (row.inside + wordBytes - 1) / wordBytes * wordBytes;
    auto place = findGlobal(w, lane, in, row.global, whole, 1,
                            /*isWrite=*/true);
    if (!place || (!store.adds && !claim(w, lane, in, *place, whole, self)))
      return false;
    auto swizzled = [&](uint32_t i) {
      uint32_t address = store.from + row.shared + row.before + i + sharedStart;
      uint32_t bits = map->swizzle == 0 ? 0 : (1U << map->swizzle) - 1;
      return (address ^ (address >> 7 & bits) << 4) - sharedStart;
    };
    for (uint32_t i = 0; store.adds && i < whole; i += 4) {
      float part = 0;
      if (!fetch(swizzled(i), 4, reinterpret_cast<uint8_t *>(&part)) ||
          !addAt(w, lane, in, *place, i, part))
        return false;
    }
    for (uint32_t i = 0; !store.adds && i < whole; ++i) {
      uint8_t value = 0;
      if (!fetch(swizzled(i), 1, &value))
        return false;
      place->region->bytes[place->offset + i] = value;
      place->region->state[place->offset + i] = State::Defined;
    }
  }
  return true;
}

void Block::commitBulk(Warp &w, uint32_t lanes) {
  forLanes(lanes, [&](unsigned lane) {
    BulkQueue &queue = w.bulk[lane];
    ++queue.committed;
    queue.groups.push_back(std::move(queue.open));
    queue.open.clear();
  });
}

void Block::awaitBulk(Warp &w, const Instr &in, uint32_t lanes) {
  forLanes(lanes, [&](unsigned lane) {
    BulkQueue &queue = w.bulk[lane];
    Time read = queue.committed -
                std::min<Time>(queue.committed, static_cast<Time>(in.imm));
    for (; queue.read < read; ++queue.read) {
      for (BulkStore &store : queue.groups[queue.read])
        if (!finishStore(w, lane, program.code[store.origin], store))
          return;
      queue.groups[queue.read].clear();
    }
    uint32_t thread = w.number * warpLanes + lane;
    Knowledge::raise(knowledge[thread].all,
                     workers.of(Engine::BulkReads, thread), queue.read);
  });
}

} // namespace selvedge::sim
