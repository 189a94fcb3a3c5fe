// sm-to-lanes: kernels to the code of one thread.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"
#include "compiler/Target/Lanes/Passes.h"
#include "compiler/Target/Lanes/SharedMemory.h"

namespace selvedge::lanes {

#define GEN_PASS_DEF_SMTOLANES
#include "compiler/Target/Lanes/Passes.h.inc"

using namespace mlir;

namespace {

struct SmToLanesPass : impl::SmToLanesBase<SmToLanesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sm::KernelOp> kernels(module.getOps<sm::KernelOp>());
    for (sm::KernelOp kernel : kernels) {
      OpBuilder b(kernel);
      LaneEmitter emitter(kernel, b);
      if (failed(emitter.run()))
        return signalPassFailure();
      setSharedBytes(module, kernel.getSymName(), emitter.getSharedBytes());
      kernel.erase();
    }
    if (!kernels.empty())
      declareSharedMemory(module);
  }
};

} // namespace
} // namespace selvedge::lanes
