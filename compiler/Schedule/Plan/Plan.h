// Choice of block sizes and warps.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_PLAN_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_PLAN_H

#include "compiler/Schedule/Layouts/Layouts.h"
#include "compiler/Target/TargetInfo.h"

namespace selvedge::schedule {

/// A tile that takes registers: the operation that makes or stores it, and
/// words per thread.
struct LargestTile {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::StringAttr> axes;
  int64_t words = 0;
};

/// Sizes that the plan binds for one kernel.
struct KernelPlan {
  /// Size of every axis.
  AxisSizes sizes;
  /// Warps of a thread block.
  int64_t warps = 4;
  /// Warps share columns of accumulators, and computed operands go through
  /// shared memory.
  bool sharesOperands = false;
  /// Estimates: 32-bit registers per thread, those that the schedule leaves to
  /// one, bytes of shared memory.
  int64_t registers = 0, registerLimit = 0, smemBytes = 0;
  /// What takes most registers, and the tile that takes most shared memory.
  LargestTile largest;
  mlir::Operation *largestCopy = nullptr;

  /// Registers that the estimate leaves free.
  int64_t room() const { return registerLimit - registers; }
};

/// Candidates of one kernel, best first by the model.
struct RankedPlans {
  llvm::SmallVector<KernelPlan> plans;
  /// Better ones that do not fit, and why.
  llvm::SmallVector<std::string> refused;
};

/// The sizes that a plan chose and its warps: `BM 128, BN 64, 8 warps`.
std::string planWords(tile::KernelOp kernel, const KernelPlan &plan);

/// The same for programs: `BM128-BN64-w8`, different for different plans.
std::string planKey(tile::KernelOp kernel, const KernelPlan &plan);

/// Name of a kernel in a PlanChoice.
std::string planName(tile::KernelOp kernel);

/// The same of a kernel that is made of it; its own name if it is of none.
std::string planName(sm::KernelOp kernel);

/// What the decision is about that `tile-split-columns` notes.
constexpr llvm::StringLiteral columnsDecision = "columns";

/// Registers per thread of `warpgroups` that multiply: with those of the one
/// that copies they fit the register file (PTX ISA, "setmaxnreg").
int64_t productRegisters(int64_t warpgroups);

/// The limits of `arch`; an error at `op` if there is no such architecture.
std::optional<TargetInfo> knownTarget(mlir::Operation *op,
                                      llvm::StringRef arch);

/// Whether the target multiplies by warpgroups: each keeps whole rows, whatever
/// else the warps could share.
bool usesWarpgroups(const KernelLayouts &layouts, const TargetInfo &target);

/// Has warps execute the kernel although the target has warpgroups; `why` is
/// for `explain`.
void keepFromRoles(tile::KernelOp kernel, llvm::StringRef why);
bool isKeptFromRoles(tile::KernelOp kernel);

/// Has the plan of that key (planKey()) fit no longer: once lowered it takes
/// more than the target has, which is what `why` says.
void dropPlan(tile::KernelOp kernel, llvm::StringRef key, llvm::StringRef why);

/// Whether warpgroups execute the kernel: as usesWarpgroups(), but never in the
/// version for any strides, nor where they are kept from it.
bool plansWarpgroups(tile::KernelOp kernel, const KernelLayouts &layouts,
                     const TargetInfo &target);

/// Threads that share a row of what `kernel` reads more than once, where its
/// program is for rows of some length (`tile-row-classes`).
std::optional<int64_t> rowThreads(tile::KernelOp kernel);

/// Whether a schedule of the program pins sizes or warps of the kernel for a
/// target: it has these or none. The version for single parts has them where
/// they fit, other versions have no schedule.
bool isPinned(tile::KernelOp kernel, const TargetInfo &target);

/// Whether a schedule keeps the kernel from roles.
bool isPinnedWithoutRoles(tile::KernelOp kernel, const TargetInfo &target);

/// Every candidate of a kernel that fits registers and shared memory, of which
/// its program may be left less than the target has. Where
/// none does, and warps execute it, the one that ptxas will spill least; emits
/// an error where not even that fits. What a schedule pins all of them have; an
/// error where none fits then.
mlir::FailureOr<RankedPlans> rankPlans(tile::KernelOp kernel,
                                       KernelLayouts &layouts,
                                       const TargetInfo &target);

/// Why no plan fits warpgroups that would execute the kernel; empty where one
/// does, or none would.
std::string excessForWarpgroups(tile::KernelOp kernel, KernelLayouts &layouts,
                                const TargetInfo &target);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_PLAN_H
