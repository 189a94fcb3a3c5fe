// Conversion from and to DLPack.
// SPDX-License-Identifier: MIT
#include "selvedge/DLPack.h"

#include <gtest/gtest.h>

using namespace selvedge;

namespace {

TEST(DLPack, codesOfBytes) {
  auto codeOf = [](DType type) { return toDLPack(type).code; };
  EXPECT_EQ(codeOf(DType::I8), 0);
  EXPECT_EQ(codeOf(DType::U8), 1);
  // kDLFloat8_e4m3fn, kDLFloat8_e5m2
  EXPECT_EQ(codeOf(DType::E4M3), 10);
  EXPECT_EQ(codeOf(DType::E5M2), 12);
}

TEST(DLPack, roundTripOfEveryType) {
  for (const char *name : {"bf16", "f16", "f32", "f64", "i32", "i64", "i8",
                           "u8", "bool", "e4m3", "e5m2"}) {
    TensorView view = contiguousView(reinterpret_cast<void *>(0x100),
                                     *dtypeFromName(name), {2, 3});
    auto back = fromDLPack(toDLPack(view, 1), 1);
    ASSERT_TRUE(back.ok()) << name;
    EXPECT_EQ(back->data, view.data);
    EXPECT_EQ(back->dtype, view.dtype);
    EXPECT_EQ(back->shape, view.shape);
    EXPECT_EQ(back->strides, view.strides);
  }
}

TEST(DLPack, offsetsAndMissingStrides) {
  TensorView view =
      contiguousView(reinterpret_cast<void *>(0x100), DType::F32, {2, 3});
  dlpack::Tensor tensor = toDLPack(view);
  tensor.strides = nullptr;
  tensor.byteOffset = 8;
  auto back = fromDLPack(tensor);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(back->data, reinterpret_cast<void *>(0x108));
}

TEST(DLPack, unsupportedTensorsAreRefused) {
  TensorView view =
      contiguousView(reinterpret_cast<void *>(0x100), DType::F32, {2});
  const dlpack::Tensor good = toDLPack(view);
  dlpack::Tensor bad = good;
  bad.device.type = 1;
  EXPECT_FALSE(fromDLPack(bad).ok());
  EXPECT_FALSE(fromDLPack(good, 1).ok());
  bad = good;
  bad.dtype.lanes = 4;
  EXPECT_FALSE(fromDLPack(bad).ok());
  bad = good;
  bad.dtype.bits = 8;
  EXPECT_FALSE(fromDLPack(bad).ok());
  bad = good;
  bad.ndim = -1;
  EXPECT_FALSE(fromDLPack(bad).ok());
}

} // namespace
