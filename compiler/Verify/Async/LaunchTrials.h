// The sizes for which the launches of a variant are executed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H

#include "compiler/Verify/Async/Trials.h"
#include "dialect/Tile/Tile.h"

namespace selvedge::verify {

/// Sizes for which all launches of a variant are executed, one after the other,
/// by all of their thread blocks.
struct LaunchTrial {
  llvm::SmallVector<int64_t> sizes; // by dim of the plan
  int64_t blocks = 1;               // of persistent launches, at most
  llvm::SmallVector<int64_t> samples;
  int64_t callers = 0;      // integers of the caller: callersInteger
  bool hasOptionals = true; // whether optional tensors are passed
  unsigned kind = 0;        // which of those of a scale
  int64_t turn = 0;         // segments with queries need not be those with keys
  bool takesOthers = false; // branches and loops on data go the other way

  /// That of one thread block of a kernel.
  Trial of(sm::LaunchOp launch, sm::KernelOp kernel, int64_t block) const;
  /// That of one of some thread blocks of which nothing is demanded together:
  /// loops end after a few trips, but those by which roles meet.
  Trial ofSome(sm::LaunchOp launch, sm::KernelOp kernel, int64_t block) const;
  /// The last thread blocks, the first ones, and one between: most loops of the
  /// last one have steps.
  llvm::SmallVector<int64_t> someBlocks(sm::LaunchOp launch) const;
  /// Those that are first or last along each range: what a condition of two
  /// ranges demands may hold at one corner alone.
  llvm::SmallVector<int64_t> cornerBlocks(sm::LaunchOp launch) const;
  /// The thread blocks, and the tiles that they share.
  int64_t numBlocks(sm::LaunchOp launch) const;
  int64_t numTiles(sm::LaunchOp launch) const;
  /// "with M = 253, N = 317"
  std::string str(sm::PlanOp plan) const;

private:
  int64_t blocksOf(sm::LaunchOp launch, int64_t tiles) const;
};

/// What the caller passes for an argument of a program's kernel; none for what
/// is no integer of the caller. Scalars differ, so that one in the place of
/// another masks other lanes.
std::optional<int64_t> callersInteger(int64_t callers,
                                      mlir::BlockArgument argument);

/// Whether sizes of a dim decide if the variant is taken.
bool dependsOn(sm::VariantOp variant, unsigned symbol);

/// Whether the variant is for these sizes.
bool isTaken(sm::VariantOp variant, const LaunchTrial &trial);

/// From the first to the last scale sizes get smaller.
constexpr unsigned numTrialScales = 6;

/// Two blocks of what is cut into blocks, the last one not full, and several of
/// all else, such as heads, so that tiles with many, no and few steps follow
/// each other; a part of a block, with rows that all belong to the first warps;
/// one step and a lane; nothing of what is cut last; and two blocks of each of
/// `rows`, the dims that ranges of the program cut into blocks, with little of
/// all else, so that no other dim stands in for it. Only sizes that the variant
/// takes. A smaller scale has fewer heads, then fewer blocks, then a
/// part of a block, then a part of a step, and at last a few elements.
std::vector<LaunchTrial>
makeLaunchTrials(sm::VariantOp variant,
                 llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches,
                 llvm::ArrayRef<unsigned> rows, unsigned scale);

/// Further sizes for a launch, one of `launches`, of which those have not
/// reached all: the `number`th of a fixed sequence. First come single tiles of
/// this kernel that are whole and have several steps, and sizes at what it adds
/// to its dims; then, for all launches, sizes at and beside multiples of blocks
/// and steps, the largest ones last. None where the variant does not take them.
std::optional<LaunchTrial>
makeFurtherTrial(sm::VariantOp variant,
                 llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches,
                 std::pair<sm::LaunchOp, sm::KernelOp> unreached,
                 unsigned number);

/// Sizes for a launch that some of its thread blocks execute, each a tile, of
/// what its kernel does at a number that it compares integers with, or adds to
/// them: that number, and those beside it, are what memory and the caller have,
/// or a dim is larger.
std::optional<LaunchTrial>
makeTrialAtLimit(sm::VariantOp variant,
                 std::pair<sm::LaunchOp, sm::KernelOp> unreached,
                 unsigned number);

/// Sizes for a launch that some of its thread blocks execute: first such as are
/// several of the steps in which its loops go, along dims that a loop ends at;
/// then those of makeFurtherTrial. Data decide the other way in half of the
/// first and in all of the rest.
std::optional<LaunchTrial>
makeTrialOfSome(sm::VariantOp variant,
                llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches,
                std::pair<sm::LaunchOp, sm::KernelOp> unreached,
                unsigned number);

/// How many sizes makeDeepTrial() knows.
constexpr unsigned numDeepTrials = 4;

/// Sizes for a launch of which all that is cut has several of the largest
/// steps: what lies on one side of a mask is there for the last rows alone.
/// Control flow may be followed with them; an execution takes long.
std::optional<LaunchTrial>
makeDeepTrial(sm::VariantOp variant,
              std::pair<sm::LaunchOp, sm::KernelOp> unreached, unsigned number);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H
