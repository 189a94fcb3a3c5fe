// What a plan takes, before ptxas knows: registers and shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANESTIMATE_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANESTIMATE_H

#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Plan/PlanTables.h"

namespace selvedge::schedule {

/// Elements of a tile.
int64_t elements(mlir::Type type, const KernelPlan &plan);

/// Whether an operand is computed in another group than the product.
bool isStaged(const KernelLayouts &layouts, tile::DotOp dot,
              mlir::Value operand);

/// The larger of what is in `largest` and `count` elements per thread of an
/// operation's tile.
void keepLargest(LargestTile &largest, mlir::Operation *op, mlir::Type type,
                 llvm::ArrayRef<mlir::StringAttr> axes, int64_t count);

/// The largest tile that `layouts` spread.
LargestTile largestTile(tile::KernelOp kernel, KernelLayouts &layouts,
                        const KernelPlan &plan, const Candidate &c);

/// The largest store of a value that lacks axes of its indices: each element
/// has code of its own.
LargestTile largestRepeatedStore(tile::KernelOp kernel, KernelLayouts &layouts,
                                 const KernelPlan &plan);

/// What warps exchange in reductions: a word per thread for each register of
/// the result, in a buffer of its own. Axes that warps share come last.
int64_t exchangedBytes(tile::KernelOp kernel, KernelLayouts &layouts,
                       const KernelPlan &plan);

/// Whether some tile moves from its group to another one.
bool movesTiles(tile::KernelOp kernel, const KernelLayouts &layouts);

/// What moves between groups, and what products take from shared memory
/// although it is computed.
int64_t movedBytes(tile::KernelOp kernel, const KernelLayouts &layouts,
                   const KernelPlan &plan);

/// Fills the estimates of `plan`, with so many buffers for each copy of a loop.
void estimate(tile::KernelOp kernel, const KernelLayouts &layouts,
              KernelPlan &plan, const TargetInfo &target, bool useWarpgroups,
              int64_t buffers = 2);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANESTIMATE_H
