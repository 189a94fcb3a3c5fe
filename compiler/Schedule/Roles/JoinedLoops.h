// Loops that differ by their masks become one.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_JOINEDLOOPS_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_JOINEDLOOPS_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// Makes one loop of three that follow each other, with products of what they
/// stage: two with the same masks, and between them one of whole steps, without
/// masks. Copies, products and stores are those of all steps. What a step
/// computes between its products stands in a branch: whole steps, of which
/// `sm.whole` says there that every predicate is true, compute what those of
/// the loop between do. False where there are no such loops.
bool joinLoops(sm::KernelOp kernel);

/// Notes that a kernel's roles are those of one with joined loops, and whether
/// that has been noted.
void noteJoinedLoops(sm::KernelOp kernel);
bool hasJoinedLoops(sm::KernelOp kernel);

/// The branch of such a step; null for other loops.
mlir::scf::IfOp wholeBranchOf(mlir::scf::ForOp loop);

/// Whether an operation is such a branch.
bool isWholeBranch(mlir::Operation &op);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_JOINEDLOOPS_H
