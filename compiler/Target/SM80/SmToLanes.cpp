// sm-to-lanes: kernels to the code of one thread.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM80/LaneEmitter.h"
#include "compiler/Target/SM80/Passes.h"

namespace selvedge::sm80 {

#define GEN_PASS_DEF_SMTOLANES
#include "compiler/Target/SM80/Passes.h.inc"

namespace {

using namespace mlir;

struct SmToLanesPass : impl::SmToLanesBase<SmToLanesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sm::KernelOp> kernels(module.getOps<sm::KernelOp>());
    if (kernels.empty())
      return;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false,
                           LLVM::Linkage::External, "selvedge_smem",
                           Attribute(),
                           /*alignment=*/1024, /*addrSpace=*/3);
    llvm::StringMap<int64_t> sharedBytes;
    for (sm::KernelOp kernel : kernels) {
      b.setInsertionPoint(kernel);
      LaneEmitter emitter(kernel, b);
      if (failed(emitter.run()))
        return signalPassFailure();
      sharedBytes[kernel.getSymName()] = emitter.getSharedBytes();
      kernel.erase();
    }
    module.walk([&](sm::LaunchOp launch) {
      launch.setSmem(sharedBytes.lookup(launch.getKernel()));
    });
  }
};

} // namespace
} // namespace selvedge::sm80
