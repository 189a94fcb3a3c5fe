// Moves of tiles inside warps, executed on numbers.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/Sm.h"

#include <gtest/gtest.h>

#include <random>

using namespace selvedge::sm;

namespace {

class WarpMoveTest : public testing::Test {
protected:
  WarpMoveTest() { context.loadDialect<SmDialect>(); }

  AxisLayoutAttr axis(llvm::StringRef name, llvm::ArrayRef<int64_t> regSizes,
                      llvm::ArrayRef<int64_t> regStrides,
                      llvm::ArrayRef<int64_t> lanes,
                      llvm::ArrayRef<int64_t> warps) {
    return AxisLayoutAttr::get(&context, mlir::StringAttr::get(&context, name),
                               regSizes, regStrides, lanes, warps);
  }
  LayoutAttr layout(llvm::ArrayRef<AxisLayoutAttr> axes) {
    return LayoutAttr::get(&context, axes);
  }

  mlir::MLIRContext context;
};

/// The element that a register of a thread of the first warp holds.
llvm::SmallVector<int64_t> element(LayoutAttr layout, int64_t lane,
                                   int64_t reg) {
  llvm::SmallVector<int64_t> result;
  for (auto [a, r] : llvm::zip(layout.getAxes(), layout.unflatten(reg)))
    result.push_back(a.indicesOf(lane, 0)[r]);
  return result;
}

/// Executes a move as the hardware would.
void expectDelivers(const WarpMove &move, LayoutAttr from, LayoutAttr to) {
  ASSERT_EQ(static_cast<int64_t>(move.received.size()), to.getNumRegs());
  for (int64_t lane = 0; lane < WarpMove::numLanes; ++lane)
    for (int64_t reg = 0; reg < to.getNumRegs(); ++reg) {
      const WarpMove::Round &round = move.rounds[move.received[reg][lane]];
      auto map = WarpMove::mapOf(round.reads);
      ASSERT_TRUE(map);
      int64_t read = map->flips;
      for (int64_t bit = 0; bit < 5; ++bit)
        read ^= (lane >> bit & 1) * map->bits[bit];
      ASSERT_EQ(element(from, read, round.offers[read]), element(to, lane, reg))
          << "lane " << lane << ", register " << reg;
    }
}

} // namespace

TEST_F(WarpMoveTest, RegistersInAnotherOrder) {
  LayoutAttr from = layout({axis("i", {4}, {1}, {4, 8, 16, 0, 0}, {32})}),
             to = layout({axis("i", {2, 2}, {2, 1}, {4, 8, 16, 0, 0}, {32})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 0);
  EXPECT_EQ(move->countSelects(), 0);
  expectDelivers(*move, from, to);
}

// What is repeated over lanes need only be chosen.
TEST_F(WarpMoveTest, RepeatedOverLanes) {
  LayoutAttr from = layout({axis("i", {4}, {1}, {0, 0, 4, 8, 16}, {})}),
             to = layout({axis("i", {}, {}, {1, 2, 4, 8, 16}, {})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 0);
  EXPECT_EQ(move->countSelects(), 3);
  expectDelivers(*move, from, to);
  // The other way every lane reads its neighbours.
  auto back = WarpMove::find(to, from);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->countShuffles(), 4);
  EXPECT_EQ(back->countSelects(), 0);
  expectDelivers(*back, to, from);
}

// A bit of the lane and one of the register change places: a lane keeps half
// and swaps the other half.
TEST_F(WarpMoveTest, LaneBitsForRegisterBits) {
  LayoutAttr from = layout({axis("i", {4}, {1}, {4, 8, 16, 32, 64}, {})}),
             to = layout({axis("i", {2, 2}, {4, 1}, {2, 8, 16, 32, 64}, {})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 2);
  // One of two to offer, and each of two what it keeps or receives.
  EXPECT_EQ(move->countSelects(), 6);
  expectDelivers(*move, from, to);
  // Two bits: three quarters move.
  LayoutAttr both = layout({axis("i", {4}, {4}, {1, 2, 16, 32, 64}, {})});
  move = WarpMove::find(from, both);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 3);
  expectDelivers(*move, from, both);
}

// Two elements of 16 bits that stay side by side move as one.
TEST_F(WarpMoveTest, PairsOfHalves) {
  AxisLayoutAttr rows = axis("i", {2}, {8}, {0, 0, 1, 2, 4}, {16});
  LayoutAttr from = layout(
                 {rows, axis("j", {2, 2}, {1, 8}, {2, 4, 0, 0, 0}, {0})}),
             to = layout({rows, axis("j", {4}, {1}, {8, 4, 0, 0, 0}, {0})});
  auto move = WarpMove::findCheap(from, to, /*bytes=*/2);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->perRegister, 2);
  EXPECT_EQ(move->countShuffles(), 2);
  expectDelivers(*move,
                 layout({rows, axis("j", {2}, {4}, {1, 2, 0, 0, 0}, {0})}),
                 layout({rows, axis("j", {2}, {1}, {4, 2, 0, 0, 0}, {0})}));
  // Words move one by one, and so do halves of which a pair is torn.
  EXPECT_EQ(WarpMove::findCheap(from, to, /*bytes=*/4)->perRegister, 1);
  LayoutAttr torn =
      layout({rows, axis("j", {2, 2}, {2, 8}, {1, 4, 0, 0, 0}, {0})});
  EXPECT_EQ(WarpMove::findCheap(from, torn, /*bytes=*/2)->perRegister, 1);
}

