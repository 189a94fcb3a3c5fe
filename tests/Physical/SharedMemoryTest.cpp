// What a late warp finds in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/SharedMemory.h"
#include "Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::physical {
namespace {

/// A buffer of 2 x 1 floats with two stages, whose poison is NaN.
class SharedMemoryTest : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<sm::SmDialect, mlir::arith::ArithDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(sm.kernel @k args [#sm.dim<"N">] warps 2 {
           ^bb0(%n: i32):
             %ring = sm.alloc : <"i" x "j", 2 x 1 x f32, swizzle 0, stages 2>
             %slot = sm.slot %ring[%n] : <"i" x "j", 2 x 1 x f32, swizzle 0, stages 2> -> <"i" x "j", 2 x 1 x f32, swizzle 0, stages 1>
             sm.return
           })",
        &context);
    ASSERT_TRUE(module);
    module->walk([&](sm::SlotOp op) { slot = op; });
    start();
  }

  /// Begins a run of the block.
  void start() {
    shared = std::make_unique<SharedMemory>(poison, early);
    shared->allocate(slot.getRing().getDefiningOp<sm::AllocOp>());
    EXPECT_FALSE(shared->name(slot, 1));
  }

  reference::TileRef tile(double value) {
    return selvedge::testing::columnOf(value, context);
  }

  double read(int lane = 0) { return shared->read(slot)->values[lane]; }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  sm::SlotOp slot;
  PoisonSource poison{Poison::Nan, 0};
  EarlyWrites early;
  std::unique_ptr<SharedMemory> shared;
};

TEST_F(SharedMemoryTest, StageIsNotOfTheRing) {
  llvm::Error failure = shared->name(slot, 2);
  EXPECT_NE(toString(std::move(failure))
                .find("names stage 2, expected one of 0 to 1"),
            std::string::npos);
}

TEST_F(SharedMemoryTest, CopyShowsBehindAwaitAndBarrier) {
  shared->issue(slot, tile(1), {});
  shared->barrier();
  EXPECT_TRUE(std::isnan(read()));
  EXPECT_TRUE(shared->isCopying());
  shared->await(0);
  EXPECT_FALSE(shared->isCopying());
  EXPECT_TRUE(std::isnan(read()));
  shared->barrier();
  EXPECT_EQ(read(), 1);
}

TEST_F(SharedMemoryTest, LastCopiesArePending) {
  shared->issue(slot, tile(1), {});
  shared->issue(slot.getRing(), tile(2), {});
  shared->await(1);
  shared->barrier();
  EXPECT_EQ(read(), 1);
  EXPECT_TRUE(std::isnan(shared->read(slot.getRing())->values[0]));
}

TEST_F(SharedMemoryTest, OnlyCopiedLanesChange) {
  shared->write(slot, tile(1), {});
  shared->issue(slot, tile(2), {0, 1});
  EXPECT_EQ(read(0), 1);
  EXPECT_TRUE(std::isnan(read(1)));
  shared->await(0);
  shared->barrier();
  EXPECT_EQ(read(0), 1);
  EXPECT_EQ(read(1), 2);
}

TEST_F(SharedMemoryTest, StoresShowBehindBarrier) {
  shared->stage(slot, tile(1));
  EXPECT_TRUE(std::isnan(read()));
  shared->barrier();
  EXPECT_EQ(read(), 1);
}

TEST_F(SharedMemoryTest, TwoWritesOnTheWay) {
  shared->issue(slot, tile(1), {});
  shared->stage(slot, tile(2));
  shared->await(0);
  shared->barrier();
  EXPECT_TRUE(std::isnan(read()));
}

/// A read in front of a write, with no barrier in between, is destroyed in the
/// second run.
TEST_F(SharedMemoryTest, EarlyWrite) {
  auto run = [&] {
    shared->write(slot, tile(1), {});
    double first = read();
    shared->barrier();
    double second = read();
    shared->issue(slot, tile(2), {1, 0});
    EXPECT_EQ(first, 1);
    return second;
  };
  EXPECT_EQ(run(), 1);
  EXPECT_TRUE(shared->hasNewEarlyWrites());
  start();
  EXPECT_TRUE(std::isnan(run()));
  EXPECT_FALSE(shared->hasNewEarlyWrites());
}

TEST_F(SharedMemoryTest, Exchange) {
  auto run = [&] {
    bool first = shared->exchange(slot);
    shared->barrier();
    bool second = shared->exchange(slot), third = shared->exchange(slot);
    return std::vector{first, second, third};
  };
  run();
  EXPECT_TRUE(shared->hasNewEarlyWrites());
  start();
  EXPECT_EQ(run(), (std::vector{true, false, true}));
}

} // namespace
} // namespace selvedge::physical
