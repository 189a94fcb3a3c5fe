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

std::optional<int64_t> mostAbove(Value high, Value low) {
  high = unconverted(high);
  low = unconverted(low);
  if (high == low)
    return 0;
  std::optional<int64_t> x = getConstantIntValue(high),
                         y = getConstantIntValue(low);
  if (x && y)
    return *x - *y;
  using Most = std::optional<int64_t>;
  auto above = [&](Value v) { return mostAbove(v, low); };
  auto below = [&](Value v) { return mostAbove(high, v); };
  auto larger = [](Most a, Most b) {
    return a && b ? Most(std::max(*a, *b)) : std::nullopt;
  };
  // What must hold for both sides comes before what may for either.
  if (auto either = high.getDefiningOp<arith::SelectOp>())
    if (auto other = low.getDefiningOp<arith::SelectOp>();
        other && other.getCondition() == either.getCondition())
      return larger(mostAbove(either.getTrueValue(), other.getTrueValue()),
                    mostAbove(either.getFalseValue(), other.getFalseValue()));
  if (auto most = high.getDefiningOp<arith::MaxSIOp>())
    return larger(above(most.getLhs()), above(most.getRhs()));
  if (auto least = low.getDefiningOp<arith::MinSIOp>())
    return larger(below(least.getLhs()), below(least.getRhs()));
  Most found;
  auto nearer = [&](Most distance) {
    if (distance && (!found || *distance < *found))
      found = distance;
  };
  if (Value rounded = roundedUp(low))
    nearer(below(rounded));
  if (Value reached = steppedUp(low))
    nearer(below(reached));
  if (auto most = low.getDefiningOp<arith::MaxSIOp>()) {
    nearer(below(most.getLhs()));
    nearer(below(most.getRhs()));
  }
  if (auto least = high.getDefiningOp<arith::MinSIOp>()) {
    nearer(above(least.getLhs()));
    nearer(above(least.getRhs()));
  }
  auto moved = [](Most distance, int64_t by) {
    return distance ? Most(*distance + by) : std::nullopt;
  };
  if (auto sum = low.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      nearer(moved(mostAbove(high, sum.getLhs()), -*more));
  if (auto sum = high.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      nearer(moved(mostAbove(sum.getLhs(), low), *more));
  return found;
}

bool isAtMostAbove(Value high, Value low, int64_t most) {
  std::optional<int64_t> distance = mostAbove(high, low);
  return distance && *distance <= most;
}

bool hasOneStep(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return step &&
         isAtMostAbove(loop.getUpperBound(), loop.getLowerBound(), *step);
}

} // namespace selvedge::analysis
