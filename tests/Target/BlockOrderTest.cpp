// The order in which thread blocks take tiles in windows.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/Sm.h"

#include <gtest/gtest.h>

#include <set>

using selvedge::sm::BlockIdOp;

TEST(BlockOrder, TakesEveryPlaceOnce) {
  for (int64_t columns : {1, 2, 3, 8, 100, 255, 256, 257, 300})
    for (int64_t rows : {1, 2, 5, 31, 32, 33, 129, 300}) {
      int64_t blocks = rows * columns;
      std::set<int64_t> places;
      for (int64_t block = 0; block < blocks; ++block) {
        int64_t place = BlockIdOp::placeOf(block, blocks, columns);
        EXPECT_GE(place, 0);
        EXPECT_LT(place, blocks);
        places.insert(place);
      }
      EXPECT_EQ(static_cast<int64_t>(places.size()), blocks)
          << rows << " rows of " << columns;
    }
}

// Windows of 32 rows: the last one has 3.
TEST(BlockOrder, TakesColumnsOfWindows) {
  auto place = [](int64_t block) {
    return BlockIdOp::placeOf(block, /*blocks=*/35 * 8, /*columns=*/8);
  };
  EXPECT_EQ(place(0), 0);
  EXPECT_EQ(place(1), 8);
  EXPECT_EQ(place(31), 31 * 8);
  EXPECT_EQ(place(32), 1);
  EXPECT_EQ(place(255), 31 * 8 + 7);
  EXPECT_EQ(place(256), 32 * 8);
  EXPECT_EQ(place(258), 34 * 8);
  EXPECT_EQ(place(259), 32 * 8 + 1);
}
