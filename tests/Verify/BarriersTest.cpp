// A loader and a consumer over a ring with full and empty mbarriers; named
// barriers. SPDX-License-Identifier: MIT
#include "tests/Verify/Scripts.h"

#include "gmock/gmock.h"

namespace selvedge::verify {
namespace {

using testing::HasSubstr;

/// A loader warp fills a ring of two by bulk copies, two consumers read it. The
/// verdict may not depend on who runs first.
struct Ring : testing::TestWithParam<bool> {
  static constexpr int64_t stages = 2, trips = 5, bytes = 64;
  HappensBefore order;
  Scripts scripts;
  Actor loader = order.addAgent(32);
  Actor consumers[2] = {order.addAgent(128), order.addAgent(128)};
  unsigned buffer = order.addBuffer(stages);
  unsigned full[stages] = {}, empty[stages] = {};

  // What a mutant changes.
  unsigned emptyCount = 2, fullParity = 0, emptyParity = 1;
  int64_t expected = bytes;
  bool waitsFull = true, waitsEmpty = true, fences = true;

  void load(int64_t trip) {
    int64_t stage = trip % stages;
    unsigned phase = trip / stages % 2;
    if (waitsEmpty)
      scripts.wait(0, [=, this](bool &passed) {
        return order.tryWait(loader, empty[stage], phase ^ emptyParity, passed);
      });
    scripts.check(0, [=, this]() -> Finding {
      if (Finding found = order.expectBytes(loader, full[stage], expected))
        return found;
      if (Finding found = order.arriveMBarrier(loader, full[stage]))
        return found;
      Actor copy = order.launch(loader, Engine::Bulk, 100 + trip);
      if (Finding found =
              order.write(copy, {buffer, stage}, {uint64_t(trip)}, 100 + trip))
        return found;
      return order.completeBytes(copy, full[stage], bytes);
    });
  }

  void consume(unsigned which, int64_t trip) {
    int64_t stage = trip % stages;
    unsigned phase = trip / stages % 2;
    Actor consumer = consumers[which];
    if (waitsFull)
      scripts.wait(1 + which, [=, this](bool &passed) {
        return order.tryWait(consumer, full[stage], phase ^ fullParity, passed);
      });
    scripts.check(1 + which, [=, this] {
      return order.read(consumer, {buffer, stage}, 200 + trip);
    });
    scripts.check(1 + which, [=, this] {
      if (fences)
        order.fenceAsync(consumer);
      return order.arriveMBarrier(consumer, empty[stage]);
    });
  }

  Ending run() {
    for (int64_t stage = 0; stage < stages; ++stage) {
      full[stage] = order.addMBarrier(1);
      empty[stage] = order.addMBarrier(emptyCount);
    }
    for (int64_t trip = 0; trip < trips; ++trip) {
      load(trip);
      consume(0, trip);
      consume(1, trip);
    }
    return scripts.run(/*reversed=*/GetParam());
  }
};

TEST_P(Ring, Works) {
  EXPECT_EQ(run(), Ending::Finished);
  EXPECT_THAT(order.finish(), isFine());
}

TEST_P(Ring, ConsumerDoesNotWait) {
  waitsFull = false;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found, testing::AnyOf(is(Fault::InFlight, 100),
                                            is(Fault::NeverWritten)));
}

TEST_P(Ring, ConsumerDoesNotFence) {
  fences = false;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found, is(Fault::Unfenced, 200));
}

TEST_P(Ring, LoaderDoesNotWait) {
  waitsEmpty = false;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found, is(Fault::EarlyArrival));
}

TEST_P(Ring, ConsumerTakesThePhaseTooEarly) {
  fullParity = 1;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found,
              testing::AnyOf(is(Fault::PhaseOverrun), is(Fault::NeverWritten)));
}

TEST_P(Ring, LoaderWaitsForThePhaseBefore) {
  emptyParity = 0;
  EXPECT_EQ(run(), Ending::Deadlock);
  EXPECT_THAT(order.describeMBarrier(empty[0]),
              HasSubstr("phase 0, with 0 of 2 arrivals"));
}

