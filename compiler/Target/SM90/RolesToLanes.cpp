// sm-roles-to-lanes: kernels with roles to the code of one thread.
// SPDX-License-Identifier: MIT
#include "compiler/Target/Lanes/SharedMemory.h"
#include "compiler/Target/SM90/Passes.h"
#include "compiler/Target/SM90/RoleEmitter.h"
#include "compiler/Target/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace selvedge::sm90 {

#define GEN_PASS_DEF_SMROLESTOLANES
#include "compiler/Target/SM90/Passes.h.inc"

namespace {

using namespace mlir;

/// Whether each step of a loop awaits the products that it starts, of operands
/// that are its own: what one hands to the next are sums.
bool areStepsFinished(sm::KernelOp kernel) {
  return !kernel
              .walk([](sm::WgmmaOp product) {
                Value lhs = product.getLhs();
                bool isLate = isa<BlockArgument>(lhs) &&
                              isa<RankedTensorType>(lhs.getType());
                bool isAwaited =
                    llvm::any_of(product->getUsers(), [&](Operation *user) {
                      return isa<sm::WgmmaWaitOp>(user) &&
                             user->getBlock() == product->getBlock();
                    });
                return isLate || !isAwaited ? WalkResult::interrupt()
                                            : WalkResult::advance();
              })
              .wasInterrupted();
}

struct SmRolesToLanesPass : impl::SmRolesToLanesBase<SmRolesToLanesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sm::KernelOp> kernels;
    for (auto kernel : module.getOps<sm::KernelOp>())
      if (kernel.hasRoles())
        kernels.push_back(kernel);
    for (sm::KernelOp kernel : kernels) {
      OpBuilder b(kernel);
      std::string name = kernel.getSymName().str();
      bool finishes = areStepsFinished(kernel);
      RoleEmitter emitter(kernel, b);
      if (failed(emitter.run()))
        return signalPassFailure();
      lanes::setSharedBytes(module, kernel.getSymName(),
                            emitter.getSharedBytes());
      kernel.erase();
      if (finishes)
        module.lookupSymbol<LLVM::LLVMFuncOp>(name).setPassthroughAttr(
            b.getStrArrayAttr({finishesSteps}));
    }
    if (!kernels.empty())
      lanes::declareSharedMemory(module);
  }
};

} // namespace
} // namespace selvedge::sm90
