// Where the steps of a loop begin.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/StepBegins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::analysis {

using namespace mlir;

static constexpr unsigned maxDepth = 24;

static std::optional<int64_t> constantOf(Value v) {
  APInt number;
  return matchPattern(v, m_ConstantInt(&number))
             ? std::optional(number.getSExtValue())
             : std::nullopt;
}

static std::optional<int64_t> smallest(Value v, unsigned depth = 0);
static bool isExact(arith::TruncIOp narrowed);

static bool isInt(std::optional<int64_t> n) {
  return n && *n >= INT32_MIN && *n <= INT32_MAX;
}

/// `first + ceil((max(end, first) - first) / unit) * unit` in i64: what is
/// reached from `first` in whole steps. No value of `first` is 0, of which
/// sum and difference are gone.
struct Rounded {
  Value first, end;
  int64_t unit;
};
static std::optional<Rounded> matchRounded(Value v) {
  if (!v.getType().isInteger(64))
    return std::nullopt;
  Value first;
  if (auto sum = v.getDefiningOp<arith::AddIOp>()) {
    first = sum.getLhs();
    v = sum.getRhs();
  }
  auto product = v.getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::CeilDivSIOp>()
                          : arith::CeilDivSIOp();
  std::optional<int64_t> unit =
      product ? constantOf(product.getRhs()) : std::nullopt;
  if (!quotient || !unit || *unit < 1 || constantOf(quotient.getRhs()) != unit)
    return std::nullopt;
  Value length = quotient.getLhs();
  if (first) {
    auto difference = length.getDefiningOp<arith::SubIOp>();
    if (!difference || difference.getRhs() != first)
      return std::nullopt;
    length = difference.getLhs();
  }
  auto max = length.getDefiningOp<arith::MaxSIOp>();
  auto isFirst = [&](Value operand) {
    return first ? operand == first : constantOf(operand) == 0;
  };
  if (!max || (!isFirst(max.getLhs()) && !isFirst(max.getRhs())))
    return std::nullopt;
  return Rounded{first, max, *unit};
}

/// The largest value of an integer, as far as it is known.
static std::optional<int64_t> largest(Value v, unsigned depth = 0) {
  if (depth > maxDepth)
    return std::nullopt;
  if (auto number = constantOf(v))
    return number;
  if (auto min = v.getDefiningOp<arith::MinSIOp>()) {
    auto a = largest(min.getLhs(), depth + 1),
         b = largest(min.getRhs(), depth + 1);
    return a && b ? std::min(*a, *b) : a ? a : b;
  }
  if (auto max = v.getDefiningOp<arith::MaxSIOp>()) {
    auto a = largest(max.getLhs(), depth + 1),
         b = largest(max.getRhs(), depth + 1);
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }
  if (auto extended = v.getDefiningOp<arith::ExtSIOp>())
    return largest(extended.getIn(), depth + 1);
  if (auto narrowed = v.getDefiningOp<arith::TruncIOp>();
      narrowed && isExact(narrowed))
    return largest(narrowed.getIn(), depth + 1);
  if (std::optional<Rounded> sum = matchRounded(v)) {
    auto end = largest(sum->end, depth + 1);
    return end && *end < INT32_MAX ? std::optional(*end + sum->unit - 1)
                                   : std::nullopt;
  }
  return v.getType().isInteger(32) ? std::optional<int64_t>(INT32_MAX)
                                   : std::nullopt;
}

static bool isAtMost(Value a, Value b, unsigned depth = 0) {
  if (a == b)
    return true;
  if (depth > maxDepth)
    return false;
  auto next = [&](Value x, Value y) { return isAtMost(x, y, depth + 1); };
  std::optional<int64_t> most = largest(a), limit = constantOf(b);
  if (most && limit && *most <= *limit)
    return true;
  if (auto narrowed = a.getDefiningOp<arith::TruncIOp>())
    return isExact(narrowed) && next(narrowed.getIn(), b);
  if (auto extended = b.getDefiningOp<arith::ExtSIOp>())
    return next(a, extended.getIn());
  if (auto extended = a.getDefiningOp<arith::ExtSIOp>())
    return next(extended.getIn(), b);
  if (auto max = a.getDefiningOp<arith::MaxSIOp>())
    return next(max.getLhs(), b) && next(max.getRhs(), b);
  if (auto min = b.getDefiningOp<arith::MinSIOp>())
    return next(a, min.getLhs()) && next(a, min.getRhs());
  if (auto max = b.getDefiningOp<arith::MaxSIOp>();
      max && (next(a, max.getLhs()) || next(a, max.getRhs())))
    return true;
  auto min = a.getDefiningOp<arith::MinSIOp>();
  return min && (next(min.getLhs(), b) || next(min.getRhs(), b));
}

