// verify-tile-bounds: memory is accessed inside tensors only.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/Tile/TempUses.h"

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
    if (auto load = dyn_cast<LoadOp>(op)) {
      TensorArgAttr tensor = kernel.getTensorArgOf(load.getTensor());
      SmallVector<Value> tested(load.getTested());
      TensorAccess access{op, tensor, load.getTensor(), load.getIndices(),
                          tested};
      if (tensor.getRole() == Role::Temp)
        access.describe = [load](InFlightDiagnostic &diag) {
          noteTempWriters(diag, load);
        };
      return bounds.check(access);
    }
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
