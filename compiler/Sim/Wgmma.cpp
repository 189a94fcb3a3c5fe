// Products of the tensor cores by warpgroups.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <cstring>

namespace selvedge::sim {

namespace {

/// A matrix descriptor (PTX ISA, "Matrix Descriptor Format"); distances in
/// bytes.
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3FFF) << 4),
        leading(static_cast<uint32_t>(bits >> 16 & 0x3FFF) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3FFF) << 4),
        base(static_cast<uint32_t>(bits >> 49 & 7)),
        mode(static_cast<uint32_t>(bits >> 62)) {}

  /// Address of the 16 bytes that hold element `k` of row `mn`, or, where the
  /// rows are contiguous (`isMajor`: along `mn`), the eight rows from `mn` on
  /// of column `k`.
  uint32_t chunk(uint32_t mn, uint32_t k, bool alongMn) const {
    // Rows of a swizzle, and without any core matrices of 8 rows of 16 bytes.
    uint32_t rowBytes = mode == 0 ? 16 : 16U << (4 - mode);
    uint32_t along = alongMn ? mn : k, across = alongMn ? k : mn;
    uint32_t perRow = rowBytes / 2;
    uint32_t address = start + across % 8 * rowBytes + along % perRow / 8 * 16;
    if (mode == 0 && alongMn)
      // Here the two distances change places.
      address += across / 8 * leading + along / perRow * stride;
    else
      address += across / 8 * stride + along / perRow * leading;
    if (mode == 0)
      return address;
    return address ^ ((address >> 7 & ((1U << (4 - mode)) - 1)) << 4);
  }

  uint32_t start, leading, stride, base, mode;
};

} // namespace

const uint8_t *Block::chunk(Warp &w, const Instr &in, uint32_t address,
                            bool &isUndefined) {
  constexpr uint32_t size = 16;
  auto offset = findShared(w, 0, in, address, size, size);
  if (!offset)
    return nullptr;
  Accessor by = engineAccess(w, 0, in, workers.of(Engine::Products, w.number),
                             w.productsCommitted + 1, /*isAsync=*/true);
  if (!noteRead(by, w, 0, in, *offset, size))
    return nullptr;
  const State *states = shared.states(*offset);
  isUndefined = false;
  for (uint32_t i = 0; i < size; ++i)
    isUndefined |= states[i] != State::Defined;
  return shared.data(*offset);
}

/// The four warps of a warpgroup execute the same product together: each has
/// its own rows of it.
bool Block::checkSameProducts(Warp &w, const Instr &in, uint64_t a, uint64_t b,
                              uint32_t scale) {
  std::vector<Issued> &all = issued[w.number / 4];
  auto pc = static_cast<uint32_t>(&in - program.code.data());
  size_t at = numIssued[w.number]++;
  if (at == all.size()) {
    all.push_back({pc, a, b, scale});
    return true;
  }
  const Issued &other = all[at];
  if (other.pc == pc && other.a == a && other.b == b && other.scale == scale)
    return true;
  fail(w, 0, in,
       "executes another product than the other warps of its warpgroup");
  return false;
}

