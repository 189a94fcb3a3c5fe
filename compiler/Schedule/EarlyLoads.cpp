// sm-early-loads: steps load tiles from global memory while their products run.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMEARLYLOADS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Whether a load reads the same elements wherever it stands in the kernel.
bool readsInput(LoadOp load) {
  return llvm::all_of(load.getTensor().getUsers(), llvm::IsaPred<LoadOp>);
}

/// Whether a load is of one axis. A thread needs elements for each row or
/// column of its part of a tile: before the products they take registers that
/// gradients lack, and sm-warp-roles loads them a step ahead where that pays.
bool isVector(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  return layout && layout.getAxes().size() == 1;
}

/// Whether each thread could do this anywhere by itself.
bool canMove(Operation *op) {
  return op->getNumRegions() == 0 && isPure(op) &&
         !isa<ExchangeOpInterface>(op);
}

/// The operations of a load's block that it is made of, itself included, in
/// their order; none if one of them has to stay where it is.
SmallVector<Operation *> movedWith(LoadOp load) {
  Block *block = load->getBlock();
  llvm::SetVector<Operation *> needed;
  needed.insert(load);
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i];
    auto read = dyn_cast<LoadOp>(op);
    if (read ? !readsInput(read) : !canMove(op))
      return {};
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == block)
        needed.insert(def);
  }
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
