// Conversions between doubles and element types.
// SPDX-License-Identifier: MIT
#include "selvedge/Numeric.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace selvedge;

namespace {

uint16_t bitsOf(DType type, double value) {
  uint16_t bits = 0;
  storeElement(type, &bits, 0, value);
  return bits;
}

TEST(Numeric, allSixteenBitPatternsRoundTrip) {
  for (DType type : {DType::BF16, DType::F16})
    for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
      auto bits = static_cast<uint16_t>(pattern);
      double value = loadElement(type, &bits, 0);
      if (std::isnan(value)) {
        uint16_t again = bitsOf(type, value);
        EXPECT_TRUE(std::isnan(loadElement(type, &again, 0)));
      } else {
        EXPECT_EQ(bitsOf(type, value), bits);
      }
    }
}

TEST(Numeric, roundsOnceToNearestEven) {
  EXPECT_EQ(bitsOf(DType::BF16, 1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(bitsOf(DType::BF16, 1 + 3 * 0x1p-8), 0x3f82);
  // Through float this would first round down to the tie, then to even.
  EXPECT_EQ(bitsOf(DType::BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(bitsOf(DType::F16, 65519), 0x7bff);
  EXPECT_EQ(bitsOf(DType::F16, 65520), 0x7c00);
  EXPECT_EQ(bitsOf(DType::F16, -1e30), 0xfc00);
  EXPECT_EQ(bitsOf(DType::F16, 0x1p-24), 1);
  EXPECT_EQ(bitsOf(DType::F16, 0x1p-25), 0);
  EXPECT_EQ(bitsOf(DType::F16, -0.0), 0x8000);
}

TEST(Numeric, floatOverflow) {
  float value = 0;
  storeElement(DType::F32, &value, 0, 1e300);
  EXPECT_EQ(value, std::numeric_limits<float>::infinity());
  storeElement(DType::F32, &value, 0, -1e300);
  EXPECT_EQ(value, -std::numeric_limits<float>::infinity());
  storeElement(DType::F32, &value, 0, std::numeric_limits<float>::max());
  EXPECT_EQ(value, std::numeric_limits<float>::max());
}

TEST(Numeric, integersSaturate) {
  int32_t value = 1;
  storeElement(DType::I32, &value, 0, 1e20);
  EXPECT_EQ(value, std::numeric_limits<int32_t>::max());
  storeElement(DType::I32, &value, 0, std::nan(""));
  EXPECT_EQ(value, 0);
  int64_t wide = 0;
  storeElement(DType::I64, &wide, 0, 1e300);
  EXPECT_EQ(wide, std::numeric_limits<int64_t>::max());
  uint8_t byte = 1;
  storeElement(DType::U8, &byte, 0, -3);
  EXPECT_EQ(byte, 0);
}

TEST(Tensor, sizesDoNotOverflow) {
  EXPECT_EQ(*elementCount({}), 1);
  EXPECT_EQ(*elementCount({3, 0, 5}), 0);
  EXPECT_FALSE(elementCount({1LL << 40, 1LL << 40}).ok());
  EXPECT_FALSE(elementCount({0, 1LL << 40, 1LL << 40}).ok());
  EXPECT_FALSE(elementCount({-1}).ok());
  EXPECT_FALSE(byteCount(DType::F64, {1LL << 61}).ok());
  EXPECT_EQ(contiguousStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
}

} // namespace
