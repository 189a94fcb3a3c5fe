// The sizes for which a kernel with roles is executed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALS_H

#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// Values of a kernel's run-time dimensions, and its thread block.
struct Trial {
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> dims;
  /// Integers of the caller that are known; others are samples.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 2> scalars;
  std::optional<int64_t> block, blocks; // its number, and how many there are
  std::optional<int64_t> tiles;         // of the launch
  /// What integers from memory and of the caller are: each of these in turn.
  llvm::SmallVector<int64_t, 4> samples;
  /// Whether what is loaded next begins with the next of them; else all does
  /// with the first.
  bool alternates = false;
  /// Which of them the caller's are first; none: the same as others. A window
  /// is shorter than the keys, for one.
  std::optional<int64_t> callers;
  /// Whether optional tensors are there first; later in other paths.
  bool hasOptionals = true;
  /// Branches and loops on data go the other way first.
  bool takesOthers = false;
  /// After how many trips loops that hand on more than integers end; none:
  /// when they say.
  std::optional<int64_t> mostTrips = std::nullopt;

  /// "M = 256, N = 640, block 0 of 1"; empty where nothing is fixed.
  std::string str(sm::KernelOp kernel) const;
};

/// The launch of a kernel; none in a module without a plan.
sm::LaunchOp launchOf(sm::KernelOp kernel);

/// The extent of a tensor of the launch's plan; none where there is no such.
mlir::AffineExpr extentOf(sm::LaunchOp launch, mlir::StringAttr tensor,
                          size_t dim);

/// Roles agree on numbers that they compute apart, or post to each other:
/// their kernels are executed with concrete sizes. A dimension that the kernel
/// cuts into blocks takes 1, 2 and 3 blocks in all combinations, and beside 1
/// and 2 of the others none, or `longCount`, which is twice round the largest
/// ring and one more (steps, where a single dimension has tiles and steps); the
/// second of two blocks is not full. One block of all
/// but the last takes every integer first, at one of the last with two of a
/// dimension that is not cut; so does a quarter of one, at two of the last.
/// There, too, two tiles one after the other are as long as goes round the
/// rings, and one that is shorter than a step, or another two of the samples.
/// The thread block is
/// the first, or the second of two where the launch gives it a tile. Integers
/// from memory and of the caller are 0, 5/8 and all of the largest dimension,
/// and one less than a step.
/// Other kernels have one trial that fixes nothing.
/// With `nonempty` no dimension is 0.
std::vector<Trial> makeTrials(sm::KernelOp kernel, int64_t longCount,
                              bool nonempty);

/// For kernels of which those have not reached all: two or three blocks of what
/// is cut last, a quarter of a block of the others, all sizes and samples off
/// the blocks.
std::vector<Trial> makeFurtherTrials(sm::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_TRIALS_H
