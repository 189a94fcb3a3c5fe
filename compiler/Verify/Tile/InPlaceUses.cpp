// Kernels that load what they store, or add to what is there.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/InPlaceUses.h"

#include "compiler/Verify/Arithmetic/InPlaceOrder.h"
#include "dialect/Tile/Accumulate.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

LogicalResult checkInPlaceUses(KernelOp kernel) {
  llvm::MapVector<Value, SmallVector<LoadOp>> loads;
  llvm::MapVector<Value, SmallVector<StoreOp>> stores;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads[load.getTensor()].push_back(load);
    else if (auto store = dyn_cast<StoreOp>(op))
      stores[store.getTensor()].push_back(store);
  });
  for (auto &[tensor, writes] : stores) {
    bool adds = llvm::any_of(writes, [](StoreOp s) { return addsToMemory(s); });
    if (adds &&
        !llvm::all_of(writes, [](StoreOp s) { return addsToMemory(s); }))
      return writes.front().emitOpError(
          "expects a kernel to store to a tensor or to add to it, not both");
    for (LoadOp load : loads.lookup(tensor)) {
      if (adds)
        return load.emitOpError("expects other kernels than this one to add to "
                                "the tensor");
      for (StoreOp store : writes)
        if (failed(checkInPlace(load, load.getIndices(), store,
                                store.getIndices())))
          return failure();
    }
  }
  return success();
}

} // namespace selvedge::verify
