// verify-sm-launches: kernels that start early wait before they touch memory.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"

#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMLAUNCHES
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Whether an operation, alone, may access memory that other kernels see. All
/// that lies there is named by such a type.
bool mayAccess(Operation *op) {
  return !isMemoryEffectFree(op) &&
         llvm::any_of(op->getOperandTypes(), [](Type type) {
           return isa<tile::GlobalType, TensorMapType, CounterType>(type);
         });
}

/// Every thread waits, before anything accesses such memory.
LogicalResult checkWait(LaunchOp launch, KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto waits = body.getOps<AwaitLaunchOp>();
  if (waits.empty())
    return launch.emitOpError("is dependent, so it expects a kernel with "
                              "sm.await_launch, found none in '")
           << launch.getKernel() << "'";
  for (Operation &op : body) {
    if (isa<AwaitLaunchOp>(op))
      break;
    // sm.in_order is an exit: a thread might end without the wait.
    WalkResult found = op.walk([&](Operation *inner) {
      if (!mayAccess(inner) && !isa<InOrderOp>(inner))
        return WalkResult::advance();
      InFlightDiagnostic error =
          inner->emitOpError("stands before sm.await_launch, and its kernel "
                             "may start while the one before it runs");
      error.attachNote(launch.getLoc()) << "this launch is dependent";
      return WalkResult::interrupt();
    });
    if (found.wasInterrupted())
      return failure();
  }
  return success();
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
      return WalkResult(checkWait(launch, kernel));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
