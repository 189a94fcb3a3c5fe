// Which tile a thread block takes next: operations of the sm dialect.
// SPDX-License-Identifier: MIT
#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace selvedge::sm;

#define GET_OP_CLASSES
#include "dialect/Sm/SmSchedulerOps.cpp.inc"

LogicalResult NextTileOp::verify() {
  selvedge::tile::GlobalType counter = getCounter().getType();
  if (counter.getRank() != 1 || !counter.getElementType().isInteger(32))
    return emitOpError("expects a counter of i32 with one dimension, but got ")
           << counter;
  return success();
}
