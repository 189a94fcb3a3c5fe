// Steps that do nothing where a compare is false.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/IdleWithout.h"

#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Schedule/Loops/LoopBounds.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <tuple>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// Whether `op` sees no lane, or takes the other side, where `compare` is
/// false.
bool dependsOn(Operation *op, Value compare) {
  llvm::SetVector<Value> own;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    collectCompares(select.getCondition(), own);
  for (Value p : presenceOf(op))
    collectCompares(p, own);
  return own.contains(compare);
}

bool isFiniteConstant(Value value) {
  APFloat number(0.0);
  return matchPattern(analysis::source(value), m_ConstantFloat(&number)) &&
         number.isFinite();
}

/// Whether a value is 0 where `compare` is false: sums over no lane, and what
/// multiplies them.
bool isZero(Value value, Value compare) {
  value = analysis::source(value);
  if (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()))
    return true;
  Operation *def = value.getDefiningOp();
  auto isZeroAt = [&](unsigned i) {
    return isZero(def->getOperand(i), compare);
  };
  return def &&
         llvm::TypeSwitch<Operation *, bool>(def)
             .Case([&](ReduceOp reduce) {
               return reduce.getKind() == Combine::Add &&
                      dependsOn(def, compare);
             })
             .Case([&](DotOp dot) {
               return !dot.getInit() && dependsOn(def, compare);
             })
             .Case([&](arith::SelectOp) {
               return dependsOn(def, compare) && isZeroAt(2);
             })
             // 0 times what is not finite is NaN.
             .Case([&](arith::MulFOp) {
               return (isZeroAt(0) && isFiniteConstant(def->getOperand(1))) ||
                      (isZeroAt(1) && isFiniteConstant(def->getOperand(0)));
             })
             .Case([&](arith::MulIOp) { return isZeroAt(0) || isZeroAt(1); })
             .Case<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(
                 [&](auto) { return isZeroAt(0) && isZeroAt(1); })
             .Case<arith::NegFOp, arith::ExtFOp, arith::TruncFOp,
                   arith::SIToFPOp>([&](auto) { return isZeroAt(0); })
             .Default([](Operation *) { return false; });
}

/// Whether a store adds sums over no lane where `compare` is false.
bool addsNothing(StoreOp store, Value compare) {
  return addsToMemory(store) && isZero(store.getValue(), compare);
}

bool isIdentityFor(ReduceOp reduce, Operation *combine) {
  switch (reduce.getKind()) {
  case Combine::Add:
    return false;
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
  if (isa_and_nonnull<arith::SelectOp>(def))
    return dependsOn(def, compare) &&
           isUnchanged(def->getOperand(2), carried, compare);
  // acc + (sum over absent lanes) * 2, max(acc, (maximum over absent lanes)).
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(def))
    for (unsigned i = 0; i < 2; ++i)
      if (isZero(def->getOperand(i), compare))
        return isUnchanged(def->getOperand(1 - i), carried, compare);
  if (isa_and_nonnull<arith::SubFOp, arith::SubIOp>(def) &&
      isZero(def->getOperand(1), compare))
    return isUnchanged(def->getOperand(0), carried, compare);
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp, arith::MinimumFOp,
                      arith::MinSIOp>(def))
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
