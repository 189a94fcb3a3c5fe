// What the lanes of a warp do together.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <cstring>

namespace selvedge::sim {

/// `kind`: 0 takes the lane that `b` names, but for the bits of `imm`, which
/// are the reader's own, 1 the one whose number differs in `b` (PTX ISA,
/// "shfl.sync").
void Block::shuffle(Warp &w, const Instr &in, uint32_t lanes) {
  if (!needs(w, in.b, lanes, in, "a lane's number"))
    return;
  const uint32_t *a = w.word(in.a), *b = w.word(in.b);
  uint32_t *dst = w.word(in.dst);
  uint32_t values[warpLanes];
  Shadow shadows[warpLanes] = {};
  auto own = static_cast<uint32_t>(in.imm);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t named = in.kind ? lane ^ b[lane] : (lane & own) | (b[lane] & ~own);
    uint32_t from = named % warpLanes;
    if (!(lanes >> from & 1))
      return fail(w, lane, in, "takes a value from a lane that has ended");
    values[lane] = a[from];
    shadows[lane] = see(w, in.a, from, in);
  });
  forLanes(lanes, [&](unsigned lane) {
    dst[lane] = values[lane];
    setShadow(w, in.dst, lane, shadows[lane]);
  });
  if (!w.isDirty[in.a])
    clean(w, in.dst, lanes);
}

void Block::vote(Warp &w, const Instr &in, uint32_t lanes) {
  const uint32_t *a = w.word(in.a);
  bool isAny = false, isOpen = false;
  forLanes(lanes, [&](unsigned lane) {
    bool isUndefined = see(w, in.a, lane, in) != 0;
    isOpen |= isUndefined;
    isAny |= !isUndefined && (a[lane] & 1);
  });
  // One that is known to be true decides.
  Shadow shadow = isOpen && !isAny ? undefinedWord : 0;
  forLanes(lanes, [&](unsigned lane) {
    w.word(in.dst)[lane] = isAny;
    setShadow(w, in.dst, lane, shadow);
  });
}

/// Four 8x8 matrices of 16-bit elements: lane 8 * m + r has the address of row
/// r of matrix m; lane l gets elements 2 * (l % 4) and the next of row l / 4,
/// or, transposed, of that column (PTX ISA, "ldmatrix").
void Block::loadMatrix(Warp &w, const Instr &in, uint32_t lanes) {
  constexpr uint32_t rowBytes = 16;
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  if (lanes != allLanes)
    return fail(w, 0, in, "needs all lanes of the warp");
  uint16_t element[4][8][8];
  bool isOpen[4][8][8], isAnyOpen = false;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    auto offset =
        findShared(w, lane, in, addressOf(w, in, lane), rowBytes, rowBytes);
    if (!offset ||
        !noteRead(threadAccess(w, lane, in), w, lane, in, *offset, rowBytes))
      return;
    std::memcpy(element[lane / 8][lane % 8], shared.data(*offset), rowBytes);
    const State *states = shared.states(*offset);
    for (unsigned i = 0; i < 8; ++i) {
      bool open = states[2 * i] != State::Defined ||
                  states[2 * i + 1] != State::Defined;
      isOpen[lane / 8][lane % 8][i] = open;
      isAnyOpen |= open;
    }
  }
  const Slot *to = program.list(in);
  for (unsigned m = 0; m < 4; ++m) {
    if (!isAnyOpen)
      clean(w, to[m], allLanes);
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      uint32_t value = 0;
      Shadow shadow = 0;
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4, col = lane % 4 * 2 + i;
        if (in.kind)
          std::swap(row, col);
        value |= uint32_t(element[m][row][col]) << 16 * i;
        shadow |= Shadow(isOpen[m][row][col] ? 3U << 2 * i : 0U);
      }
      w.word(to[m])[lane] = value;
      if (isAnyOpen)
        setShadow(w, to[m], lane, shadow);
    }
  }
}

/// The inverse (PTX ISA, "stmatrix").
void Block::storeMatrix(Warp &w, const Instr &in, uint32_t lanes) {
  constexpr uint32_t rowBytes = 16;
  if (!needs(w, in.a, lanes, in, "an address"))
    return;
  if (lanes != allLanes)
    return fail(w, 0, in, "needs all lanes of the warp");
  const Slot *from = program.list(in);
  uint16_t element[4][8][8];
  bool isOpen[4][8][8];
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      uint32_t value = w.word(from[m])[lane];
      Shadow shadow = see(w, from[m], lane, in);
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4, col = lane % 4 * 2 + i;
        if (in.kind)
          std::swap(row, col);
        element[m][row][col] = static_cast<uint16_t>(value >> 16 * i);
        isOpen[m][row][col] = (shadow >> 2 * i & 3) != 0;
      }
    }
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    auto offset =
        findShared(w, lane, in, addressOf(w, in, lane), rowBytes, rowBytes);
    if (!offset ||
        !noteWrite(threadAccess(w, lane, in), w, lane, in, *offset, rowBytes))
      return;
    std::memcpy(shared.data(*offset), element[lane / 8][lane % 8], rowBytes);
    for (unsigned i = 0; i < rowBytes; ++i)
      shared.states(*offset)[i] =
          isOpen[lane / 8][lane % 8][i / 2] ? State::Undefined : State::Defined;
  }
}

} // namespace selvedge::sim
