// Tensors between canaries: what a launch may change.
// SPDX-License-Identifier: MIT
#include "tools/selvedge/GuardedImage.h"

#include "selvedge/Numeric.h"

#include <gtest/gtest.h>

using namespace selvedge;
using namespace selvedge::cli;

namespace {

constexpr size_t guard = GuardedImage::guardBytes;

std::vector<std::byte> numbers(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i + 1));
  return fromDoubles(DType::F32, values);
}

/// The image's bytes, to damage.
std::vector<std::byte> copyOf(const GuardedImage &image) {
  return {image.bytes().begin(), image.bytes().end()};
}

TEST(GuardedImage, storesAndLoadsAnyLayout) {
  for (LayoutKind kind :
       {LayoutKind::Contiguous, LayoutKind::Padded, LayoutKind::Transposed,
        LayoutKind::Permuted, LayoutKind::Unaligned}) {
    GuardedImage image(DType::F32, makeLayout(kind, {2, 3, 4}), Poison::Nan);
    image.store(numbers(24));
    EXPECT_EQ(image.load(image.bytes()), numbers(24));
    EXPECT_TRUE(image.check("x", image.bytes(), true).ok());
    TensorView view = image.view(copyOf(image).data());
    EXPECT_EQ(view.shape, (std::vector<int64_t>{2, 3, 4}));
  }
}

TEST(GuardedImage, viewIsAlignedUnlessAskedOtherwise) {
  GuardedImage aligned(DType::BF16, makeLayout(LayoutKind::Padded, {2, 8}),
                       Poison::Nan);
  GuardedImage off(DType::BF16, makeLayout(LayoutKind::Unaligned, {2, 8}),
                   Poison::Nan);
  auto address = [](const GuardedImage &image) {
    void *base = nullptr;
    return reinterpret_cast<uintptr_t>(image.view(base).data);
  };
  EXPECT_EQ(address(aligned) % 256, 0u);
  EXPECT_EQ(address(off) % 256, 2u);
}

TEST(GuardedImage, leavesUnchosenElementsPoisoned) {
  GuardedImage image(DType::F32, makeLayout(LayoutKind::Contiguous, {4}),
                     Poison::Ones);
  image.store(numbers(4), std::vector<uint8_t>{1, 0, 1, 0});
  std::vector<double> values = toDoubles(DType::F32, image.load(image.bytes()));
  EXPECT_EQ(values[0], 1);
  EXPECT_NE(values[1], values[1]);
  EXPECT_EQ(values[2], 3);
}

TEST(GuardedImage, cleanGuardsAreNotZero) {
  GuardedImage image(DType::F32, makeLayout(LayoutKind::Padded, {2, 2}),
                     Poison::None);
  std::vector<std::byte> now = copyOf(image);
  EXPECT_EQ(toDoubles(DType::F32, image.load(now)),
            (std::vector<double>{0, 0, 0, 0}));
  // A zero in the gap after the first row.
  std::fill_n(now.begin() + guard + 8, 4, std::byte(0));
  EXPECT_FALSE(image.check("y", now, false).ok());
}

TEST(GuardedImage, reportsWrites) {
  GuardedImage image(DType::F32, makeLayout(LayoutKind::Padded, {2, 2}),
                     Poison::Nan);
  image.store(numbers(4));
  auto message = [&](size_t offset, bool readOnly) {
    std::vector<std::byte> now = copyOf(image);
    now[offset] ^= std::byte(0xff);
    Status status = image.check("y", now, readOnly);
    EXPECT_EQ(status.ok(), status.message().empty());
    if (!status.ok()) {
      EXPECT_EQ(status.code(), ErrorCode::Failed);
    }
    return status.message();
  };
  size_t bytes = image.bytes().size() - 2 * guard;
  ASSERT_EQ(bytes, 48u);
  EXPECT_EQ(message(guard - 4, false),
            "a kernel wrote outside 'y' at byte -4 of 48: found ff 00 c0 7f 00 "
            "00 80 3f, expected 00 00 c0 7f 00 00 80 3f");
  EXPECT_EQ(message(guard + bytes, false),
            "a kernel wrote outside 'y' at byte 48 of 48: found ff 00 c0 7f 00 "
            "00 c0 7f, expected 00 00 c0 7f 00 00 c0 7f");
  EXPECT_EQ(message(guard + 8, false),
            "a kernel wrote between the rows of 'y' at byte 8 of 48: found ff "
            "00 c0 7f 00 00 c0 7f, expected 00 00 c0 7f 00 00 c0 7f");
  EXPECT_EQ(message(guard + 40, false), "");
  EXPECT_EQ(message(guard + 40, true),
            "a kernel wrote to input 'y' at byte 40 of 48: found ff 00 40 40 "
            "00 00 80 40, expected 00 00 40 40 00 00 80 40");
}

} // namespace
