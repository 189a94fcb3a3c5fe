// verify-tile-loops: a pass keeps the loops and branches of kernels.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/SameLoops.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILELOOPS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileLoopsPass
    : WrapsPasses<impl::VerifyTileLoopsBase<VerifyTileLoopsPass>> {
  using WrapsPasses::WrapsPasses;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> copy = runBesideCopy();
    if (!copy)
      return signalPassFailure();
    WalkResult walk = module.walk([&](Operation *op) {
      LogicalResult result = success();
      if (auto kernel = dyn_cast<KernelOp>(op))
        result = check(*copy, kernel);
      else if (auto kernel = dyn_cast<sm::KernelOp>(op))
        result = check(*copy, kernel);
      return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
  }

private:
  /// The kernel of a program before the passes; null where there is none.
  static KernelOp find(ModuleOp before, SourceAttr source) {
    KernelOp found;
    before.walk([&](KernelOp kernel) {
      if (kernel.getSource() == source)
        found = kernel;
    });
    return found;
  }

  template <typename Kernel>
  static LogicalResult check(ModuleOp before, Kernel after) {
    std::optional<SourceAttr> source = after.getSource();
    KernelOp kernel = source ? find(before, *source) : KernelOp();
    return kernel ? SameLoops().compare(kernel, after)
                  : after.emitOpError("expects a kernel before the passes to "
                                      "compare it with");
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyTileLoops(OpPassManager pipeline) {
  return std::make_unique<VerifyTileLoopsPass>(std::move(pipeline));
}

} // namespace selvedge::verify
