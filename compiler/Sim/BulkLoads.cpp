// Bulk copies from global to shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <cstring>

namespace selvedge::sim {

/// Chunks of 16 bytes change places by the bits of the address above them (CUDA
/// driver API, "CUtensorMapSwizzle"): three bits for 128 bytes.
static uint32_t swizzled(uint32_t address, int32_t swizzle) {
  uint32_t bits = swizzle == 0 ? 0 : (1U << swizzle) - 1;
  return address ^ ((address >> 7 & bits) << 4);
}

/// The box in shared memory is dense, its first dimension first.
std::vector<Block::BoxRow> Block::rowsOf(const TensorMap &map,
                                         const std::array<int32_t, 5> &at) {
  std::vector<BoxRow> rows;
  uint32_t size = map.elementBytes(), rowBytes = map.box[0] * size;
  std::array<uint32_t, 5> place = {};
  uint32_t shared = 0;
  for (;;) {
    bool exists = true;
    int64_t global = 0;
    for (uint32_t d = 1; d < map.rank; ++d) {
      int64_t index = int64_t(at[d]) + place[d];
      exists &= index >= 0 && index < static_cast<int64_t>(map.extents[d]);
      global += index * static_cast<int64_t>(map.strides[d - 1]);
    }
    int64_t first = std::max<int64_t>(at[0], 0),
            end = std::min<int64_t>(int64_t(at[0]) + map.box[0],
                                    static_cast<int64_t>(map.extents[0]));
    BoxRow row{shared, 0, rowBytes, 0, 0};
    if (exists && first < end) {
      row.inside = static_cast<uint32_t>(end - first) * size;
      row.before = static_cast<uint32_t>(first - at[0]) * size;
      row.global = map.address + static_cast<uint64_t>(global + first * size);
    }
    rows.push_back(row);
    shared += rowBytes;
    uint32_t d = 1;
    for (; d < map.rank; ++d) {
      if (++place[d] < map.box[d])
        break;
      place[d] = 0;
    }
    if (d >= map.rank)
      return rows;
  }
}

std::optional<TensorMap> Block::findMap(Warp &w, unsigned lane, const Instr &in,
                                        uint64_t address) {
  uint64_t number = (address - mapSpace) / TensorMap::bytes;
  if (address < mapSpace || (address - mapSpace) % TensorMap::bytes != 0 ||
      number >= launch.arguments.size() || !launch.arguments[number].map) {
    fail(w, lane, in, "names a tensor map that is none");
    return std::nullopt;
  }
  // As the kernel finds it among its parameters.
  std::array<uint8_t, TensorMap::bytes> bytes;
  launch.arguments[number].map->encode(bytes.data());
  TensorMap map = TensorMap::decode(bytes.data());
  if (map.rank != in.count) {
    fail(w, lane, in,
         "gives " + std::to_string(in.count) + " indices to a tensor of rank " +
             std::to_string(map.rank));
    return std::nullopt;
  }
  // When a copy begins counts, not when it ends: all of the tensor is in use.
  std::string none;
  uint64_t size = map.rank > 1
                      ? map.strides[map.rank - 2] * map.extents[map.rank - 1]
                      : map.extents[0] * map.elementBytes();
  if (auto tensor = global.find(map.address, 1, 1, none);
      tensor &&
      !isBehindLaunches(w, lane, in, *tensor, size, in.op != Op::TensorLoad))
    return std::nullopt;
  return map;
}

bool Block::beginsAtWord(Warp &w, unsigned lane, const Instr &in,
                         const TensorMap &map, int32_t first) {
  constexpr int64_t wordBytes = 16;
  if (int64_t(first) * map.elementBytes() % wordBytes == 0)
    return true;
  fail(w, lane, in,
       "gives " + std::to_string(first) +
           " as the first index of a box: it is no multiple of 16 bytes, an "
           "illegal instruction");
  return false;
}

/// `a`: where to, `b`: map or address, `c`: barrier, list: indices, the
/// contiguous dimension first, or the number of bytes.
void Block::startLoad(Warp &w, const Instr &in, uint32_t lanes) {
  if (lanes == 0 || !needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "an address") ||
      !needs(w, in.c, lanes, in, "an address"))
    return;
  for (uint32_t i = 0; i < in.count; ++i)
    if (!needs(w, program.list(in)[i], lanes, in, "a bulk copy"))
      return;
  forLanes(lanes, [&](unsigned lane) {
    if (!fault.empty())
      return;
    BulkLoad load = {};
    load.warp = &w;
    load.lane = lane;
    load.in = &in;
    std::optional<TensorMap> map;
    if (in.op == Op::TensorLoad) {
      map = findMap(w, lane, in, w.wide(in.b)[lane]);
      if (!map)
        return;
      load.map = w.wide(in.b)[lane];
      load.bytes = map->elementBytes();
      for (uint32_t d = 0; d < in.count; ++d) {
        load.bytes *= map->box[d];
        load.at[d] = static_cast<int32_t>(w.word(program.list(in)[d])[lane]);
      }
      if (!beginsAtWord(w, lane, in, *map, load.at[0]))
        return;
    } else {
      load.from = w.wide(in.b)[lane];
      load.bytes = w.word(program.list(in)[0])[lane];
      if (load.bytes % 16 != 0)
        return fail(w, lane, in, "copies no multiple of 16 bytes");
      if (!findGlobal(w, lane, in, load.from, load.bytes, 16, false))
        return;
    }
    auto to =
        findShared(w, lane, in, w.word(in.a)[lane], load.bytes, map ? 128 : 16);
    uint64_t barrierAddress = w.word(in.c)[lane];
    MBarrier *barrier = findMBarrier(w, lane, in, barrierAddress);
    if (!to || !barrier)
      return;
    uint32_t thread = w.number * warpLanes + lane;
    if (barrier->fencedAt == 0 ||
        (barrier->fencedBy != thread &&
         Knowledge::at(knowledge[thread].all, barrier->fencedBy) <
             barrier->fencedAt))
      return fail(w, lane, in,
                  "names an mbarrier that no fence has made visible to bulk "
                  "copies");
    load.to = *to;
    load.barrier = static_cast<uint32_t>(barrierAddress - sharedStart);
    load.phase = barrier->phase;
    Accessor by =
        engineAccess(w, lane, in, workers.of(Engine::Barrier, load.barrier),
                     load.phase + 1, /*isAsync=*/true);
    if (!noteWrite(by, w, lane, in, load.to, load.bytes))
      return;
    // Nobody has read it yet: until it has come there is nothing.
    std::fill_n(shared.states(load.to), load.bytes, State::Undefined);
    bool isNow = schedule.isRandom ? random() % 3 == 0 : !schedule.isLate;
    if (isNow)
      finishLoad(load);
    else
      loads.push_back(load);
  });
}

