// Steps that do nothing where a compare is false.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/IdleWithout.h"

#include "compiler/Schedule/LoopBounds.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <tuple>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// Whether `op` leaves its accumulator as it was where `compare` is false.
bool dependsOn(Operation *op, Value compare) {
  llvm::SetVector<Value> own;
  for (Value p : presenceOf(op))
    collectCompares(p, own);
  return own.contains(compare);
}

/// Whether a store adds sums over no lane where `compare` is false.
bool addsNothing(StoreOp store, Value compare) {
  Operation *def = store.getValue().getDefiningOp();
  if (!addsToMemory(store) || !def || !dependsOn(def, compare))
    return false;
  auto reduce = dyn_cast<ReduceOp>(def);
  auto dot = dyn_cast<DotOp>(def);
  return (dot && !dot.getInit()) ||
         (reduce && reduce.getKind() == Combine::Add);
}

bool isIdentityFor(ReduceOp reduce, Operation *combine) {
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

bool isUnchanged(Value value, Value carried, Value compare) {
  if (value == carried)
    return true;
  Operation *def = value.getDefiningOp();
  if (auto dot = dyn_cast_or_null<DotOp>(def))
    return dot.getInit() && dependsOn(def, compare) &&
           isUnchanged(dot.getInit(), carried, compare);
  if (auto update = dyn_cast_or_null<SoftmaxUpdateOp>(def)) {
    if (!dependsOn(def, compare))
      return false;
    Value before = value == update.getNewMax()   ? update.getMax()
                   : value == update.getNewSum() ? update.getSum()
                                                 : Value();
    for (auto [from, to] :
         llvm::zip_equal(update.getAccs(), update.getNewAccs()))
      if (value == to)
        before = from;
    return before && isUnchanged(before, carried, compare);
  }
  // acc + (sum over absent lanes), max(acc, (maximum over absent lanes)).
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::MaximumFOp,
                      arith::MaxSIOp, arith::MinimumFOp, arith::MinSIOp>(def))
    for (unsigned i = 0; i < 2; ++i) {
      auto reduce = def->getOperand(i).getDefiningOp<ReduceOp>();
      if (reduce && dependsOn(reduce, compare) && isIdentityFor(reduce, def))
        return isUnchanged(def->getOperand(1 - i), carried, compare);
    }
  return false;
}

} // namespace

bool isIdleWithout(scf::ForOp loop, Value compare) {
  for (Operation &op : *loop.getBody())
    if (auto store = dyn_cast<StoreOp>(op);
        store && !dependsOn(&op, compare) && !addsNothing(store, compare))
      return false;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  return llvm::all_of(
      llvm::zip_equal(yield.getResults(), loop.getRegionIterArgs()),
      [&](auto pair) {
        return isUnchanged(std::get<0>(pair), std::get<1>(pair), compare);
      });
}

} // namespace selvedge::schedule
