// Tiles that a step loads come through shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H

#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

/// Has a bulk copy bring what steps of products load along rows and columns,
/// such as a bias: each `sm.load` of a tile becomes an `sm.copy` and an
/// `sm.read`. False where there is no such load.
bool stageLoads(sm::KernelOp kernel);

/// Whether lanes read what a copy brings.
bool isRead(mlir::Value buffer);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H