bool Block::finishLoad(const BulkLoad &load) {
  Warp &w = *load.warp;
  const Instr &in = *load.in;
  auto put = [&](uint32_t to, uint64_t from, uint32_t bytes) {
    auto place = findGlobal(w, load.lane, in, from, bytes, 1, false);
    if (!place)
      return false;
    std::memcpy(shared.data(to), place->region->bytes.data() + place->offset,
                bytes);
    for (uint32_t i = 0; i < bytes; ++i)
      shared.states(to)[i] = place->region->state[place->offset + i];
    return true;
  };
  if (load.map == 0) {
    if (!put(load.to, load.from, load.bytes))
      return false;
  } else {
    auto map = findMap(w, load.lane, in, load.map);
    uint32_t size = map->elementBytes();
    for (const BoxRow &row : rowsOf(*map, load.at))
      for (uint32_t i = 0; i < row.bytes; i += size) {
        uint32_t to =
            swizzled(load.to + row.shared + i + sharedStart, map->swizzle) -
            sharedStart;
        // What does not exist is zero.
        if (i < row.before || i >= row.before + row.inside) {
          std::memset(shared.data(to), 0, size);
          std::fill_n(shared.states(to), size, State::Defined);
        } else if (!put(to, row.global + i - row.before, size)) {
          return false;
        }
      }
  }
  MBarrier &barrier = mbarriers[load.barrier];
  if (barrier.phase != load.phase) {
    fail(w, load.lane, in,
         "starts a bulk copy in phase " + std::to_string(load.phase) +
             " of its mbarrier, which ends before the copy: its bytes are not "
             "expected");
    return false;
  }
  barrier.bytes -= load.bytes;
  settle(load.barrier, barrier);
  hasProgress = true;
  return true;
}

} // namespace selvedge::sim
