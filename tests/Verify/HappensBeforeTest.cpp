// Slots, copies and tokens of the happens-before engine.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/HappensBefore.h"
#include "compiler/Verify/Async/Paths.h"
#include "tests/Verify/Scripts.h"

#include "gmock/gmock.h"

namespace selvedge::verify {
namespace {

using testing::Eq;

/// Two warps that run one program, one buffer of two stages.
struct TwoWarps : testing::Test {
  HappensBefore order;
  Actor warps[2] = {order.addAgent(1), order.addAgent(1)};
  unsigned buffer = order.addBuffer(2);
  unsigned barrier = order.addBarrier(2);
  Slot slot{buffer, 1};

  /// Each warp copies its part.
  void copyBoth(uint64_t instance, Actor (&copies)[2]) {
    for (int i : {0, 1}) {
      copies[i] = order.launch(warps[i], Engine::Copy, 10 + i);
      EXPECT_THAT(order.write(copies[i], slot, {instance, 2}, 10 + i),
                  isFine());
    }
  }
  void awaitBoth(Actor (&copies)[2]) {
    for (int i : {0, 1})
      EXPECT_THAT(order.await(warps[i], copies[i]), isFine());
  }
  void synchronize() {
    for (Actor warp : warps)
      EXPECT_THAT(order.arrive(warp, barrier), isFine());
    for (Actor warp : warps)
      EXPECT_TRUE(order.tryPass(warp, barrier));
  }
};

TEST_F(TwoWarps, ReadAfterAwaitAndBarrier) {
  Actor copies[2];
  copyBoth(1, copies);
  awaitBoth(copies);
  synchronize();
  EXPECT_THAT(order.read(warps[0], slot, 20), isFine());
  EXPECT_THAT(order.read(warps[1], slot, 21), isFine());
  EXPECT_THAT(order.finish(), isFine());
}

TEST_F(TwoWarps, ReadOfWhatTheOtherWarpAwaitedNeedsABarrier) {
  Actor copies[2];
  copyBoth(1, copies);
  awaitBoth(copies);
  EXPECT_THAT(order.read(warps[0], slot, 20), is(Fault::Unordered, 11));
}

TEST_F(TwoWarps, BarrierBeforeAwaitOrdersNothing) {
  Actor copies[2];
  copyBoth(1, copies);
  synchronize();
  EXPECT_THAT(order.await(warps[0], copies[0]), isFine());
  EXPECT_THAT(order.read(warps[0], slot, 20), is(Fault::InFlight, 11));
}

TEST_F(TwoWarps, PartThatHasNotBegun) {
  Actor copy = order.launch(warps[0], Engine::Copy, 10);
  EXPECT_THAT(order.write(copy, slot, {1, 2}, 10), isFine());
  EXPECT_THAT(order.await(warps[0], copy), isFine());
  EXPECT_THAT(order.read(warps[0], slot, 20), is(Fault::PartMissing, 10));
}

TEST_F(TwoWarps, OverwriteOfWhatTheOtherWarpReads) {
  Actor copies[2];
  copyBoth(1, copies);
  awaitBoth(copies);
  synchronize();
  EXPECT_THAT(order.read(warps[1], slot, 21), isFine());
  Actor next = order.launch(warps[0], Engine::Copy, 30);
  EXPECT_THAT(order.write(next, slot, {2, 2}, 30), is(Fault::Unordered, 21));
}

TEST_F(TwoWarps, SecondPartOfAWriteIsOrderedToo) {
  Actor copies[2];
  copyBoth(1, copies);
  awaitBoth(copies);
  synchronize();
  EXPECT_THAT(order.read(warps[0], slot, 20), isFine());
  EXPECT_THAT(order.write(warps[0], slot, {2, 2}, 30), isFine());
  EXPECT_THAT(order.write(warps[1], slot, {2, 2}, 31),
              is(Fault::Unordered, 20));
}

TEST_F(TwoWarps, ReadAfterTheReleaseIsNotCovered) {
  EXPECT_THAT(order.write(warps[0], slot, {1}, 10), isFine());
  EXPECT_THAT(order.arrive(warps[0], barrier), isFine());
  EXPECT_THAT(order.arrive(warps[1], barrier), isFine());
  EXPECT_TRUE(order.tryPass(warps[0], barrier));
  EXPECT_THAT(order.read(warps[0], slot, 20), isFine());
  EXPECT_TRUE(order.tryPass(warps[1], barrier));
  EXPECT_THAT(order.write(warps[1], slot, {2}, 30), is(Fault::Unordered, 20));
}

TEST_F(TwoWarps, CopiesOfOneWarpCompleteInOrder) {
  Actor first = order.launch(warps[0], Engine::Copy, 10);
  EXPECT_THAT(order.write(first, {buffer, 0}, {1}, 10), isFine());
  Actor second = order.launch(warps[0], Engine::Copy, 11);
  EXPECT_THAT(order.write(second, {buffer, 1}, {2}, 11), isFine());
  EXPECT_THAT(order.await(warps[0], first), isFine());
  EXPECT_THAT(order.read(warps[0], {buffer, 1}, 20), is(Fault::InFlight, 11));
  EXPECT_THAT(order.await(warps[0], second), isFine());
  EXPECT_THAT(order.read(warps[0], {buffer, 1}, 21), isFine());
}

TEST_F(TwoWarps, LaterTokenCoversEarlierCopies) {
  Actor first = order.launch(warps[0], Engine::Copy, 10);
  EXPECT_THAT(order.write(first, {buffer, 0}, {1}, 10), isFine());
  Actor second = order.launch(warps[0], Engine::Copy, 11);
  EXPECT_THAT(order.await(warps[0], second), isFine());
  EXPECT_THAT(order.read(warps[0], {buffer, 0}, 20), isFine());
  EXPECT_THAT(order.finish(), isFine());
}

TEST_F(TwoWarps, Tokens) {
  Actor copy = order.launch(warps[0], Engine::Copy, 10);
  EXPECT_THAT(order.await(warps[1], copy), is(Fault::NotOwn, 10));
  EXPECT_THAT(order.finish(), is(Fault::LeftInFlight, 10));
  EXPECT_THAT(order.await(warps[0], copy), isFine());
  EXPECT_THAT(order.await(warps[0], copy), is(Fault::AwaitedBefore, 10));
}

TEST_F(TwoWarps, SlotsThatAreNotThere) {
  EXPECT_THAT(order.read(warps[0], slot, 20), is(Fault::NeverWritten));
  EXPECT_THAT(order.read(warps[0], {buffer, 2}, 20), is(Fault::OutsideRing));
  EXPECT_THAT(order.write(warps[0], {buffer, -1}, {1}, 20),
              is(Fault::OutsideRing));
}

TEST_F(TwoWarps, MmaReadsUntilItIsAwaited) {
  EXPECT_THAT(order.write(warps[0], slot, {1}, 10), isFine());
  order.fenceAsync(warps[0]);
  Actor mma = order.launch(warps[0], Engine::Mma, 11);
  EXPECT_THAT(order.read(mma, slot, 11), isFine());
  EXPECT_THAT(order.write(warps[0], slot, {2}, 12), is(Fault::InFlight, 11));
  EXPECT_THAT(order.await(warps[0], mma), isFine());
  EXPECT_THAT(order.write(warps[0], slot, {3}, 13), isFine());
}

TEST_F(TwoWarps, AsyncProxyNeedsAFence) {
  EXPECT_THAT(order.write(warps[0], slot, {1}, 10), isFine());
  synchronize();
  Actor early = order.launch(warps[1], Engine::Mma, 11);
  EXPECT_THAT(order.read(early, slot, 11), is(Fault::Unfenced, 10));
  // After the acquire, by the reader, is as good as before the release.
  order.fenceAsync(warps[1]);
  Actor late = order.launch(warps[1], Engine::Mma, 12);
  EXPECT_THAT(order.read(late, slot, 12), isFine());
}

TEST_F(TwoWarps, ACopyOvertakesReadsWithoutAFence) {
  EXPECT_THAT(order.write(warps[0], slot, {1}, 10), isFine());
  EXPECT_THAT(order.read(warps[0], slot, 11), isFine());
  order.fenceAsync(warps[0]);
  EXPECT_THAT(order.read(warps[0], slot, 12), isFine());
  synchronize();
  Actor copy = order.launch(warps[1], Engine::Bulk, 13);
  EXPECT_THAT(order.write(copy, slot, {2}, 13), is(Fault::Unfenced, 12));
}

TEST_F(TwoWarps, AFenceOrdersNoLaterWrite) {
  order.fenceAsync(warps[0]);
  EXPECT_THAT(order.write(warps[0], slot, {1}, 10), isFine());
  synchronize();
  Actor mma = order.launch(warps[1], Engine::Mma, 11);
  EXPECT_THAT(order.read(mma, slot, 11), is(Fault::Unfenced, 10));
}

TEST(Paths, AllCombinationsOnce) {
  Paths paths;
  std::vector<std::pair<unsigned, unsigned>> seen;
  do {
    unsigned first = paths.choose(3);
    seen.push_back({first, first == 1 ? paths.choose(2) : 9});
  } while (paths.advance());
  EXPECT_THAT(seen, testing::ElementsAre(
                        testing::Pair(Eq(0u), Eq(9u)), testing::Pair(1u, 0u),
                        testing::Pair(1u, 1u), testing::Pair(2u, 9u)));
}

} // namespace
} // namespace selvedge::verify