TEST_P(Ring, OneArrivalTooManyExpected) {
  emptyCount = 3;
  EXPECT_EQ(run(), Ending::Deadlock);
  EXPECT_THAT(order.describeMBarrier(empty[0]), HasSubstr("2 of 3 arrivals"));
}

TEST_P(Ring, OneArrivalTooFewExpected) {
  emptyCount = 1;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found, is(Fault::EarlyArrival));
}

TEST_P(Ring, MoreBytesExpectedThanCopied) {
  expected = bytes + 16;
  EXPECT_EQ(run(), Ending::Deadlock);
  EXPECT_THAT(order.describeMBarrier(full[0]),
              HasSubstr("1 of 1 arrivals and 16 expected bytes missing"));
}

TEST_P(Ring, FewerBytesExpectedThanCopied) {
  expected = bytes - 16;
  EXPECT_EQ(run(), Ending::Failed);
  EXPECT_THAT(scripts.found, is(Fault::TooManyBytes));
}

INSTANTIATE_TEST_SUITE_P(Schedules, Ring, testing::Bool());

TEST(Barriers, AnArrivalThatDoesNotWait) {
  HappensBefore order;
  Actor first = order.addAgent(128), second = order.addAgent(128);
  unsigned buffer = order.addBuffer(1), barrier = order.addBarrier(256);
  EXPECT_THAT(order.write(first, {buffer, 0}, {1}, 10), isFine());
  EXPECT_THAT(order.arrive(first, barrier), isFine());
  EXPECT_FALSE(order.tryPass(first, barrier));
  EXPECT_THAT(order.arrive(second, barrier), isFine());
  EXPECT_TRUE(order.tryPass(second, barrier));
  EXPECT_THAT(order.read(second, {buffer, 0}, 20), isFine());
}

TEST(Barriers, CountThatIsNotTheArrivals) {
  HappensBefore order;
  Actor first = order.addAgent(128), second = order.addAgent(128);
  unsigned barrier = order.addBarrier(192);
  EXPECT_THAT(order.arrive(first, barrier), isFine());
  EXPECT_THAT(order.describeBarrier(barrier),
              HasSubstr("128 of 192 threads have arrived"));
  EXPECT_THAT(order.arrive(second, barrier), is(Fault::TooManyArrivals));
}

TEST(Barriers, ArrivalsOfAllThreadsOfAWarp) {
  HappensBefore order;
  Actor warp = order.addAgent(/*threads=*/32), other = order.addAgent(32);
  unsigned mbarrier = order.addMBarrier(/*arrivals=*/64);
  bool passed = true;
  EXPECT_THAT(order.arriveMBarrier(warp, mbarrier, 32), isFine());
  EXPECT_THAT(order.tryWait(warp, mbarrier, 0, passed), isFine());
  EXPECT_FALSE(passed);
  EXPECT_THAT(order.arriveMBarrier(other, mbarrier, 33),
              is(Fault::TooManyArrivals));
  EXPECT_THAT(order.arriveMBarrier(other, mbarrier, 32), isFine());
  EXPECT_THAT(order.tryWait(warp, mbarrier, 0, passed), isFine());
  EXPECT_TRUE(passed);
}

TEST(Barriers, PhasesAreKeptApart) {
  HappensBefore order;
  Actor first = order.addAgent(1), second = order.addAgent(1);
  unsigned buffer = order.addBuffer(1), barrier = order.addBarrier(2);
  EXPECT_THAT(order.arrive(first, barrier), isFine());
  EXPECT_THAT(order.arrive(second, barrier), isFine());
  EXPECT_TRUE(order.tryPass(first, barrier));
  EXPECT_THAT(order.write(first, {buffer, 0}, {1}, 10), isFine());
  EXPECT_THAT(order.arrive(first, barrier), isFine());
  EXPECT_FALSE(order.tryPass(first, barrier));
  EXPECT_TRUE(order.tryPass(second, barrier));
  EXPECT_THAT(order.read(second, {buffer, 0}, 20), is(Fault::Unordered, 10));
}

} // namespace
} // namespace selvedge::verify
