// Work that only a branch needs which is hardly ever taken.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RareWork.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

bool isMovable(Operation &op) {
  if (op.getNumRegions() != 0 || op.getNumResults() == 0)
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return llvm::none_of(load.getTensor().getUsers(), llvm::IsaPred<StoreOp>);
  return isMemoryEffectFree(&op);
}

void delayWork(scf::IfOp branch) {
  Block *rare = branch.thenBlock();
  auto isInside = [&](Operation *user) {
    return rare->findAncestorOpInBlock(*user) != nullptr;
  };
  for (Operation *at = branch; isa<scf::IfOp>(at); at = at->getParentOp()) {
    SmallVector<Operation *> before;
    for (Operation &op : *at->getBlock()) {
      if (&op == at)
        break;
      before.push_back(&op);
    }
    for (Operation *op : llvm::reverse(before))
      if (isMovable(*op) && llvm::all_of(op->getUsers(), isInside))
        op->moveBefore(rare, rare->begin());
  }
}

} // namespace selvedge::schedule
