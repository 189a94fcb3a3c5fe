// Which of two integers is never larger, by how both are made.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Orders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::verify {

using namespace mlir;

namespace {

/// `from + (max(to, from) - from) / step * step`: at least `from`, and less
/// than a step behind the larger one.
struct Rounded {
  Value from, end;
  int64_t over; // how far behind
};

} // namespace

static std::optional<Rounded> roundedOf(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Value from = sum->getOperand(i);
    auto product = sum->getOperand(1 - i).getDefiningOp<arith::MulIOp>();
    Operation *quotient = product ? product.getLhs().getDefiningOp() : nullptr;
    if (!isa_and_nonnull<arith::CeilDivSIOp, arith::FloorDivSIOp>(quotient))
      continue;
    std::optional<int64_t> step = getConstantIntValue(product.getRhs());
    auto distance = quotient->getOperand(0).getDefiningOp<arith::SubIOp>();
    auto end = distance ? distance.getLhs().getDefiningOp<arith::MaxSIOp>()
                        : arith::MaxSIOp();
    if (step && *step > 0 && end && distance.getRhs() == from &&
        getConstantIntValue(quotient->getOperand(1)) == step &&
        llvm::is_contained(end->getOperands(), from))
      return Rounded{from, end,
                     isa<arith::CeilDivSIOp>(quotient) ? *step - 1 : 0};
  }
  return std::nullopt;
}

/// `a` op `b` of two numbers; none where 64 bits do not hold it.
static std::optional<int64_t> computed(Operation *op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool isOver = isa<arith::AddIOp>(op)   ? llvm::AddOverflow(a, b, result)
                : isa<arith::SubIOp>(op) ? llvm::SubOverflow(a, b, result)
                                         : llvm::MulOverflow(a, b, result);
  return isOver ? std::nullopt : std::optional(result);
}

static std::pair<int64_t, int64_t> limitsOf(Type type) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

Orders::Range Orders::rangeOf(Value value) {
  if (auto known = ranges.find(value); known != ranges.end())
    return known->second;
  auto [lowest, highest] = limitsOf(value.getType());
  Range range{lowest, highest};
  Operation *def = value.getDefiningOp();
  std::optional<int64_t> constant = getConstantIntValue(value);
  if (constant) {
    range = {*constant, *constant};
  } else if (!def) {
    Polynomial argument = values.of(value);
    if (values.isNonNegative(argument))
      range.least = 0;
    if (values.isNonNegative(Polynomial(maxExtent) - argument))
      range.most = maxExtent;
  } else if (isa<arith::ExtSIOp>(def)) {
    range = rangeOf(def->getOperand(0));
  } else if (isa<arith::TruncIOp>(def)) {
    Range wide = rangeOf(def->getOperand(0));
    if (wide.least >= lowest && wide.most <= highest)
      range = wide;
  } else if (isa<arith::MinSIOp, arith::MaxSIOp>(def)) {
    Range a = rangeOf(def->getOperand(0)), b = rangeOf(def->getOperand(1));
    bool isMin = isa<arith::MinSIOp>(def);
    range = isMin ? Range{std::min(a.least, b.least), std::min(a.most, b.most)}
                  : Range{std::max(a.least, b.least), std::max(a.most, b.most)};
  } else if (std::optional<Rounded> rounded = roundedOf(value)) {
    Range from = rangeOf(rounded->from), end = rangeOf(rounded->end);
    // Neither the distance nor the sum wraps.
    int64_t quarter = highest / 4;
    if (from.least >= -quarter && end.most <= quarter)
      range = {from.least, end.most + rounded->over};
  } else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(def)) {
    Range a = rangeOf(def->getOperand(0)), b = rangeOf(def->getOperand(1));
    Range all{highest, lowest};
    bool isExact = true;
    for (int64_t x : {a.least, a.most})
      for (int64_t y : {b.least, b.most}) {
        std::optional<int64_t> corner = computed(def, x, y);
        isExact &= corner && *corner >= lowest && *corner <= highest;
        all = {std::min(all.least, corner.value_or(lowest)),
               std::max(all.most, corner.value_or(highest))};
      }
    range = isExact ? all : range;
  }
  return ranges[value] = range;
}

Value Orders::exact(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto narrow = dyn_cast<arith::TruncIOp>(def)) {
      Range wide = rangeOf(narrow.getIn());
      auto [lowest, highest] = limitsOf(narrow.getType());
      if (wide.least < lowest || wide.most > highest)
        break;
    } else if (!isa<arith::ExtSIOp>(def)) {
      break;
    }
    value = def->getOperand(0);
  }
  return value;
}

bool Orders::isAtMost(Value a, Value b) {
  a = exact(a);
  b = exact(b);
  if (a == b || rangeOf(a).most <= rangeOf(b).least)
    return true;
  auto each = [&](Operation *op, bool isLeft, bool all) {
    auto holds = [&](Value part) {
      return isLeft ? isAtMost(part, b) : isAtMost(a, part);
    };
    return all ? llvm::all_of(op->getOperands(), holds)
               : llvm::any_of(op->getOperands(), holds);
  };
  if (auto largest = a.getDefiningOp<arith::MaxSIOp>())
    return each(largest, /*isLeft=*/true, /*all=*/true);
  if (auto least = b.getDefiningOp<arith::MinSIOp>())
    return each(least, /*isLeft=*/false, /*all=*/true);
  if (auto least = a.getDefiningOp<arith::MinSIOp>();
      least && each(least, /*isLeft=*/true, /*all=*/false))
    return true;
  if (auto largest = b.getDefiningOp<arith::MaxSIOp>();
      largest && each(largest, /*isLeft=*/false, /*all=*/false))
    return true;
  std::optional<Rounded> rounded = roundedOf(b);
  auto [lowest, highest] = limitsOf(b.getType());
  // Known only where the sum does not wrap.
  bool isExact = rounded && rangeOf(b).most < highest;
  return (isExact && isAtMost(a, rounded->from)) ||
         values.isNonNegative(values.of(b) - values.of(a));
}

} // namespace selvedge::verify
