// How far executions are from code that none has reached.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_BRANCHDISTANCE_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_BRANCHDISTANCE_H

#include "compiler/Verify/Async/Skeleton.h"

namespace selvedge::verify {

/// How many of the branches and loops around a block go another way, and by how
/// much the nearest one does: what a condition's sides lack to make it true, or
/// a loop's end to give it a step. Sizes with which it is less are nearer to
/// some that reach the block (TrialSearch.h).
class BranchDistance {
public:
  static constexpr uint64_t unknown = UINT64_MAX;

  explicit BranchDistance(mlir::Block *target);

  mlir::Block *getTarget() const { return target; }
  /// A number of the caller or in memory that would bring the block nearer if
  /// it were more or less, together with all others of a way.
  struct Wish {
    mlir::Value number; // an argument of the kernel, or what a load reads
    int64_t by;
    llvm::SmallVector<int64_t> indices; // those of the load
    bool operator==(const Wish &) const = default;
  };
  using Way = std::vector<Wish>;
  using Ways = std::vector<Way>;

  /// `agent` is about to execute a branch or a loop.
  void observe(const Agent &agent, Integers &integers, mlir::Operation *owner);
  /// The least since the last call; `unknown` where nothing was observed.
  uint64_t takeLeast() {
    ways = std::exchange(nearest, {});
    return std::exchange(least, unknown);
  }
  /// What the least distance that was taken last lacks: one of these.
  const Ways &getWays() const { return ways; }
  /// The part of a distance that tells by how much the nearest one does.
  static uint64_t lackOf(uint64_t distance) { return distance & mostLack; }

private:
  static constexpr uint64_t mostLack = (uint64_t(1) << 40) - 1;

  /// Where a branch or a loop leads to the block, and how many more there are
  /// on the way.
  struct Branch {
    mlir::Block *block;
    uint64_t numInside;
  };

  mlir::Block *target;
  llvm::DenseMap<mlir::Operation *, Branch> branches;
  uint64_t least = unknown;
  /// Those of the least distance so far, and of the last one that was taken.
  Ways nearest, ways;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_BRANCHDISTANCE_H
