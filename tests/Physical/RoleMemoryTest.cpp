// What a bulk copy may overtake in shared memory of roles.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/RoleMemory.h"
#include "Tiles.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

namespace selvedge::physical {
namespace {

/// A buffer of 2 x 1 floats that a copy fills, another overwrites, and a warp
/// reads in between.
class RoleMemoryTest : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<sm::SmDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(sm.kernel @k args [#sm.dim<"N">] warps 2 {
           ^bb0(%n: i32):
             %slot = sm.alloc : <"i" x "j", 2 x 1 x f32, swizzle 0, stages 1>
             %full = sm.mbarrier : <arrivals 1, stages 1>
             %empty = sm.mbarrier : <arrivals 1, stages 1>
             sm.return
           })",
        &context);
    ASSERT_TRUE(module);
    module->walk([&](sm::AllocOp op) { slot = {op.getResult(), 0}; });
    module->walk([&](sm::MBarrierOp op) {
      (full.first ? empty : full) = {op.getResult(), 0};
    });
  }

  reference::TileRef tile(double value) {
    return selvedge::testing::columnOf(value, context);
  }

  void awaitFirst(RoleMemory &memory, Warps warps, StageId mbarrier) {
    bool isOver = false;
    EXPECT_EQ(memory.wait(warps, mbarrier, 0, isOver), "");
    EXPECT_TRUE(isOver);
  }

  void copy(RoleMemory &memory, Warps warps, double value) {
    EXPECT_EQ(memory.copy(warps, slot, tile(value), full, 8), "");
    EXPECT_EQ(memory.arrive(warps, full, 1, 8), "");
  }

  /// One run of the block: what the warp reads.
  double run(bool fences) {
    RoleMemory memory(poison, races);
    Warp copying[] = {memory.addWarp()}, reading[] = {memory.addWarp()};
    copy(memory, copying, 1);
    awaitFirst(memory, reading, full);
    double read =
        memory.startRead(reading, slot, Proxy::Generic, {1, 0})->values.front();
    memory.finishRead(reading, slot, {1, 0});
    if (fences)
      RoleMemory::fence(reading);
    EXPECT_EQ(memory.arrive(reading, empty, 1, 0), "");
    awaitFirst(memory, copying, full);
    awaitFirst(memory, copying, empty);
    copy(memory, copying, 2);
    isNews = memory.hasNewRaces();
    return read;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  StageId slot, full, empty;
  PoisonSource poison{Poison::Nan, 0};
  Races races;
  bool isNews = false;
};

TEST_F(RoleMemoryTest, CopyOvertakesReads) {
  EXPECT_EQ(run(false), 1);
  EXPECT_TRUE(isNews);
  EXPECT_TRUE(std::isnan(run(false)));
  EXPECT_FALSE(isNews);
}

TEST_F(RoleMemoryTest, FencedReadsAreOver) {
  EXPECT_EQ(run(true), 1);
  EXPECT_FALSE(isNews);
}

} // namespace
} // namespace selvedge::physical
