// sm-early-loads: steps load tiles from global memory while their products run.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Roles/RareWork.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMEARLYLOADS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Whether a load is of one axis. A thread needs elements for each row or
/// column of its part of a tile: before the products they take registers that
/// gradients lack, and sm-warp-roles loads them a step ahead where that pays.
bool isVector(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  return layout && layout.getAxes().size() == 1;
}

/// The operations of a load's block that it is made of, itself included, in
/// their order; none if one of them has to stay where it is, as what threads
/// do together.
SmallVector<Operation *> movedWith(LoadOp load) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == load->getBlock();
  };
  llvm::SetVector<Operation *> needed;
  (void)getBackwardSlice(load.getOperation(), &needed, options);
  if (llvm::any_of(needed, [](Operation *op) {
        return !isMovable(*op) || isa<ExchangeOpInterface>(op);
      }))
    return {};
  SmallVector<Operation *> moved = needed.takeVector();
  llvm::sort(moved,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return moved;
}

struct SmEarlyLoadsPass : impl::SmEarlyLoadsBase<SmEarlyLoadsPass> {
  void runOnOperation() override {
    SmallVector<Block *> steps;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<WgmmaWaitOp>().empty())
        steps.push_back(loop.getBody());
    });
    llvm::SetVector<StringRef> moved;
    for (Block *step : steps)
      moveLoads(step, moved);
    if (moved.empty())
      return;
    tile::noteDecision(getOperation(),
                       {"loads",
                        llvm::join(moved, ", ") + " at the beginning of a step",
                        "memory answers while the step's products run"});
  }

private:
  /// Adds the tensors that are loaded earlier.
  void moveLoads(Block *step, llvm::SetVector<StringRef> &tensors) {
    Operation *wait = *step->getOps<WgmmaWaitOp>().begin();
    SmallVector<LoadOp> late;
    for (auto load : step->getOps<LoadOp>())
      if (wait->isBeforeInBlock(load) && !isVector(load))
        late.push_back(load);
    // What stands before `rest` is early already.
    Block::iterator rest = step->begin();
    for (LoadOp load : late) {
      SmallVector<Operation *> moved = movedWith(load);
      if (!moved.empty())
        tensors.insert(getOperation().getTensorName(load.getTensor()));
      for (Operation *op : moved) {
        if (&*rest == op)
          ++rest;
        else if (rest->isBeforeInBlock(op))
          op->moveBefore(&*rest);
      }
    }
  }
};

} // namespace
} // namespace selvedge::schedule
