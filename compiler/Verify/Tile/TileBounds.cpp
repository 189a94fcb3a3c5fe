// verify-tile-bounds: memory is accessed inside tensors only.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Passes.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYTILEBOUNDS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

struct VerifyTileBoundsPass : impl::VerifyTileBoundsBase<VerifyTileBoundsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    KernelOp kernel = getOperation();
    ProgramOp program = kernel.getProgram();
    auto seed = [&](IndexValues &values, ArrayRef<Polynomial> dims) {
      seedKernel(kernel, values, dims);
    };
    AccessBounds bounds(program.getDims(), program.getTensors(), seed);
    WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(check(bounds, kernel, op)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult check(AccessBounds &bounds, KernelOp kernel,
                             Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return bounds.check({op, kernel.getTensorArgOf(load.getTensor()),
                           load.getTensor(), load.getIndices(),
                           load.getTested()});
    if (auto store = dyn_cast<StoreOp>(op))
      return bounds.check({op, kernel.getTensorArgOf(store.getTensor()),
                           store.getTensor(), store.getIndices(),
                           store.getPresence()});
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop ? bounds.check(loop) : success();
  }
};

} // namespace
} // namespace selvedge::verify
