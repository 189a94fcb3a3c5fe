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

constexpr StringLiteral beforeSuffix = ".before", seqName = "_aligned",
                        rolesName = "_bulk";

struct VerifySmOrderPass
    : WrapsPasses<impl::VerifySmOrderBase<VerifySmOrderPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    // Copies that the passes do not see.
    OwningOpRef<ModuleOp> before = getOperation().clone();
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    SymbolTable symbols(*before);
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (kernel.getBody().getOps<RoleOp>().empty() || !mayReorderSteps(kernel))
        continue;
      KernelOp source = sourceOf(kernel, symbols);
      if (!source) {
        kernel.emitOpError("expects the kernel that it is made of");
        return signalPassFailure();
      }
      if (failed(checkOrderFree(
              source, "is executed by roles in another order than its own")))
        return signalPassFailure();
    }
  }

  static KernelOp sourceOf(KernelOp roles, SymbolTable &symbols) {
    StringRef name = roles.getSymName();
    if (auto given = symbols.lookup<KernelOp>((name + beforeSuffix).str()))
      return given;
    bool isRenamed = name.consume_back(rolesName);
    auto source =
        symbols.lookup<KernelOp>((name + (isRenamed ? seqName : "")).str());
    // Versions of their own keep their names.
    if (!source && isRenamed)
      source = symbols.lookup<KernelOp>(name);
    bool isSeq = source && source.getBody().getOps<RoleOp>().empty();
    return isSeq ? source : KernelOp();
  }
};

} // namespace

std::unique_ptr<Pass> createVerifySmOrder(OpPassManager pipeline) {
  return std::make_unique<VerifySmOrderPass>(std::move(pipeline));
}

} // namespace selvedge::verify
