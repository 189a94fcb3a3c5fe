// Products of the tensor cores by warps.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/TensorCore.h"
#include "compiler/Sim/Block.h"

namespace selvedge::sim {

void Fragments::multiply(uint32_t columns) {
  for (uint32_t row = 0; row < 16; ++row) {
    float *sum = sums.data() + size_t(row) * columns;
    for (uint32_t k = 0; k < 16; ++k) {
      float x = a[row][k];
      const float *y = b.data() + size_t(k) * columns;
      for (uint32_t col = 0; col < columns; ++col)
        sum[col] += x * y[col];
    }
  }
  if (!isOpen)
    return;
  // What any factor leaves open, the sum does.
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t col = 0; col < columns; ++col) {
      uint8_t open = openSums[size_t(row) * columns + col];
      for (uint32_t k = 0; k < 16; ++k)
        open |= openA[row][k] | openB[size_t(k) * columns + col];
      openSums[size_t(row) * columns + col] = open;
    }
}

/// m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): registers 0 to 3 of
/// the list are A, then two of B, four sums, four results.
void Block::mma(Warp &w, const Instr &in) {
  const Slot *list = program.list(in);
  Fragments &f = fragments;
  f.resize(8);
  auto widen = [&](uint32_t bits) {
    return in.other == bf16 ? bf16ToFloat(bits) : f16ToFloat(bits & 0xFFFF);
  };
  f.isOpen = false;
  for (unsigned i = 0; i < 10; ++i)
    f.isOpen |= w.isDirty[list[i]] != 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    unsigned group = lane / 4, member = lane % 4;
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = group + 8 * (r % 2), k = member * 2 + half + 8 * (r / 2);
        f.a[row][k] = widen(w.word(list[r])[lane] >> 16 * half);
        if (f.isOpen)
          f.openA[row][k] = (see(w, list[r], lane, in) >> 2 * half & 3) != 0;
      }
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned k = member * 2 + half + 8 * r;
        f.b[k * 8 + group] = widen(w.word(list[4 + r])[lane] >> 16 * half);
        if (f.isOpen)
          f.openB[k * 8 + group] =
              (see(w, list[4 + r], lane, in) >> 2 * half & 3) != 0;
      }
    for (unsigned r = 0; r < 4; ++r) {
      unsigned at = (group + 8 * (r / 2)) * 8 + member * 2 + r % 2;
      f.sums[at] = std::bit_cast<float>(w.word(list[6 + r])[lane]);
      if (f.isOpen)
        f.openSums[at] = see(w, list[6 + r], lane, in) != 0;
    }
  }
  f.multiply(8);
  for (unsigned r = 0; r < 4; ++r) {
    Slot to = list[10 + r];
    if (!f.isOpen)
      clean(w, to, allLanes);
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      unsigned at = (lane / 4 + 8 * (r / 2)) * 8 + lane % 4 * 2 + r % 2;
      w.word(to)[lane] = std::bit_cast<uint32_t>(f.sums[at]);
      if (f.isOpen)
        setShadow(w, to, lane, f.openSums[at] ? undefinedWord : Shadow(0));
    }
  }
}

} // namespace selvedge::sim
