// verify-sm-bounds: forms seq and async access memory inside tensors only.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Sm/SmInPlace.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

#include <limits>

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMBOUNDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Checks a kernel as one launch of a plan runs it.
class Verifier {
public:
  Verifier(PlanOp plan, LaunchOp launch, KernelOp kernel)
      : plan(plan), launch(launch), kernel(kernel) {}

  LogicalResult run() {
    auto seed = [&](IndexValues &values, ArrayRef<Polynomial> dims) {
      seedLaunch(launch, kernel, values, dims);
    };
    AccessBounds bounds(plan.getDims(), plan.getTensors(), seed);
    if (failed(checkInPlaceUses(kernel)))
      return failure();
    WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(check(bounds, op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult check(AccessBounds &bounds, Operation *op) {
    // A box is clipped to the tensor by its map.
    if (auto access = dyn_cast<tile::TensorAccessOpInterface>(op);
        access && access.isOfLanes())
      return check(bounds, op, access.getAccessed(), access.getIndices(),
                   access.getTested());
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop ? bounds.check(loop) : success();
  }

  LogicalResult check(AccessBounds &bounds, Operation *op, Value handle,
                      ValueRange indices, ValueRange presence) {
    auto argument = dyn_cast<BlockArgument>(handle);
    auto pointer = argument && argument.getOwner() == &kernel.getBody().front()
                       ? dyn_cast<PointerArgAttr>(
                             kernel.getArgs()[argument.getArgNumber()])
                       : PointerArgAttr();
    for (auto tensor : plan.getTensors().getAsRange<tile::TensorArgAttr>())
      if (pointer && tensor.getName() == pointer.getTensor())
        return bounds.check({op, tensor, handle, indices, presence});
    return op->emitOpError("expects a tensor of op '") << plan.getOp() << "'";
  }

  PlanOp plan;
  LaunchOp launch;
  KernelOp kernel;
};

struct VerifySmBoundsPass : impl::VerifySmBoundsBase<VerifySmBoundsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    SmallVector<LaunchOp> launches;
    getOperation().walk([&](LaunchOp launch) { launches.push_back(launch); });
    if (failed(failableParallelForEach(
            &getContext(), launches,
            [&](LaunchOp launch) { return check(launch, symbols); })))
      signalPassFailure();
  }

  static LogicalResult check(LaunchOp launch, const SymbolTable &symbols) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    if (!kernel)
      return launch.emitOpError("expects a kernel of this module, but got '")
             << launch.getKernel() << "'";
    // Who computes indices for other roles is executed: verify-sm-outputs.
    if (kernel.hasRoles())
      return checkInPlaceUses(kernel);
    return Verifier(launch->getParentOfType<PlanOp>(), launch, kernel).run();
  }
};

} // namespace
} // namespace selvedge::verify
