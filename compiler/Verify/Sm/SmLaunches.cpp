// verify-sm-launches: kernels that start early wait before they use what the
// ones before them do.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "dialect/Sm/LaunchUses.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMLAUNCHES
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Whether who executes an operation has waited: in the operation's block, or
/// ahead of one around it.
bool hasWaited(Operation *op) {
  for (; !isa<KernelOp>(op); op = op->getParentOp())
    for (Operation *before = op->getPrevNode(); before;
         before = before->getPrevNode())
      if (isa<AwaitLaunchOp>(before))
        return true;
  return false;
}

/// Whether who executes an operation may wait at all.
bool mayWait(Operation *op) {
  auto role = op->getParentOfType<RoleOp>();
  return !role || awaitsLaunch(role);
}

/// Some thread of each block waits on every path, so that who waits for this
/// launch waits for those before it; and each one that uses what they do waits
/// before.
LogicalResult checkWait(LaunchOp launch, KernelOp kernel,
                        SymbolTable &symbols) {
  if (!awaitsLaunch(kernel))
    return launch.emitOpError("is dependent, so it expects a kernel with "
                              "sm.await_launch, found none in '")
           << launch.getKernel() << "'";
  auto earlier = sm::LaunchUses::before(kernel, symbols);
  WalkResult found = kernel.walk([&](Operation *op) {
    // sm.in_order is an exit: a thread might end without its wait.
    bool mayEnd = isa<InOrderOp>(op) && mayWait(op);
    if ((!mayEnd && !earlier.conflictsWith(op)) || hasWaited(op))
      return WalkResult::advance();
    InFlightDiagnostic error =
        op->emitOpError("stands before sm.await_launch, and its kernel "
                        "may start while one before it runs");
    error.attachNote(launch.getLoc()) << "this launch is dependent";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

struct VerifySmLaunchesPass : impl::VerifySmLaunchesBase<VerifySmLaunchesPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk([&](LaunchOp launch) {
      if (!launch.getDependent())
        return WalkResult::advance();
      auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
      if (!kernel) {
        launch.emitOpError("expects a kernel of this module, but got '")
            << launch.getKernel() << "'";
        return WalkResult::interrupt();
      }
      if (!isa_and_nonnull<LaunchOp>(launch->getPrevNode())) {
        launch.emitOpError("is the first of its variant and depends on none: "
                           "expects it not to be dependent");
        return WalkResult::interrupt();
      }
      return WalkResult(checkWait(launch, kernel, symbols));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
