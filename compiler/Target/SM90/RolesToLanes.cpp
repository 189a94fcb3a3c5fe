// sm-roles-to-lanes: kernels with roles to the code of one thread.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/SharedMemory.h"
#include "compiler/Target/SM90/Passes.h"
#include "compiler/Target/SM90/RoleEmitter.h"

namespace selvedge::sm90 {

#define GEN_PASS_DEF_SMROLESTOLANES
#include "compiler/Target/SM90/Passes.h.inc"

namespace {

using namespace mlir;

struct SmRolesToLanesPass : impl::SmRolesToLanesBase<SmRolesToLanesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sm::KernelOp> kernels;
    for (auto kernel : module.getOps<sm::KernelOp>())
      if (!kernel.getBody().getOps<sm::RoleOp>().empty())
        kernels.push_back(kernel);
    for (sm::KernelOp kernel : kernels) {
      OpBuilder b(kernel);
      RoleEmitter emitter(kernel, b);
      if (failed(emitter.run()))
        return signalPassFailure();
      lanes::setSharedBytes(module, kernel.getSymName(),
                            emitter.getSharedBytes());
      kernel.erase();
    }
    if (!kernels.empty())
      lanes::declareSharedMemory(module);
  }
};

} // namespace
} // namespace selvedge::sm90
