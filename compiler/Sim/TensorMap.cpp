// What the runtime says of a tensor to the engine that copies boxes of it.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/TensorMap.h"

#include <cstring>

namespace selvedge::sim {

namespace {

/// Numbers of cuda.h.
constexpr int32_t typeI32 = 3, typeF16 = 6, typeF32 = 7, typeBF16 = 9;

/// The fields in fewer bytes; what does not fit, check() refuses.
struct Packed {
  uint64_t address;
  std::array<uint64_t, 4> strides;
  std::array<uint32_t, 5> lastIndex;
  std::array<uint8_t, 5> lastOfBox;
  std::array<uint8_t, 5> steps;
  uint8_t type, rank, interleave, swizzle, promotion, fill;
};
static_assert(sizeof(Packed) <= TensorMap::bytes);

} // namespace

uint32_t TensorMap::elementBytes() const {
  switch (type) {
  case typeF16:
  case typeBF16:
    return 2;
  case typeI32:
  case typeF32:
    return 4;
  default:
    return 0;
  }
}

std::string TensorMap::check() const {
  constexpr uint64_t rowAlign = 16;
  if (elementBytes() == 0)
    return "the element type is not known";
  if (rank < 1 || rank > maxRank)
    return "the rank is not in 1..5";
  if (address % rowAlign != 0)
    return "the address is not aligned to 16 bytes";
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > uint64_t(1) << 32)
      return "an extent is not in 1..2^32";
    if (box[i] < 1 || box[i] > 256)
      return "an extent of the box is not in 1..256";
    if (steps[i] != 1)
      return "the box has steps";
    if (i + 1 < rank &&
        (strides[i] % rowAlign != 0 || strides[i] >= uint64_t(1) << 40))
      return "a stride is not a multiple of 16 bytes below 2^40";
  }
  uint64_t row = uint64_t(box[0]) * elementBytes();
  if (row % rowAlign != 0)
    return "a row of the box is not a multiple of 16 bytes";
  if (interleave != 0 || swizzle < 0 || swizzle > 3 || fill != 0)
    return "the options are not those of a tiled map that fills with zeros";
  if (swizzle != 0 && row > uint64_t(16) << swizzle)
    return "a row of the box is longer than the swizzle";
  return "";
}

void TensorMap::encode(void *out) const {
  Packed packed = {};
  packed.address = address;
  packed.strides = strides;
  for (uint32_t i = 0; i < rank; ++i) {
    packed.lastIndex[i] = static_cast<uint32_t>(extents[i] - 1);
    packed.lastOfBox[i] = static_cast<uint8_t>(box[i] - 1);
    packed.steps[i] = static_cast<uint8_t>(steps[i]);
  }
  packed.type = static_cast<uint8_t>(type);
  packed.rank = static_cast<uint8_t>(rank);
  packed.interleave = static_cast<uint8_t>(interleave);
  packed.swizzle = static_cast<uint8_t>(swizzle);
  packed.promotion = static_cast<uint8_t>(promotion);
  packed.fill = static_cast<uint8_t>(fill);
  std::memset(out, 0, bytes);
  std::memcpy(out, &packed, sizeof(packed));
}

TensorMap TensorMap::decode(const void *in) {
  Packed packed;
  std::memcpy(&packed, in, sizeof(packed));
  TensorMap map = {};
  map.address = packed.address;
  map.strides = packed.strides;
  for (uint32_t i = 0; i < maxRank; ++i) {
    map.extents[i] = uint64_t(packed.lastIndex[i]) + 1;
    map.box[i] = uint32_t(packed.lastOfBox[i]) + 1;
    map.steps[i] = packed.steps[i];
  }
  map.type = packed.type;
  map.rank = packed.rank;
  map.interleave = packed.interleave;
  map.swizzle = packed.swizzle;
  map.promotion = packed.promotion;
  map.fill = packed.fill;
  return map;
}

} // namespace selvedge::sim
