// The sizes for which the launches of a variant are executed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H

#include "compiler/Verify/Async/Trials.h"

namespace selvedge::verify {

/// Sizes for which all launches of a variant are executed, one after the other,
/// by all of their thread blocks.
struct LaunchTrial {
  llvm::SmallVector<int64_t> sizes; // by dim of the plan
  int64_t blocks = 1;               // of persistent launches, at most
  llvm::SmallVector<int64_t> samples;
  int64_t callers = 0;

  /// That of one thread block of a kernel.
  Trial of(sm::LaunchOp launch, sm::KernelOp kernel, int64_t block) const;
  /// The thread blocks, and the tiles that they share.
  int64_t numBlocks(sm::LaunchOp launch) const;
  int64_t numTiles(sm::LaunchOp launch) const;
};

/// Two blocks of what is cut into blocks, the last one not full, and several of
/// all else, such as heads, so that tiles with many, no and few steps follow
/// each other; a part of a block, with rows that all belong to the first warps;
/// and nothing of what is cut last. Only sizes that the variant takes.
std::vector<LaunchTrial> makeLaunchTrials(
    sm::VariantOp variant,
    llvm::ArrayRef<std::pair<sm::LaunchOp, sm::KernelOp>> launches);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_LAUNCHTRIALS_H
