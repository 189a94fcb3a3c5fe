// What a temp or output is to the kernels of a program.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/TempUses.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

void noteTempReaders(InFlightDiagnostic &diag, ProgramOp program,
                     TensorArgAttr temp) {
  program.walk([&](LoadOp load) {
    auto kernel = load->getParentOfType<KernelOp>();
    if (kernel.getTensorArgOf(load.getTensor()) == temp)
      diag.attachNote(load.getLoc())
          << "kernel '" << kernel.getSymName() << "' reads the temp";
  });
}

void noteTempWriters(InFlightDiagnostic &diag, LoadOp load) {
  auto reader = load->getParentOfType<KernelOp>();
  TensorArgAttr temp = reader.getTensorArgOf(load.getTensor());
  reader.getProgram().walk([&](StoreOp store) {
    auto kernel = store->getParentOfType<KernelOp>();
    if (kernel.getTensorArgOf(store.getTensor()) == temp)
      diag.attachNote(store.getLoc())
          << "kernel '" << reader.getSymName() << "' reads what kernel '"
          << kernel.getSymName() << "' writes";
  });
}

LogicalResult checkTempUses(ProgramOp program, TensorArgAttr temp,
                            ArrayRef<StoreOp> covering) {
  StringRef kind = temp.getRole() == Role::Temp ? "temp" : "output";
  bool isDefined = false;
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    LoadOp load;
    StoreOp store;
    kernel.walk([&](Operation *op) {
      if (auto access = dyn_cast<LoadOp>(op);
          access && kernel.getTensorArgOf(access.getTensor()) == temp)
        load = access;
      if (auto access = dyn_cast<StoreOp>(op);
          access && kernel.getTensorArgOf(access.getTensor()) == temp)
        store = access;
    });
    if (load && store) {
      InFlightDiagnostic diag = load.emitOpError("expects ")
                                << kind << " '" << temp.getName().getValue()
                                << "' to be loaded by other kernels than those "
                                   "that store it: iterations run in any order";
      diag.attachNote(store.getLoc()) << "it is stored here";
      return diag;
    }
    if (load && !isDefined) {
      InFlightDiagnostic diag =
          load.emitOpError("of kernel '")
          << kernel.getSymName()
          << "' expects a kernel before this one to write every element of "
          << kind << " '" << temp.getName().getValue() << "'";
      noteTempWriters(diag, load);
      return diag;
    }
    isDefined |= llvm::any_of(covering, [&](StoreOp all) {
      return all->getParentOfType<KernelOp>() == kernel;
    });
  }
  return success();
}

} // namespace selvedge::verify
