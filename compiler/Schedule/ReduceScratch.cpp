// sm-reduce-scratch: shared memory for reductions across warps.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMREDUCESCRATCH
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

bool isExchange(Operation &op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.spansWarps();
}

/// Whether the block of a loop's body holds another barrier, which each round
/// passes between the reads of the parts and the next writes.
bool hasOtherBarrier(ReduceOp reduce) {
  return isa<scf::ForOp>(reduce->getParentOp()) &&
         llvm::any_of(*reduce->getBlock(), [&](Operation &op) {
           return isa<BarrierOp>(op) || (isExchange(op) && &op != reduce);
         });
}

struct SmReduceScratchPass : impl::SmReduceScratchBase<SmReduceScratchPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    kernel.walk([&](ReduceOp reduce) {
      if (!isExchange(*reduce) || reduce.getScratch())
        return;
      Operation *outermost =
          kernel.getBody().front().findAncestorOpInBlock(*reduce);
      OpBuilder b(outermost);
      DistAttr result = distOf(reduce.getType());
      auto type = BufferType::get(
          b.getContext(), b.getStringAttr("register"),
          b.getStringAttr("thread"), result ? result.getNumRegs() : 1,
          32 * kernel.getWarps(), getElementTypeOrSelf(reduce.getType()),
          /*swizzle=*/0, /*stages=*/1,
          /*panel=*/0);
      reduce.getScratchMutable().assign(
          AllocOp::create(b, reduce.getLoc(), type));
      // The next round overwrites the parts: everyone must have read them.
      if (reduce->getParentOfType<scf::ForOp>() && !hasOtherBarrier(reduce)) {
        b.setInsertionPointAfter(reduce);
        BarrierOp::create(b, reduce.getLoc());
      }
    });
  }
};

} // namespace
} // namespace selvedge::schedule
