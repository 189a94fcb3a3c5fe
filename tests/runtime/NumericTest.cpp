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

uint8_t byteOf(DType type, double value) {
  uint8_t byte = 0;
  storeElement(type, &byte, 0, value);
  return byte;
}

TEST(Numeric, allBytesRoundTrip) {
  for (DType type : {DType::E4M3, DType::E5M2, DType::I8, DType::U8})
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
      auto byte = static_cast<uint8_t>(pattern);
      double value = loadElement(type, &byte, 0);
      uint8_t again = byteOf(type, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(loadElement(type, &again, 0)));
      else
        EXPECT_EQ(again, byte);
    }
}

TEST(Numeric, floatsOfEightBits) {
  EXPECT_EQ(byteOf(DType::E4M3, 1), 0x38);
  EXPECT_EQ(byteOf(DType::E4M3, -448), 0xfe);
  EXPECT_EQ(byteOf(DType::E4M3, 463.9), 0x7e);
  // There is no Inf.
  EXPECT_EQ(byteOf(DType::E4M3, 465), 0x7f);
  EXPECT_EQ(byteOf(DType::E4M3, -std::numeric_limits<double>::infinity()),
            0xff);
  EXPECT_EQ(byteOf(DType::E4M3, 0x1p-9), 1);
  EXPECT_EQ(byteOf(DType::E4M3, 0x1p-10), 0);
  EXPECT_EQ(byteOf(DType::E4M3, 0x1.8p-9), 2);
  EXPECT_EQ(byteOf(DType::E4M3, -0.0), 0x80);
  EXPECT_EQ(byteOf(DType::E5M2, 1), 0x3c);
  EXPECT_EQ(byteOf(DType::E5M2, 57344), 0x7b);
  EXPECT_EQ(byteOf(DType::E5M2, 61440), 0x7c);
  EXPECT_EQ(byteOf(DType::E5M2, 1e300), 0x7c);
  EXPECT_EQ(byteOf(DType::E5M2, 0x1p-16), 1);
  uint8_t infinity = 0xfc;
  EXPECT_EQ(loadElement(DType::E5M2, &infinity, 0),
            -std::numeric_limits<double>::infinity());
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
