// Kernels of sm that load what they store, or add to what is there.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/SmInPlace.h"

#include "compiler/Verify/Arithmetic/InPlaceOrder.h"
#include "dialect/Tile/Accumulate.h"

#include "llvm/ADT/SetVector.h"

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

/// Whether each thread stores the elements that it loads, and no other one has
/// them: indices are equal, and so are the layouts. Of several warpgroups in a
/// role each has its own.
static bool isByOwner(LoadOp load, StoreOp store) {
  LayoutAttr layout = layoutOf(load.getType());
  if (!layout || layout != layoutOf(store.getValue().getType()) ||
      !isHeldOnce(layout))
    return false;
  auto role = store->getParentOfType<RoleOp>();
  return role == load->getParentOfType<RoleOp>() &&
         (!role || role.getWarpgroups() == 1 ||
          llvm::any_of(store.getIndices(), [&](Value index) {
            return isMadeOf(index, role.getBody().getArgument(0));
          }));
}

/// What accesses a tensor of the signature, whichever arguments stand for it.
static SmallVector<Operation *> usersOf(KernelOp kernel, StringRef tensor) {
  SmallVector<Operation *> users;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<tile::GlobalType, TensorMapType>(argument.getType()) &&
        kernel.getTensorName(argument) == tensor)
      llvm::append_range(users, argument.getUsers());
  return users;
}

LogicalResult checkInPlaceUses(KernelOp kernel) {
  llvm::SmallSetVector<StringRef, 8> tensors;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isa<tile::GlobalType, TensorMapType>(argument.getType()))
      tensors.insert(kernel.getTensorName(argument));
  for (StringRef tensor : tensors) {
    SmallVector<Operation *> users = usersOf(kernel, tensor);
    SmallVector<Operation *> stores;
    llvm::copy_if(users, std::back_inserter(stores), [](Operation *user) {
      auto access = dyn_cast<tile::TensorAccessOpInterface>(user);
      return access && access.isStore();
    });
    if (stores.empty())
      continue;
    for (Operation *user : users) {
      auto load = dyn_cast<LoadOp>(user);
      auto access = dyn_cast<tile::TensorAccessOpInterface>(user);
      if (access && !access.isStore() && !load)
        return user->emitOpError("expects a tensor that the kernel does not "
                                 "store to: a copy may be late");
      if (!load)
        continue;
      for (Operation *other : stores) {
        auto store = dyn_cast<StoreOp>(other);
        if (!store)
          return load.emitOpError("expects a tensor that the kernel does not "
                                  "store in bulk: a copy may be early");
        if (tile::addsToMemory(store))
          return load.emitOpError("expects a tensor that the kernel does not "
                                  "add to");
        if (failed(checkInPlace(load, load.getIndices(), store,
                                store.getIndices())))
          return failure();
        if (!isBehindBarrier(store) && !isByOwner(load, store))
          return store.emitOpError("expects a barrier behind the loads of the "
                                   "elements: other threads may have them");
      }
    }
  }
  return success();
}

} // namespace selvedge::verify
