// The order in which kernels go through a tensor.
// SPDX-License-Identifier: MIT
#include "runtime/src/TensorWalk.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace selvedge;

namespace {

TensorWalk walkOf(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  Result<TensorWalk> walk =
      walkThrough({nullptr, DType::I32, std::move(shape), std::move(strides)});
  EXPECT_TRUE(walk.ok()) << walk.status().message();
  return walk.ok() ? *walk : TensorWalk();
}

TEST(TensorWalk, dimensionsThatFollowEachOtherAreOne) {
  EXPECT_EQ(walkOf({}, {}).count, 1);
  EXPECT_EQ(walkOf({3, 0}, {0, 1}).count, 0);
  EXPECT_TRUE(walkOf({3, 4, 5}, {20, 5, 1}).inner.empty());
  EXPECT_TRUE(walkOf({3, 4, 5}, {-20, -5, -1}).inner.empty());
  EXPECT_TRUE(walkOf({3, 4, 5}, {0, 0, 0}).inner.empty());
  EXPECT_TRUE(walkOf({3, 1, 5}, {5, 99, 1}).inner.empty());
  EXPECT_EQ(walkOf({3, 4, 5}, {20, 5, 1}).outer, 4);
  EXPECT_EQ(walkOf({3, 4, 5}, {21, 5, 1}).inner.size(), 1U);
  EXPECT_EQ(walkOf({3, 4, 5}, {21, 5, 1}).inner[0].extent, 20);
  EXPECT_EQ(walkOf({3, 4, 5}, {1, 3, 12}).inner.size(), 2U);
}

TEST(TensorWalk, findsEachElement) {
  std::mt19937 random(7);
  auto draw = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int i = 0; i < 500; ++i) {
    std::vector<int64_t> shape(static_cast<size_t>(draw(0, 5))),
        strides(shape.size());
    int64_t dense = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      shape[d] = draw(1, 4);
      strides[d] = draw(0, 1) ? dense : draw(-40, 40);
      dense = strides[d] * shape[d];
    }
    TensorWalk walk = walkOf(shape, strides);
    int64_t lowest = 0, highest = 0;
    std::vector<int64_t> index(shape.size());
    for (int64_t position = 0; position < walk.count; ++position) {
      int64_t offset = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        offset += index[d] * strides[d] * 4;
      EXPECT_EQ(walk.offsetOf(position), offset)
          << testing::PrintToString(shape) << testing::PrintToString(strides);
      lowest = std::min(lowest, offset);
      highest = std::max(highest, offset);
      for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
        index[d] = 0;
    }
    EXPECT_EQ(walk.lowest, lowest);
    EXPECT_EQ(walk.highest, highest);
  }
}

TEST(TensorWalk, distancesThatNoAddressHas) {
  auto isOk = [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    return walkThrough({nullptr, DType::I32, std::move(shape), strides}).ok();
  };
  EXPECT_FALSE(isOk({2}, {INT64_MAX / 2}));
  EXPECT_FALSE(isOk({2}, {INT64_MIN}));
  EXPECT_FALSE(isOk({5, 5}, {INT64_MAX / 20, INT64_MAX / 20}));
  EXPECT_FALSE(isOk({int64_t(1) << 32, int64_t(1) << 32}, {0, 0}));
  EXPECT_TRUE(isOk({1}, {INT64_MIN}));
  EXPECT_TRUE(isOk({2, 2}, {INT64_MAX / 5, -INT64_MAX / 5}));
}

} // namespace