TEST_F(WarpMoveTest, LanesInAnotherOrder) {
  LayoutAttr from = layout({axis("i", {}, {}, {1, 2, 4, 8, 16}, {32})}),
             to = layout({axis("i", {}, {}, {16, 8, 4, 2, 1}, {32})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 1);
  EXPECT_EQ(move->countSelects(), 0);
  expectDelivers(*move, from, to);
}

TEST_F(WarpMoveTest, AnAccumulatorAsRowsOfMemory) {
  LayoutAttr from =
                 layout({axis("i", {2}, {8}, {0, 0, 1, 2, 4}, {16, 32}),
                         axis("j", {2, 2}, {1, 8}, {2, 4, 0, 0, 0}, {0, 0})}),
             to = layout({axis("i", {8}, {2}, {0, 0, 0, 0, 1}, {16, 32}),
                          axis("j", {}, {}, {1, 2, 4, 8, 0}, {0, 0})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  expectDelivers(*move, from, to);
}

TEST_F(WarpMoveTest, KeptBits) {
  using LaneMap = WarpMove::LaneMap;
  EXPECT_EQ((LaneMap{{1, 2, 0, 0, 0}, 12}.keptBits()), 3);
  EXPECT_EQ((LaneMap{{0, 0, 0, 0, 0}, 31}.keptBits()), 0);
  EXPECT_EQ((LaneMap{{1, 2, 4, 8, 16}, 0}.keptBits()), 31);
  // A bit that is inverted, and one that moves.
  EXPECT_EQ((LaneMap{{1, 2, 0, 0, 0}, 13}.keptBits()), std::nullopt);
  EXPECT_EQ((LaneMap{{2, 0, 0, 0, 0}, 0}.keptBits()), std::nullopt);
}

TEST_F(WarpMoveTest, WarpsThatNeedOthers) {
  LayoutAttr from = layout({axis("i", {2}, {8}, {0, 0, 1, 2, 4}, {16, 32})}),
             to = layout({axis("i", {4}, {16}, {0, 0, 0, 1, 2}, {4, 8})});
  EXPECT_FALSE(WarpMove::find(from, to));
  LayoutAttr all = layout({axis("i", {8}, {8}, {0, 0, 1, 2, 4}, {0, 0})});
  EXPECT_FALSE(WarpMove::find(from, all));
}

// Many registers that change places with many lanes are dear, unless memory has
// its banks shared as often.
TEST_F(WarpMoveTest, CheapOnesOnly) {
  LayoutAttr from = layout({axis("i", {32}, {1}, {32, 64, 128, 256, 512}, {})}),
             to = layout({axis("i", {32}, {32}, {1, 2, 4, 8, 16}, {})});
  auto move = WarpMove::find(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->countShuffles(), 31);
  expectDelivers(*move, from, to);
  EXPECT_TRUE(WarpMove::findCheap(from, to, 4));
  EXPECT_FALSE(WarpMove::findCheap(from, to, 1));
}

// Bits of the index stand for lanes and registers in any order.
TEST_F(WarpMoveTest, AnyOrderOfBits) {
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    auto any = [&] {
      llvm::SmallVector<int64_t> strides;
      for (int bit = 0; bit < 8; ++bit)
        strides.push_back(int64_t(1) << bit);
      std::shuffle(strides.begin(), strides.end(), random);
      llvm::ArrayRef<int64_t> all(strides);
      return layout(
          {axis("i", {2, 2, 2}, all.take_front(3), all.drop_front(3), {256})});
    };
    LayoutAttr from = any(), to = any();
    auto move = WarpMove::find(from, to);
    ASSERT_TRUE(move);
    // Never more than one per register that is received.
    EXPECT_LE(move->countShuffles(), 8);
    expectDelivers(*move, from, to);
  }
}
