// Contents for memory that a kernel must not depend on.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Poison.h"

#include "selvedge/Numeric.h"
#include "tools/selvedge/RandomSequence.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace selvedge::cli {

std::optional<Poison> poisonFromName(std::string_view name) {
  const std::pair<std::string_view, Poison> names[] = {
      {"none", Poison::None},
      {"nan", Poison::Nan},
      {"inf", Poison::Inf},
      {"neginf", Poison::NegInf},
      {"max", Poison::Max},
      {"random", Poison::Random},
      {"subnormal", Poison::Subnormal},
  };
  for (const auto &[text, poison] : names)
    if (text == name)
      return poison;
  return std::nullopt;
}

void fillPoison(Poison poison, DType dtype, std::span<std::byte> memory) {
  if (poison == Poison::None || poison == Poison::Random) {
    RandomSequence random(0, "poison");
    for (std::byte &byte : memory)
      byte = std::byte(poison == Poison::None ? 0 : random.bits() >> 56);
    return;
  }
  double value = maxFinite(dtype);
  if (poison == Poison::Nan)
    value = isFloat(dtype) ? std::numeric_limits<double>::quiet_NaN() : -1;
  else if (poison == Poison::Inf && isFloat(dtype))
    value = std::numeric_limits<double>::infinity();
  else if (poison == Poison::NegInf && isFloat(dtype))
    value = -std::numeric_limits<double>::infinity();
  std::byte pattern[8] = {};
  storeElement(dtype, pattern, 0, value);
  // The smallest float of any type has the bits of 1.
  if (poison == Poison::Subnormal && isFloat(dtype)) {
    std::fill(std::begin(pattern), std::end(pattern), std::byte(0));
    pattern[0] = std::byte(1);
  }
  auto size = static_cast<size_t>(sizeOf(dtype));
  for (size_t at = 0; at < memory.size(); at += size)
    std::memcpy(memory.data() + at, pattern,
                std::min(size, memory.size() - at));
}

} // namespace selvedge::cli
