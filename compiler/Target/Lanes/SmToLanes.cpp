// sm-to-lanes: kernels to the code of one thread.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/LaneEmitter.h"
#include "compiler/Target/Lanes/Passes.h"
#include "compiler/Target/Lanes/SharedMemory.h"

namespace selvedge::lanes {

#define GEN_PASS_DEF_SMTOLANES
#include "compiler/Target/Lanes/Passes.h.inc"

using namespace mlir;

void declareSharedMemory(ModuleOp module) {
  static constexpr StringLiteral name = "selvedge_smem";
  if (module.lookupSymbol(name))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
  LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, name, Attribute(),
                         /*alignment=*/1024, /*addrSpace=*/3);
}

void setSharedBytes(ModuleOp module, StringRef kernel, int64_t bytes) {
  module.walk([&](sm::LaunchOp launch) {
    if (launch.getKernel() == kernel)
      launch.setSmem(bytes);
  });
}

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
