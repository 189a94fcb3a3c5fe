// How far apart two integers can be.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"

#include "compiler/Analysis/Multiples.h"
#include "dialect/Sm/Sm.h"

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

/// `ceildiv(x, c) * c`: x rounded up to a multiple of c.
struct RoundedUp {
  Value value;
  int64_t by = 0;
};

std::optional<RoundedUp> roundedUp(Value v) {
  auto product = v.getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::CeilDivSIOp>()
                          : arith::CeilDivSIOp();
  std::optional<int64_t> by =
      product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  if (!quotient || !by || *by <= 0 ||
      getConstantIntValue(quotient.getRhs()) != by)
    return std::nullopt;
  return RoundedUp{quotient.getLhs(), *by};
}

/// `b + (x - b rounded up)`: x rounded up to whole steps from b.
struct SteppedUp {
  Value from, value;
  int64_t by = 0;
};

std::optional<SteppedUp> steppedUp(Value v) {
  auto sum = v.getDefiningOp<arith::AddIOp>();
  std::optional<RoundedUp> distance =
      sum ? roundedUp(sum.getRhs()) : std::nullopt;
  auto difference = distance ? distance->value.getDefiningOp<arith::SubIOp>()
                             : arith::SubIOp();
  if (!difference || difference.getRhs() != sum.getLhs())
    return std::nullopt;
  return SteppedUp{sum.getLhs(), difference.getLhs(), distance->by};
}

/// Whether a number is 0 at least by its definition: an extent, the number of
/// a block, or its first element.
bool isNotNegative(Value v) {
  v = unconverted(v);
  if (std::optional<int64_t> constant = getConstantIntValue(v))
    return *constant >= 0;
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto kernel = dyn_cast<sm::KernelOp>(argument.getOwner()->getParentOp());
    return kernel &&
           isa<sm::DimArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
  }
  Operation *def = v.getDefiningOp();
  if (isa_and_present<arith::RemUIOp, arith::DivUIOp>(def))
    return true;
  if (isa_and_present<arith::MaxSIOp>(def))
    return isNotNegative(def->getOperand(0)) ||
           isNotNegative(def->getOperand(1));
  return isa_and_present<arith::MulIOp, arith::AddIOp, arith::MinSIOp>(def) &&
         isNotNegative(def->getOperand(0)) && isNotNegative(def->getOperand(1));
}

/// A sum of integers, each so many times.
struct LinearSum {
  llvm::MapVector<Value, int64_t> terms;
  int64_t constant = 0;

  void add(Value v, int64_t times) {
    v = unconverted(v);
    Operation *def = v.getDefiningOp();
    if (std::optional<int64_t> known = getConstantIntValue(v)) {
      constant += times * *known;
    } else if (isa_and_present<arith::AddIOp, arith::SubIOp>(def)) {
      add(def->getOperand(0), times);
      add(def->getOperand(1), isa<arith::AddIOp>(def) ? times : -times);
    } else if (std::optional<int64_t> by =
                   isa_and_present<arith::MulIOp>(def)
                       ? getConstantIntValue(def->getOperand(1))
                       : std::nullopt) {
      add(def->getOperand(0), times * *by);
    } else if ((terms[v] += times) == 0) {
      terms.erase(v);
    }
  }
};

/// What is left of `high - low` once what both have in common is gone, if that
/// is less: a constant, and at most one integer on each side.
struct Remainder {
  Value high, low;
  int64_t constant = 0;
};

std::optional<Remainder> remainderOf(Value high, Value low) {
  LinearSum sum;
  sum.add(high, 1);
  sum.add(low, -1);
  Remainder left;
  left.constant = sum.constant;
  for (auto [term, times] : sum.terms) {
    Value &side = times > 0 ? left.high : left.low;
    if (side || (times != 1 && times != -1))
      return std::nullopt;
    side = term;
  }
  bool isLess = left.high != high || left.low != low;
  return isLess ? std::optional(left) : std::nullopt;
}

/// A distance at most; none where it is not known.
using Most = std::optional<int64_t>;

/// Where both may hold, and where both do.
Most larger(Most a, Most b) {
  return a && b ? Most(std::max(*a, *b)) : std::nullopt;
}
Most nearerOf(Most a, Most b) { return a && b ? std::min(a, b) : a ? a : b; }

