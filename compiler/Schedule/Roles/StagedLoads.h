// Tiles that a step loads come through shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H

#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

/// Has a bulk copy bring what steps of products load along rows and columns,
/// such as a bias, and what they load along columns alone of the op's own sums:
/// each such `sm.load` becomes an `sm.copy` and an `sm.read`. `tensors` are
/// those of the plan; `joins` says that masked loops and the one between them
/// become one. False where there is no such load.
bool stageLoads(sm::KernelOp kernel, mlir::ArrayAttr tensors, bool joins);

/// What reads the vector that each row of a product starts at; null for other
/// products.
sm::ReadOp startOf(sm::MmaOp product);

/// Whether lanes read what a copy brings.
bool isRead(mlir::Value buffer);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_STAGEDLOADS_H
