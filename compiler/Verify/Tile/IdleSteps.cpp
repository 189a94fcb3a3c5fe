// Steps of a loop that change nothing.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/IdleSteps.h"

#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// Whether `combine` gives its other operand where `reduce` is over no lane.
static bool isNeutral(ReduceOp reduce, Operation *combine) {
  switch (reduce.getKind()) {
  case Combine::Add:
    return isa<arith::AddFOp, arith::AddIOp>(combine);
  case Combine::Max:
    return isa<arith::MaximumFOp, arith::MaxSIOp>(combine);
  case Combine::Min:
    return isa<arith::MinimumFOp, arith::MinSIOp>(combine);
  }
  llvm_unreachable("all kinds are handled");
}

/// The value that `value` is if the sink behind it sees no lane; null where
/// there is none.
static Value withoutLanes(Value value, IsAbsent isAbsent) {
  Operation *def = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Value>(def)
      .Case<DotOp>([&](DotOp dot) {
        return isAbsent(dot.getPresence()) ? dot.getInit() : Value();
      })
      .Case<SoftmaxUpdateOp>([&](SoftmaxUpdateOp update) -> Value {
        if (!isAbsent(update.getPresence()))
          return {};
        if (value == update.getNewMax())
          return update.getMax();
        if (value == update.getNewSum())
          return update.getSum();
        for (auto [old, acc] :
             llvm::zip_equal(update.getAccs(), update.getNewAccs()))
          if (value == acc)
            return old;
        return {};
      })
      .Default([&](Operation *) -> Value {
        for (unsigned i = 0; def->getNumOperands() == 2 && i < 2; ++i) {
          auto reduce = def->getOperand(i).getDefiningOp<ReduceOp>();
          if (reduce && isNeutral(reduce, def) &&
              isAbsent(reduce.getPresence()))
            return def->getOperand(1 - i);
        }
        return {};
      });
}

/// Whether a store adds a sum that sees no lane.
static bool addsNothing(StoreOp store, IsAbsent isAbsent) {
  Operation *def = store.getValue().getDefiningOp();
  if (!addsToMemory(store) || !def)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(def)
      .Case([&](DotOp dot) {
        return !dot.getInit() && isAbsent(dot.getPresence());
      })
      .Case([&](ReduceOp reduce) {
        return reduce.getKind() == Combine::Add &&
               isAbsent(reduce.getPresence());
      })
      .Default([](Operation *) { return false; });
}

bool isIdle(scf::ForOp loop, IsAbsent isAbsent) {
  for (Operation &op : *loop.getBody()) {
    auto store = dyn_cast<StoreOp>(op);
    bool isHarmless =
        store ? isAbsent(store.getPresence()) || addsNothing(store, isAbsent)
              : op.getNumRegions() == 0 &&
                    (isMemoryEffectFree(&op) || isa<LoadOp>(op));
    if (!isHarmless && !op.hasTrait<OpTrait::IsTerminator>())
      return false;
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [carried, value] :
       llvm::zip_equal(loop.getRegionIterArgs(), yield.getResults())) {
    Value current = value;
    while (current != carried) {
      if (!current.getDefiningOp())
        return false;
      current = withoutLanes(current, isAbsent);
      if (!current)
        return false;
    }
  }
  return true;
}

} // namespace selvedge::verify
