// Work that only a branch needs which is hardly ever taken.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_RAREWORK_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_RAREWORK_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// Whether an operation may stand elsewhere in its kernel: it has results
/// alone, which follow from its operands and what the kernel does not write.
bool isMovable(mlir::Operation &op);

/// Moves what only the first block of `branch` uses into it, loads of what the
/// kernel does not write included, as far up as the innermost loop around it.
void delayWork(mlir::scf::IfOp branch);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_RAREWORK_H
