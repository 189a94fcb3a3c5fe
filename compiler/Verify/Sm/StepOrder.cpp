// Whether a kernel with roles takes the steps of its loops in order.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/OrderFree.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// Whether `value` is at least as large in later steps of the loop.
static bool ascends(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    // What the step before yields, but its own number, may be anything.
    return argument.getOwner() == loop.getBody() &&
           loop.getYieldedValues()[argument.getArgNumber() - 1] ==
               loop.getInductionVar();
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum && ascends(sum.getLhs(), loop) && ascends(sum.getRhs(), loop);
}

/// Whether the loop begins behind the step with index `first`, if at all: at a
/// maximum of which one part is that index and a step.
static bool beginsBehind(scf::ForOp loop, Value first) {
  auto max = loop.getLowerBound().getDefiningOp<arith::MaxSIOp>();
  if (!max)
    return false;
  return llvm::any_of(max->getOperands(), [&](Value part) {
    auto sum = part.getDefiningOp<arith::AddIOp>();
    return sum && sum.getLhs() == first && sum.getRhs() == loop.getStep();
  });
}

static Value ringOf(TmaLoadOp load) {
  auto slot = load.getBuffer().getDefiningOp<SlotOp>();
  return slot ? slot.getRing() : load.getBuffer();
}

bool mayReorderSteps(KernelOp roles) {
  SmallVector<TmaLoadOp> looped, single;
  bool isIdle = false;
  roles.walk([&](Operation *op) {
    isIdle |= isa<IdleOp>(op);
    if (auto load = dyn_cast<TmaLoadOp>(op))
      (isa<scf::ForOp>(op->getParentOp()) ? looped : single).push_back(load);
  });
  if (isIdle)
    return true;
  for (TmaLoadOp load : looped) {
    auto loop = cast<scf::ForOp>(load->getParentOp());
    if (!llvm::all_of(load.getIndices(),
                      [&](Value index) { return ascends(index, loop); }))
      return true;
    // A step by itself, before the loops.
    for (auto [d, index] : llvm::enumerate(load.getIndices()))
      if (index == loop.getInductionVar())
        for (TmaLoadOp other : single)
          if (ringOf(other) == ringOf(load) &&
              !beginsBehind(loop, other.getIndices()[d]))
            return true;
  }
  return false;
}

} // namespace selvedge::verify
