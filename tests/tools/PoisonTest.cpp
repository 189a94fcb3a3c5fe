// Poison patterns by kind and element type.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/Poison.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>

using namespace selvedge;
using namespace selvedge::cli;

namespace {

template <typename T>
T patternOf(Poison poison, DType dtype) {
  std::array<std::byte, sizeof(T) * 3> memory;
  memory.fill(std::byte(0x5a));
  fillPoison(poison, dtype, memory);
  std::array<T, 3> values;
  std::memcpy(values.data(), memory.data(), memory.size());
  if (poison != Poison::Random) {
    EXPECT_EQ(values[0], values[1]);
    EXPECT_EQ(values[0], values[2]);
  }
  return values[0];
}

TEST(Poison, floats) {
  EXPECT_EQ(patternOf<uint16_t>(Poison::None, DType::BF16), 0);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Nan, DType::BF16), 0x7fc0);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Nan, DType::F16), 0x7e00);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Inf, DType::BF16), 0x7f80);
  EXPECT_EQ(patternOf<uint16_t>(Poison::NegInf, DType::BF16), 0xff80);
  EXPECT_EQ(patternOf<uint16_t>(Poison::NegInf, DType::F16), 0xfc00);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Max, DType::F16), 0x7bff);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Subnormal, DType::BF16), 0x007f);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Subnormal, DType::F16), 0x03ff);
  EXPECT_EQ(patternOf<uint32_t>(Poison::Subnormal, DType::F32), 0x007fffffu);
  EXPECT_EQ(patternOf<uint64_t>(Poison::Subnormal, DType::F64),
            0x000fffffffffffffu);
  EXPECT_EQ(patternOf<uint16_t>(Poison::Ones, DType::BF16), 0xffff);
  EXPECT_EQ(patternOf<uint32_t>(Poison::Nan, DType::F32), 0x7fc00000u);
  // e4m3 has no Inf.
  EXPECT_EQ(patternOf<uint8_t>(Poison::Nan, DType::E4M3), 0x7f);
  EXPECT_EQ(patternOf<uint8_t>(Poison::NegInf, DType::E4M3), 0xff);
  EXPECT_EQ(patternOf<uint8_t>(Poison::Max, DType::E4M3), 0x7e);
  EXPECT_EQ(patternOf<uint8_t>(Poison::Subnormal, DType::E4M3), 0x07);
  EXPECT_EQ(patternOf<uint8_t>(Poison::Inf, DType::E5M2), 0x7c);
  EXPECT_EQ(patternOf<uint8_t>(Poison::Subnormal, DType::E5M2), 0x03);
}

TEST(Poison, integers) {
  EXPECT_EQ(patternOf<int32_t>(Poison::Nan, DType::I32), -1);
  EXPECT_EQ(patternOf<int32_t>(Poison::Inf, DType::I32), INT32_MAX);
  EXPECT_EQ(patternOf<int32_t>(Poison::NegInf, DType::I32), INT32_MIN);
  EXPECT_EQ(patternOf<int64_t>(Poison::NegInf, DType::I64), INT64_MIN);
  EXPECT_EQ(patternOf<int32_t>(Poison::Subnormal, DType::I32), 1);
  EXPECT_EQ(patternOf<uint8_t>(Poison::Max, DType::U8), 255);
}

TEST(Poison, randomBytesDifferAndRepeat) {
  std::array<std::byte, 64> first = {};
  std::array<std::byte, 64> second = {};
  fillPoison(Poison::Random, DType::F32, first);
  fillPoison(Poison::Random, DType::BF16, second);
  EXPECT_EQ(first, second);
  EXPECT_NE(std::memcmp(first.data(), first.data() + 32, 32), 0);
}

TEST(Poison, parses) {
  EXPECT_THAT(*parsePoisons("nan,ff"),
              testing::ElementsAre(Poison::Nan, Poison::Ones));
  Result<std::vector<Poison>> all = parsePoisons("all");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 7u);
  EXPECT_THAT(*all, testing::Not(testing::Contains(Poison::None)));
  for (Poison poison : *all)
    EXPECT_EQ(parsePoisons(poisonName(poison))->front(), poison);
  for (const char *wrong : {"", "zero", "nan,", "nan,,inf", "all,nan"})
    EXPECT_EQ(parsePoisons(wrong).status().code(), ErrorCode::BadInput)
        << wrong;
  EXPECT_EQ(parsePoisons("zero").status().message(),
            "--poison 'zero' is unknown: expected none, nan, inf, ninf, max, "
            "random, subnormal, ff or all");
}

} // namespace
