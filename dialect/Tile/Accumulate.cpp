// Sums in any order.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/Accumulate.h"

#include "dialect/Tile/Tile.h"

namespace selvedge::tile {

using namespace mlir;

llvm::StringSet<> tensorsOfAnyOrder(ProgramOp program) {
  llvm::StringSet<> names;
  for (auto kernel : program.getOps<KernelOp>()) {
    auto nameOf = [&](Value tensor) {
      return kernel.getTensorArgOf(tensor).getName().getValue();
    };
    // Temps are stored by kernels before those that load them.
    bool loadsOne = false;
    kernel.walk([&](LoadOp load) {
      loadsOne |= names.contains(nameOf(load.getTensor()));
    });
    kernel.walk([&](StoreOp store) {
      if (loadsOne || addsInAnyOrder(store))
        names.insert(nameOf(store.getTensor()));
    });
  }
  return names;
}

} // namespace selvedge::tile
