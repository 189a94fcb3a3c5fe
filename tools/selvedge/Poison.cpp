// Contents for memory that a kernel must not depend on.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Poison.h"

#include "selvedge/Numeric.h"
#include "tools/selvedge/RandomSequence.h"
#include "tools/selvedge/Suggest.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace selvedge::cli {

namespace {

/// In the order of the enumeration.
constexpr std::string_view poisonNames[] = {
    "none", "nan", "inf", "ninf", "max", "random", "subnormal", "ff"};

/// The largest value below all normal ones.
double largestSubnormal(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return 0x1p-126 - 0x1p-133;
  case DType::F16:
    return 0x1p-14 - 0x1p-24;
  case DType::E4M3:
    return 0x1p-6 - 0x1p-9;
  case DType::E5M2:
    return 0x1p-14 - 0x1p-16;
  case DType::F32:
    return 0x1p-126 - 0x1p-149;
  case DType::F64:
    return std::numeric_limits<double>::min() -
           std::numeric_limits<double>::denorm_min();
  default:
    return 1;
  }
}

/// The value of a kind that is one.
double valueOf(Poison poison, DType dtype) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (poison) {
  case Poison::Nan:
    return isFloat(dtype) ? std::numeric_limits<double>::quiet_NaN() : -1;
  case Poison::Inf:
    return isFloat(dtype) ? infinity : maxFinite(dtype);
  case Poison::NegInf:
    // Saturates in an integer.
    return -infinity;
  case Poison::Subnormal:
    return largestSubnormal(dtype);
  default:
    return maxFinite(dtype);
  }
}

} // namespace

std::string_view poisonName(Poison poison) {
  return poisonNames[static_cast<size_t>(poison)];
}

Result<std::vector<Poison>> parsePoisons(std::string_view text) {
  std::vector<Poison> poisons;
  std::vector<std::string> names(std::begin(poisonNames),
                                 std::end(poisonNames));
  names.push_back("all");
  if (text == "all") {
    for (size_t i = 1; i < std::size(poisonNames); ++i)
      poisons.push_back(static_cast<Poison>(i));
    return poisons;
  }
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view name = text.substr(begin, end - begin);
    const auto *known =
        std::find(std::begin(poisonNames), std::end(poisonNames), name);
    if (known == std::end(poisonNames))
      return Status::badInput(
          fmt::format("--poison '{}' is unknown: expected {} or all{}", name,
                      fmt::join(poisonNames, ", "), didYouMean(name, names)));
    poisons.push_back(static_cast<Poison>(known - std::begin(poisonNames)));
    begin = end + 1;
  }
  return poisons;
}

void fillPoison(Poison poison, DType dtype, std::span<std::byte> memory) {
  if (poison == Poison::None || poison == Poison::Ones) {
    std::ranges::fill(memory, std::byte(poison == Poison::None ? 0 : 0xff));
    return;
  }
  if (poison == Poison::Random) {
    RandomSequence random(0, "poison");
    for (std::byte &byte : memory)
      byte = std::byte(random.bits() >> 56);
    return;
  }
  std::byte pattern[8] = {};
  storeElement(dtype, pattern, 0, valueOf(poison, dtype));
  auto size = static_cast<size_t>(sizeOf(dtype));
  for (size_t at = 0; at < memory.size(); at += size)
    std::memcpy(memory.data() + at, pattern,
                std::min(size, memory.size() - at));
}

} // namespace selvedge::cli