/// The smallest value of an integer, as far as it is known.
static std::optional<int64_t> smallest(Value v, unsigned depth) {
  if (depth > maxDepth)
    return std::nullopt;
  if (auto number = constantOf(v))
    return number;
  auto of = [&](Value part) { return smallest(part, depth + 1); };
  if (auto max = v.getDefiningOp<arith::MaxSIOp>()) {
    auto a = of(max.getLhs()), b = of(max.getRhs());
    return a && b ? std::max(*a, *b) : a ? a : b;
  }
  if (auto min = v.getDefiningOp<arith::MinSIOp>()) {
    auto a = of(min.getLhs()), b = of(min.getRhs());
    return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
  }
  if (auto extended = v.getDefiningOp<arith::ExtSIOp>())
    return of(extended.getIn());
  if (auto narrowed = v.getDefiningOp<arith::TruncIOp>()) {
    auto least = of(narrowed.getIn()), most = largest(narrowed.getIn());
    return isInt(least) && isInt(most) ? least : INT32_MIN;
  }
  if (std::optional<Rounded> sum = matchRounded(v))
    return sum->first ? of(sum->first) : 0;
  return v.getType().isInteger(32) ? std::optional<int64_t>(INT32_MIN)
                                   : std::nullopt;
}
static bool isExact(arith::TruncIOp narrowed) {
  return isInt(smallest(narrowed.getIn())) && isInt(largest(narrowed.getIn()));
}

bool StepBegins::isMultiple(Value v, int64_t size, bool isBelow,
                            unsigned depth) {
  if (depth > maxDepth)
    return false;
  if (auto number = constantOf(v))
    return *number % size == 0;
  Operation *def = v.getDefiningOp();
  if (!def)
    return false;
  auto of = [&](Value part, bool below) {
    return isMultiple(part, size, below, depth + 1);
  };
  if (isa<arith::ExtSIOp>(def))
    return of(def->getOperand(0), isBelow);
  if (isa<arith::TruncIOp>(def)) {
    Value wide = def->getOperand(0);
    return of(wide, isBelow && isExact(cast<arith::TruncIOp>(def)));
  }
  if (std::optional<Rounded> sum = matchRounded(v))
    return sum->unit % size == 0 && (!sum->first || of(sum->first, isBelow));
  if (isa<arith::MulIOp>(def))
    return of(def->getOperand(0), false) || of(def->getOperand(1), false);
  if (isa<arith::AddIOp, arith::SubIOp>(def))
    return of(def->getOperand(0), false) && of(def->getOperand(1), false);
  if (isa<arith::MaxSIOp>(def))
    return of(def->getOperand(0), isBelow) && of(def->getOperand(1), isBelow);
  if (!isa<arith::MinSIOp>(def))
    return false;
  Value a = def->getOperand(0), b = def->getOperand(1);
  // The smaller one is below the bound: it is no operand that is not.
  if (isBelow && endAtMost(b))
    return of(a, true);
  if (isBelow && endAtMost(a))
    return of(b, true);
  return of(a, false) && of(b, false);
}

/// Whether an end is at most `limit` in a loop that runs: it is above the
/// loop's beginning then, and no larger number than that is the smallest end.
static bool isAtMostAbove(Value end, int64_t begin, Value limit,
                          unsigned depth = 0) {
  if (isAtMost(end, limit))
    return true;
  if (depth > maxDepth)
    return false;
  auto next = [&](Value part) {
    return isAtMostAbove(part, begin, limit, depth + 1);
  };
  // Both are above it, too.
  if (auto least = end.getDefiningOp<arith::MinSIOp>())
    return next(least.getLhs()) || next(least.getRhs());
  auto cut = end.getDefiningOp<arith::MaxSIOp>();
  if (!cut)
    return false;
  for (auto [rest, least] : {std::pair(cut.getLhs(), cut.getRhs()),
                             std::pair(cut.getRhs(), cut.getLhs())})
    if (auto number = constantOf(least); number && *number <= begin)
      return next(rest);
  return false;
}

bool StepBegins::atMultipleOf(int64_t size) {
  std::optional<int64_t> step = constantOf(loop.getStep());
  return step && *step > 0 && *step % size == 0 &&
         isMultiple(loop.getLowerBound(), size, /*isBelow=*/true);
}

bool StepBegins::endAtMost(Value limit) {
  Value end = loop.getUpperBound();
  if (isAtMost(end, limit))
    return true;
  if (auto narrowed = end.getDefiningOp<arith::TruncIOp>();
      narrowed && isExact(narrowed))
    end = narrowed.getIn();
  std::optional<int64_t> begin = smallest(loop.getLowerBound());
  return begin && isAtMostAbove(end, *begin, limit);
}

} // namespace selvedge::analysis
