// Which tile a thread block takes next, and which launch follows: operations of
// the sm dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_SMSCHEDULER_H
#define SELVEDGE_DIALECT_SM_SMSCHEDULER_H

#include "dialect/Sm/Sm.h"

#define GET_OP_CLASSES
#include "dialect/Sm/SmSchedulerOps.h.inc"

#endif // SELVEDGE_DIALECT_SM_SMSCHEDULER_H
