// Presence of reductions and products, which form seq alone carries.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/SinkPresence.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace selvedge::schedule {

using namespace mlir;

void dropSinkPresence(sm::KernelOp kernel) {
  kernel.walk([](sm::ReduceOp op) { op.getPresenceMutable().clear(); });
  kernel.walk([](sm::MmaOp op) { op.getPresenceMutable().clear(); });
  // Backwards, so that a chain goes as a whole.
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

} // namespace selvedge::schedule