/// m64nNk16 (PTX ISA, "wgmma.mma_async"). `a`, `b`: descriptors (of A: none
/// where its registers are in the list), `c`: whether it adds to the sums;
/// list: results, sums, registers of A. `kind` bit 0: A is contiguous along its
/// rows, bit 1: B along its columns.
void Block::wgmma(Warp &w, const Instr &in) {
  auto columns = static_cast<uint32_t>(in.imm);
  uint32_t perLane = columns / 2;
  const Slot *list = program.list(in);
  bool hasA = in.a != noSlot;
  if ((hasA && !needs(w, in.a, allLanes, in, "a descriptor")) ||
      !needs(w, in.b, allLanes, in, "a descriptor") ||
      !needs(w, in.c, allLanes, in, "a product"))
    return;
  if (!w.isFenced)
    return fail(w, 0, in, "multiplies without wgmma.fence before");
  uint64_t bitsA = hasA ? w.wide(in.a)[0] : 0, bitsB = w.wide(in.b)[0];
  uint32_t adds = w.word(in.c)[0] & 1;
  for (unsigned lane = 1; lane < warpLanes; ++lane)
    if ((hasA && w.wide(in.a)[lane] != bitsA) || w.wide(in.b)[lane] != bitsB ||
        (w.word(in.c)[lane] & 1) != adds)
      return fail(w, lane, in, "has other descriptors than lane 0");
  if (!checkSameProducts(w, in, bitsA, bitsB, adds))
    return;
  Descriptor a(bitsA), b(bitsB);
  if (b.base != 0 || (hasA && a.base != 0))
    return fail(w, 0, in, "has a base offset, which is not simulated");
  Fragments &f = fragments;
  f.resize(columns);
  std::fill(f.openB.begin(), f.openB.end(), uint8_t(0));
  std::memset(f.openA, 0, sizeof(f.openA));
  f.isOpen = false;
  auto widen = [&](const uint8_t *at) {
    uint16_t bits = 0;
    std::memcpy(&bits, at, 2);
    return in.other == bf16 ? bf16ToFloat(bits) : f16ToFloat(bits);
  };
  // A: of 64 rows those of this warp.
  uint32_t firstRow = w.number % 4 * 16;
  if (hasA) {
    bool alongRows = in.kind & 1;
    for (uint32_t outer = 0; outer < 16; ++outer)
      for (uint32_t eight = 0; eight < 16; eight += 8) {
        bool open = false;
        uint32_t row = alongRows ? eight : outer, k = alongRows ? outer : eight;
        const uint8_t *data =
            chunk(w, in, a.chunk(firstRow + row, k, alongRows), open);
        if (!data)
          return;
        for (uint32_t i = 0; i < 8; ++i) {
          uint32_t r = row + (alongRows ? i : 0), c = k + (alongRows ? 0 : i);
          f.a[r][c] = widen(data + 2 * i);
          f.openA[r][c] = open;
        }
        f.isOpen |= open;
      }
  } else {
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned lane = 0; lane < warpLanes; ++lane) {
        Slot from = list[2 * perLane + r];
        Shadow shadow = see(w, from, lane, in);
        f.isOpen |= shadow != 0;
        for (unsigned half = 0; half < 2; ++half) {
          unsigned row = lane / 4 + 8 * (r % 2),
                   k = lane % 4 * 2 + half + 8 * (r / 2);
          uint32_t bits = w.word(from)[lane] >> 16 * half & 0xFFFF;
          f.a[row][k] = in.other == bf16 ? bf16ToFloat(bits) : f16ToFloat(bits);
          f.openA[row][k] = (shadow >> 2 * half & 3) != 0;
        }
      }
  }
  bool alongColumns = in.kind & 2;
  uint32_t outerCount = alongColumns ? 16 : columns,
           innerCount = alongColumns ? columns : 16;
  for (uint32_t outer = 0; outer < outerCount; ++outer)
    for (uint32_t eight = 0; eight < innerCount; eight += 8) {
      bool open = false;
      uint32_t col = alongColumns ? eight : outer,
               k = alongColumns ? outer : eight;
      const uint8_t *data = chunk(w, in, b.chunk(col, k, alongColumns), open);
      if (!data)
        return;
      for (uint32_t i = 0; i < 8; ++i) {
        uint32_t at = (k + (alongColumns ? 0 : i)) * columns + col +
                      (alongColumns ? i : 0);
        f.b[at] = widen(data + 2 * i);
        f.openB[at] = open;
      }
      f.isOpen |= open;
    }
  // Registers may still be those of a product before: both add to the same.
  auto at = [&](uint32_t i, unsigned lane) {
    return (lane / 4 + 8 * (i / 2 % 2)) * columns + 8 * (i / 4) + lane % 4 * 2 +
           i % 2;
  };
  bool isDirty = false;
  for (uint32_t i = 0; i < perLane && adds; ++i)
    isDirty |= w.isDirty[list[perLane + i]] != 0;
  std::fill(f.openSums.begin(), f.openSums.end(), uint8_t(0));
  for (uint32_t i = 0; i < perLane; ++i) {
    Slot from = list[perLane + i];
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      f.sums[at(i, lane)] =
          adds ? std::bit_cast<float>(w.word(from)[lane]) : 0.0F;
      if (isDirty) {
        bool open =
            (w.shadow(from)[lane] & undefinedWord) != 0 && w.isDirty[from];
        f.openSums[at(i, lane)] = open;
        f.isOpen |= open;
      }
    }
  }
  f.multiply(columns);
  Shadow group = shadowOfGroup(w.productsCommitted + 1);
  for (uint32_t i = 0; i < perLane; ++i)
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      w.word(list[i])[lane] = std::bit_cast<uint32_t>(f.sums[at(i, lane)]);
      bool open = f.isOpen && f.openSums[at(i, lane)];
      setShadow(w, list[i], lane, group | (open ? undefinedWord : Shadow(0)));
    }
  w.hasOpenProducts = true;
}

} // namespace selvedge::sim
