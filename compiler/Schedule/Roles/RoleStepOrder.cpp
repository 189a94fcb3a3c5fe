// Orders the operations of a step.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleStepOrder.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Whether the step itself brings an operand to shared memory.
static bool readsStaged(MmaOp mma) {
  auto isStaged = [](Value v) {
    return llvm::any_of(v.getUsers(), llvm::IsaPred<StageOp>);
  };
  return isStaged(mma.getLhs()) || isStaged(mma.getRhs());
}

/// A tile with several axes would take registers until it is needed, and so
/// do conditions per element, of a loop's last step for one.
static bool isSmall(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  return (!layout || layout.getAxes().size() <= 1) &&
         llvm::none_of(load.getPresence(),
                       [](Value p) { return bool(layoutOf(p.getType())); });
}

StepOrder::StepOrder(scf::ForOp loop) : loop(loop) {
  bool isMasked = !wholeBranchOf(loop) &&
                  llvm::any_of(loop.getBody()->getOps<MmaOp>(), [](MmaOp mma) {
                    return !mma.getPresence().empty() && !readsStaged(mma);
                  });
  bool crosses = llvm::any_of(loop.getBody()->getOps<MmaOp>(), readsStaged);
  for (Operation &op : loop.getBody()->without_terminator())
    if (auto mma = dyn_cast<MmaOp>(op);
        mma && isFree(mma) && (first.empty() || !isMasked))
      first.push_back(mma);
    else if (auto load = dyn_cast<LoadOp>(op);
             load && isSmall(load) && !crosses)
      addEarly(load);
  for (MmaOp mma : first)
    for (Value operand : mma->getOperands())
      if (Operation *def = operand.getDefiningOp())
        addEarly(def);
}

bool StepOrder::isFree(MmaOp mma) {
  auto isThere = [&](Value v) {
    return loop.isDefinedOutsideOfLoop(v) || isa<BlockArgument>(v);
  };
  return isThere(mma.getLhs()) && isThere(mma.getRhs()) && !readsStaged(mma) &&
         (isThere(mma.getInit()) || isSplat(mma.getInit(), 0) || startOf(mma));
}

/// Unless a product has to be finished first, or memory is written.
void StepOrder::addEarly(Operation *op) {
  if (op->getBlock() != loop.getBody())
    return;
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *def) {
    return def->getBlock() == loop.getBody();
  };
  (void)getBackwardSlice(op, &slice, options);
  bool waits = llvm::any_of(slice, [](Operation *def) {
    return isa<MmaOp>(def) || !(isa<LoadOp>(def) || isMemoryEffectFree(def));
  });
  if (!waits)
    early.insert(slice.begin(), slice.end());
}

void narrowLate(SmallVectorImpl<Operation *> &ops, bool pastChoices) {
  for (size_t n = ops.size(); n-- > 0;) {
    auto narrow = dyn_cast<ConvertOp>(ops[n]);
    auto isNeededBy = [&](Value v, Operation *op) {
      return llvm::is_contained(v.getUsers(), op);
    };
    if (!narrow)
      continue;
    Value source = narrow.getSource();
    auto choice = source.getDefiningOp<arith::SelectOp>();
    if (pastChoices && choice && choice->hasOneUse())
      source = choice.getTrueValue();
    size_t last = n;
    for (size_t m = n + 1; m < ops.size(); ++m) {
      if (isNeededBy(narrow.getResult(), ops[m]))
        break;
      if (isNeededBy(source, ops[m]))
        last = m;
    }
    std::rotate(ops.begin() + n, ops.begin() + n + 1, ops.begin() + last + 1);
  }
}

void chooseLate(SmallVectorImpl<Operation *> &ops) {
  auto isCondition = [](Operation *op) {
    return op->getNumResults() == 1 && layoutOf(op->getResult(0).getType()) &&
           getElementTypeOrSelf(op->getResult(0).getType()).isInteger() &&
           isPure(op);
  };
  for (size_t n = ops.size(); n-- > 0;) {
    Operation *op = ops[n];
    bool isChoice = isa<arith::SelectOp>(op) &&
                    llvm::all_of(op->getUsers(), llvm::IsaPred<ConvertOp>);
    if (!isChoice && !isCondition(op))
      continue;
    size_t user = n + 1;
    while (user < ops.size() &&
           !llvm::is_contained(ops[user]->getOperands(), op->getResult(0)))
      ++user;
    if (user < ops.size())
      std::rotate(ops.begin() + n, ops.begin() + n + 1, ops.begin() + user);
  }
}

} // namespace selvedge::schedule
