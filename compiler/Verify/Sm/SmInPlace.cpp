// Kernels of sm that load what they store, or add to what is there.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/SmInPlace.h"

#include "compiler/Verify/Arithmetic/InPlaceOrder.h"
#include "dialect/Tile/Accumulate.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// Whether a barrier stands before `store` in its block, and behind whatever
/// loads the tensor.
static bool isBehindBarrier(StoreOp store) {
  for (Operation *op = store->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<BarrierOp>(op))
      return true;
    auto found = op->walk([&](LoadOp load) {
      return load.getTensor() == store.getTensor() ? WalkResult::interrupt()
                                                   : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
  }
  return false;
}

LogicalResult checkInPlaceUses(KernelOp kernel) {
  for (Value tensor : kernel.getBody().getArguments()) {
    SmallVector<StoreOp> stores;
    for (Operation *user : tensor.getUsers())
      if (auto store = dyn_cast<StoreOp>(user))
        stores.push_back(store);
    if (stores.empty())
      continue;
    for (Operation *user : tensor.getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      auto access = dyn_cast<tile::TensorAccessOpInterface>(user);
      if (access && !access.isStore() && !load)
        return user->emitOpError("expects a tensor that the kernel does not "
                                 "store to: a copy may be late");
      if (!load)
        continue;
      for (StoreOp store : stores) {
        if (tile::addsToMemory(store))
          return load.emitOpError("expects a tensor that the kernel does not "
                                  "add to");
        if (failed(checkInPlace(load, load.getIndices(), store,
                                store.getIndices())))
          return failure();
        if (!isBehindBarrier(store))
          return store.emitOpError("expects a barrier behind the loads of the "
                                   "elements: other threads may have them");
      }
    }
  }
  return success();
}

} // namespace selvedge::verify