/// What `high` is above `low` rounded up to a multiple of `by`, at most.
Most mostAboveRounded(Value high, Value low, int64_t by) {
  low = unconverted(low);
  auto above = [&](Value v) { return mostAboveRounded(high, v, by); };
  if (auto most = low.getDefiningOp<arith::MaxSIOp>())
    return nearerOf(above(most.getLhs()), above(most.getRhs()));
  if (auto least = low.getDefiningOp<arith::MinSIOp>())
    return larger(above(least.getLhs()), above(least.getRhs()));
  Most distance = mostAbove(high, low);
  // A multiple, and less than one more or less.
  auto sum = low.getDefiningOp<arith::AddIOp>();
  std::optional<int64_t> more =
      sum ? getConstantIntValue(sum.getRhs()) : std::nullopt;
  if (more && *more > -by && *more <= 0 && isMultipleOf(sum.getLhs(), by))
    return nearerOf(distance, mostAbove(high, sum.getLhs()));
  return distance;
}

} // namespace

std::optional<int64_t> mostAbove(Value high, Value low, By by) {
  high = unconverted(high);
  low = unconverted(low);
  if (high == low)
    return 0;
  std::optional<int64_t> x = getConstantIntValue(high),
                         y = getConstantIntValue(low);
  if (x && y)
    return *x - *y;
  auto above = [&](Value v) { return mostAbove(v, low, by); };
  auto below = [&](Value v) { return mostAbove(high, v, by); };
  // What must hold for both sides comes before what may for either.
  if (auto either = high.getDefiningOp<arith::SelectOp>())
    if (auto other = low.getDefiningOp<arith::SelectOp>();
        other && other.getCondition() == either.getCondition())
      return larger(
          mostAbove(either.getTrueValue(), other.getTrueValue(), by),
          mostAbove(either.getFalseValue(), other.getFalseValue(), by));
  if (auto most = high.getDefiningOp<arith::MaxSIOp>())
    return larger(above(most.getLhs()), above(most.getRhs()));
  if (auto least = low.getDefiningOp<arith::MinSIOp>())
    return larger(below(least.getLhs()), below(least.getRhs()));
  Most found;
  auto nearer = [&](Most distance) { found = nearerOf(found, distance); };
  if (std::optional<RoundedUp> rounded = roundedUp(low))
    nearer(by == By::Sums ? mostAboveRounded(high, rounded->value, rounded->by)
                          : below(rounded->value));
  if (std::optional<SteppedUp> reached = steppedUp(low))
    nearer(below(reached->value));
  if (auto most = low.getDefiningOp<arith::MaxSIOp>()) {
    nearer(below(most.getLhs()));
    nearer(below(most.getRhs()));
  }
  if (auto least = high.getDefiningOp<arith::MinSIOp>()) {
    nearer(above(least.getLhs()));
    nearer(above(least.getRhs()));
  }
  auto moved = [](Most distance, int64_t more) {
    return distance ? Most(*distance + more) : std::nullopt;
  };
  if (auto sum = low.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      nearer(moved(below(sum.getLhs()), -*more));
  if (auto sum = high.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> more = getConstantIntValue(sum.getRhs()))
      nearer(moved(above(sum.getLhs()), *more));
  if (by == By::Limits)
    return found;
  if (std::optional<SteppedUp> reached = steppedUp(high);
      reached && unconverted(reached->from) == low)
    if (Most distance = above(reached->value))
      nearer(llvm::alignTo(std::max<int64_t>(*distance, 0), reached->by));
  if (x && isNotNegative(low))
    nearer(*x);
  if (std::optional<Remainder> left = remainderOf(high, low)) {
    Most distance = left->high && left->low ? mostAbove(left->high, left->low)
                    : left->high || (left->low && !isNotNegative(left->low))
                        ? std::nullopt
                        : Most(0);
    if (distance)
      nearer(*distance + left->constant);
  }
  return found;
}

bool hasOneStep(scf::ForOp loop, By by) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  std::optional<int64_t> distance =
      mostAbove(loop.getUpperBound(), loop.getLowerBound(), by);
  return step && distance && *distance <= *step;
}

} // namespace selvedge::analysis
