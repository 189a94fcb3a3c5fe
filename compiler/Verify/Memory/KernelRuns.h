// Executes the thread blocks of a kernel with concrete sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_KERNELRUNS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_KERNELRUNS_H

#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Async/BranchDistance.h"
#include "compiler/Verify/Async/Integers.h"
#include "compiler/Verify/Async/Skeleton.h"
#include "compiler/Verify/Async/Trials.h"
#include "compiler/Verify/Memory/SinkMatches.h"

namespace selvedge::verify {

/// How an execution ended. TooLong: it was given up, and nothing was found.
enum class Outcome { Accepted, Refused, TooLong };

/// Executes the thread blocks of a kernel, where data decide by the first of
/// the ways, with all demands of `verify-sm-async`.
class KernelRuns {
public:
  /// Sinks are compared with those of `program`, if it is given.
  KernelRuns(sm::LaunchOp launch, sm::KernelOp kernel,
             const ProgramSinks *program);

  /// What follows is executed with other sizes.
  void startTrial();
  /// A thread block; TooLong once the work of the launches is more than
  /// `limit`: an operation that an agent executes counts as some lanes of a
  /// tile.
  Outcome run(const Trial &trial, GlobalMemory &memory, uint64_t limit);
  /// Whether warps have roles, which hand numbers to each other.
  bool hasRoles() const;
  /// Follows the branches and loops of a thread block, and nothing else: how
  /// far it was from a block. Of kernels without roles.
  uint64_t scan(const Trial &trial, GlobalMemory &memory,
                BranchDistance &distance);
  /// When all thread blocks of a trial have been executed: what is missing of
  /// the program's sums; `describe` adds the sizes to an error.
  Outcome
  finishTrial(GlobalMemory &memory, int64_t callers,
              llvm::function_ref<void(mlir::InFlightDiagnostic &)> describe);
  /// An operation, other than arithmetic and control flow, that no thread block
  /// has executed, although no block around it is known never to be; null where
  /// there is none.
  mlir::Operation *findUnreached();
  /// The outermost blocks that hold unreached operations; the first one alone
  /// unless `all` are wanted.
  llvm::SmallVector<mlir::Block *> unreachedBlocks(bool all);
  bool hasReached(mlir::Block *block) const {
    return !refused.contains(block) && skeleton.hasReached(&block->front());
  }
  /// From now on it is tried this hard to find out that a block is never
  /// executed.
  void prove(Effort by);
  /// Has executions tell how far they are from a block; null: from none.
  void watch(BranchDistance *distance) { watch(skeleton, distance); }
  /// What is executed next takes the arms, and the bodies of loops, in which
  /// such operations are, though its sizes do not; returns whether there are
  /// some.
  bool startForced();
  /// What follows goes the ways of its sizes again. Of what was forced nothing
  /// counts as executed unless it was accepted.
  void endForced(bool isAccepted);

private:
  /// Starts an execution with numbers in `memory`.
  void start(Skeleton &by, const Trial &trial, GlobalMemory &memory);
  /// An integer in memory, where the indices are known.
  std::optional<int64_t> read(Agent &agent, sm::LoadOp load,
                              const GlobalMemory &memory);

  /// Whether it is the body of a loop without steps, or an arm of a branch that
  /// none takes, for any sizes.
  bool isNeverExecuted(mlir::Block *block);
  /// The same by what is known of integers.
  static bool isNeverExecuted(mlir::Block *block, AccessBounds &bounds,
                              Effort effort);
  /// What is known of integers, found out once for all blocks.
  AccessBounds &bounds();
  AccessBounds makeBounds();
  /// The same for each of the few sizes of a dim, by dim.
  std::vector<std::vector<AccessBounds>> &boundsBySize();
  void watch(Skeleton &by, BranchDistance *distance);

  sm::LaunchOp launch;
  sm::KernelOp kernel;

  /// Blocks that were forced and are not accepted yet.
  Skeleton::Blocks refused;
  Effort effort = Effort::Quick;
  /// Blocks that were never executed, and whether none ever is.
  llvm::DenseMap<mlir::Block *, bool> never;
  std::optional<AccessBounds> known;
  std::optional<std::vector<std::vector<AccessBounds>>> bySize;
  std::optional<SinkMatches> sinks;
  Integers integers;
  Paths paths;
  /// That of executions, and that of scan(), which reach different things.
  Skeleton skeleton, scanner;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_KERNELRUNS_H
