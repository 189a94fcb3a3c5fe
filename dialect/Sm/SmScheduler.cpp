// Which tile a thread block takes next, and which launch follows: operations of
// the sm dialect.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace selvedge::sm;

#define GET_OP_CLASSES
#include "dialect/Sm/SmSchedulerOps.cpp.inc"
