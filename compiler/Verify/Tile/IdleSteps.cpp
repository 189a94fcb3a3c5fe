// Steps of a loop that change nothing.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/IdleSteps.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// Whether `combine` gives its other operand where `reduce` is over no lane.
static bool isNeutral(ReduceOp reduce, Operation *combine) {
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

static bool isFinite(Value value) {
  APFloat number(0.0);
  return matchPattern(strip(value), m_ConstantFloat(&number)) &&
         number.isFinite();
}

/// Whether `value` is 0 if sinks see no lane: a sum of theirs, or such sums
/// times numbers that are finite.
static bool isZero(Value value, IsAbsent isAbsent) {
  value = strip(value);
  if (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  auto of = [&](unsigned i) { return isZero(def->getOperand(i), isAbsent); };
  return llvm::TypeSwitch<Operation *, bool>(def)
      .Case([&](ReduceOp sum) {
        return sum.getKind() == Combine::Add && isAbsent(sum.getPresence());
      })
      .Case([&](DotOp dot) {
        return !dot.getInit() && isAbsent(dot.getPresence());
      })
      .Case([&](arith::SelectOp select) {
        Value condition = select.getCondition();
        return of(2) && isAbsent(condition);
      })
      .Case([&](arith::MulFOp product) {
        return (isFinite(product.getRhs()) && of(0)) ||
               (isFinite(product.getLhs()) && of(1));
      })
      .Case([&](arith::MulIOp) { return of(0) || of(1); })
      .Case<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(
          [&](auto) { return of(0) && of(1); })
      .Case<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(
          [&](auto) { return of(0); })
      .Default([](Operation *) { return false; });
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
      .Case([&](arith::SelectOp select) {
        Value condition = select.getCondition();
        return isAbsent(condition) ? select.getFalseValue() : Value();
      })
      .Case<arith::AddFOp, arith::AddIOp>([&](auto sum) -> Value {
        return isZero(sum.getRhs(), isAbsent)   ? sum.getLhs()
               : isZero(sum.getLhs(), isAbsent) ? sum.getRhs()
                                                : Value();
      })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto difference) {
        return isZero(difference.getRhs(), isAbsent) ? difference.getLhs()
                                                     : Value();
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
  return addsToMemory(store) && isZero(store.getValue(), isAbsent);
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
