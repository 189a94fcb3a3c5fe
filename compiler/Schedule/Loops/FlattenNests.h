// tile-flatten-nests, and what it would change.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_FLATTENNESTS_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_FLATTENNESTS_H

#include "mlir/IR/Operation.h"

namespace selvedge::schedule {

/// Whether `op` has a loop over short loops that tile-flatten-nests would make
/// one loop.
bool hasShortNest(mlir::Operation *op);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_FLATTENNESTS_H
