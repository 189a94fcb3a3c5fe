// How far apart two integers can be.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace selvedge::analysis {

using namespace mlir;

namespace {

Value unconverted(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (!isa<arith::TruncIOp, arith::ExtSIOp>(def))
      break;
    v = def->getOperand(0);
  }
  return v;
}

/// `ceildiv(x, c) * c` is no less than x, which this returns; null for others.
Value roundedUp(Value v) {
  auto product = v.getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::CeilDivSIOp>()
                          : arith::CeilDivSIOp();
  std::optional<int64_t> by =
      product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  return quotient && by && *by > 0 &&
                 getConstantIntValue(quotient.getRhs()) == by
             ? quotient.getLhs()
             : Value();
}

/// `b + (x - b rounded up)` is no less than x, too.
Value steppedUp(Value v) {
  auto sum = v.getDefiningOp<arith::AddIOp>();
  Value distance = sum ? roundedUp(sum.getRhs()) : Value();
  auto difference =
      distance ? distance.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  return difference && difference.getRhs() == sum.getLhs() ? difference.getLhs()
                                                           : Value();
}

} // namespace

bool isAtMostAbove(Value high, Value low, int64_t most) {
  high = unconverted(high);
  low = unconverted(low);
  if (high == low)
    return most >= 0;
  std::optional<int64_t> x = getConstantIntValue(high),
                         y = getConstantIntValue(low);
  if (x && y)
    return *x - *y <= most;
  auto above = [&](Value v) { return isAtMostAbove(v, low, most); };
  auto below = [&](Value v) { return isAtMostAbove(high, v, most); };
  // What must hold for both sides comes before what may for either.
  if (auto larger = high.getDefiningOp<arith::MaxSIOp>())
    return above(larger.getLhs()) && above(larger.getRhs());
  if (auto less = low.getDefiningOp<arith::MinSIOp>())
    return below(less.getLhs()) && below(less.getRhs());
  if (Value rounded = roundedUp(low); rounded && below(rounded))
    return true;
  if (Value reached = steppedUp(low); reached && below(reached))
    return true;
  if (auto larger = low.getDefiningOp<arith::MaxSIOp>();
      larger && (below(larger.getLhs()) || below(larger.getRhs())))
    return true;
  if (auto less = high.getDefiningOp<arith::MinSIOp>();
      less && (above(less.getLhs()) || above(less.getRhs())))
    return true;
  if (auto sum = low.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      return isAtMostAbove(high, sum.getLhs(), most + *more);
  if (auto sum = high.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      return isAtMostAbove(sum.getLhs(), low, most - *more);
  return false;
}

bool hasOneStep(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return step &&
         isAtMostAbove(loop.getUpperBound(), loop.getLowerBound(), *step);
}

} // namespace selvedge::analysis
