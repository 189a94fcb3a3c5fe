// States of registers.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

namespace selvedge::sim {

Shadow Block::see(Warp &w, Slot slot, unsigned lane, const Instr &in) {
  if (!w.isDirty[slot])
    return 0;
  Shadow &shadow = w.shadow(slot)[lane];
  if (shadow >> groupShift) {
    if (w.isInFlight(shadow))
      fail(w, lane, in, "uses the result of a product that is in flight");
    shadow &= undefinedWord;
  }
  return shadow;
}

bool Block::needs(Warp &w, Slot slot, uint32_t lanes, const Instr &in,
                  const char *what) {
  if (!w.isDirty[slot])
    return true;
  bool isDefined = true;
  forLanes(lanes, [&](unsigned lane) {
    if (isDefined && see(w, slot, lane, in)) {
      isDefined = false;
      fail(w, lane, in,
           std::string("has undefined bits where ") + what +
               " depends on them");
    }
  });
  return isDefined && fault.empty();
}

void Block::clean(Warp &w, Slot slot, uint32_t lanes) {
  if (!w.isDirty[slot])
    return;
  Shadow *shadow = w.shadow(slot);
  forLanes(lanes, [&](unsigned lane) { shadow[lane] = 0; });
  if (lanes == allLanes)
    w.isDirty[slot] = false;
}

void Block::setShadow(Warp &w, Slot slot, unsigned lane, Shadow shadow) {
  if (!shadow && !w.isDirty[slot])
    return;
  if (!w.isDirty[slot]) {
    std::fill_n(w.shadow(slot), warpLanes, Shadow(0));
    w.isDirty[slot] = true;
  }
  w.shadow(slot)[lane] = shadow;
}

void Block::spread(Warp &w, const Instr &in, uint32_t lanes,
                   unsigned operands) {
  const Slot sources[] = {in.a, in.b, in.c};
  bool isDirty = false;
  for (unsigned i = 0; i < operands; ++i)
    isDirty |= w.isDirty[sources[i]] != 0;
  if (!isDirty)
    return clean(w, in.dst, lanes);
  forLanes(lanes, [&](unsigned lane) {
    Shadow any = 0;
    for (unsigned i = 0; i < operands; ++i)
      any |= see(w, sources[i], lane, in);
    setShadow(w, in.dst, lane, any ? undefinedWord : Shadow(0));
  });
}

void Block::executeMove(Warp &w, const Instr &in, uint32_t lanes) {
  if (in.op == Op::Undefine) {
    forLanes(lanes, [&](unsigned lane) {
      if (in.width == 64)
        w.wide(in.dst)[lane] = ~uint64_t(0);
      else
        w.word(in.dst)[lane] = ~uint32_t(0);
      setShadow(w, in.dst, lane, undefinedWord);
    });
    return;
  }
  if (in.op == Op::MoveWide) {
    const uint64_t *a = w.wide(in.a);
    uint64_t *dst = w.wide(in.dst);
    forLanes(lanes, [&](unsigned lane) { dst[lane] = a[lane]; });
  } else {
    const uint32_t *a = w.word(in.a);
    uint32_t *dst = w.word(in.dst);
    forLanes(lanes, [&](unsigned lane) { dst[lane] = a[lane]; });
  }
  // What a product has still to write stays so.
  if (!w.isDirty[in.a])
    return clean(w, in.dst, lanes);
  forLanes(lanes, [&](unsigned lane) {
    setShadow(w, in.dst, lane, w.shadow(in.a)[lane]);
  });
}

} // namespace selvedge::sim
