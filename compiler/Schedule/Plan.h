// Choice of block sizes and warps.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_H

#include "compiler/Schedule/Layouts.h"
#include "compiler/Target/TargetInfo.h"

namespace selvedge::schedule {

/// Sizes that the plan binds for one kernel.
struct KernelPlan {
  /// Size of every axis.
  llvm::MapVector<mlir::StringAttr, int64_t> sizes;
  /// Warps of a thread block.
  int64_t warps = 4;
};

/// Registers per thread of `warpgroups` that multiply: with those of the one
/// that copies they fit the register file (PTX ISA, "setmaxnreg").
int64_t productRegisters(int64_t warpgroups);

/// Whether the target multiplies by warpgroups: each keeps whole rows, whatever
/// else the warps could share.
bool usesWarpgroups(const AxisRoles &roles, const TargetInfo &target);

/// Solves a kernel: the first candidate that fits registers and shared memory;
/// emits an error where none does.
mlir::FailureOr<KernelPlan> solvePlan(tile::KernelOp kernel,
                                      const AxisRoles &roles,
                                      const TargetInfo &target,
                                      bool useWarpgroups);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_H
