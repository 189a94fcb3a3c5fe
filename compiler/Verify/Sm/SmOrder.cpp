// verify-sm-order: roles take steps in another order where that is the same.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Sm/OrderFree.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMORDER
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Of kernels that a test gives.
constexpr StringLiteral beforeSuffix = ".before";

struct VerifySmOrderPass
    : WrapsPasses<impl::VerifySmOrderBase<VerifySmOrderPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    OwningOpRef<ModuleOp> before = runBesideCopy();
    if (!before)
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel.hasRoles() || !mayReorderSteps(kernel))
        continue;
      KernelOp source = sourceOf(kernel, *before);
      if (!source) {
        kernel.emitOpError("expects the kernel that it is made of");
        return signalPassFailure();
      }
      if (failed(checkOrderFree(
              source, "is executed by roles in another order than its own")))
        return signalPassFailure();
    }
  }

  /// The kernel without roles of the same source.
  static KernelOp sourceOf(KernelOp roles, ModuleOp before) {
    std::string given = (roles.getSymName() + beforeSuffix).str();
    for (auto kernel : before.getOps<KernelOp>())
      if (!kernel.hasRoles() &&
          (kernel.getSymName() == given ||
           (kernel.getSource() &&
            kernel.getSourceAttr() == roles.getSourceAttr())))
        return kernel;
    return {};
  }
};

} // namespace

std::unique_ptr<Pass> createVerifySmOrder(OpPassManager pipeline) {
  return std::make_unique<VerifySmOrderPass>(std::move(pipeline));
}

} // namespace selvedge::verify
