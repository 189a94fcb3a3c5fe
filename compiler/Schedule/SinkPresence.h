// Presence of reductions and products, which form seq alone carries.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_SINKPRESENCE_H
#define SELVEDGE_COMPILER_SCHEDULE_SINKPRESENCE_H

#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

/// Drops the presence of every sm.reduce and sm.mma, and what only it needed:
/// it is there to be verified on form seq, and no later form executes it.
void dropSinkPresence(sm::KernelOp kernel);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_SINKPRESENCE_H
