// Integer tiles as linear forms.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/LinearIndex.h"

#include "dialect/Tile/Limits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::analysis {

using namespace mlir;
using namespace selvedge::tile;

/// Sums of this many terms, each an i32, are far from wrapping in 64 bits.
static constexpr int64_t maxCoefficient = int64_t(1) << 20;

void LinearSum::add(const LinearSum &other, int64_t factor) {
  constant += factor * other.constant;
  for (auto &[term, coefficient] : other.terms)
    terms[term] += factor * coefficient;
}

Value source(Value v) {
  while (isa_and_nonnull<SplatOp, BroadcastOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  return v;
}

std::optional<RangeQuotient> rangeQuotient(Value v) {
  auto quotient = v.getDefiningOp<arith::DivUIOp>();
  if (!quotient)
    return std::nullopt;
  auto range = source(quotient.getLhs()).getDefiningOp<RangeOp>();
  Value divisor = source(quotient.getRhs());
  if (!range || isTile(divisor.getType()))
    return std::nullopt;
  return RangeQuotient{range, divisor};
}

std::optional<LinearSum> linearSum(Value v) {
  v = source(v);
  LinearSum result;
  Operation *def = v.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantIntOp>(def)) {
    result.constant = constant.value();
    return result;
  }
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def)) {
    std::optional<LinearSum> a = linearSum(def->getOperand(0)),
                             b = linearSum(def->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    a->add(*b, isa<arith::AddIOp>(def) ? 1 : -1);
    auto isLarge = [](auto &term) {
      return std::abs(term.second) > maxCoefficient;
    };
    if (llvm::any_of(a->terms, isLarge) ||
        std::abs(a->constant) > (maxCoefficient << 32))
      return std::nullopt;
    return a;
  }
  if (isTile(v.getType()) && !isa_and_nonnull<RangeOp>(def) &&
      !rangeQuotient(v))
    return std::nullopt;
  result.terms[v] = 1;
  return result;
}

/// `min(max(_, 0), c)`, as starts of ranges are that are found in memory.
static bool isCutToIndices(Value scalar) {
  auto least = scalar.getDefiningOp<arith::MinSIOp>();
  auto most =
      least ? least.getLhs().getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  auto constantOf = [](Value v) -> std::optional<int64_t> {
    auto constant = v.getDefiningOp<arith::ConstantIntOp>();
    return constant ? std::optional(constant.value()) : std::nullopt;
  };
  if (!most)
    return false;
  std::optional<int64_t> low = constantOf(most.getRhs()),
                         high = constantOf(least.getRhs());
  return low && high && *low >= 0 && *high <= maxExtent;
}

/// A coordinate of the kernel, the index of a loop, a constant that is not
/// negative or what was cut to such numbers: with the lanes of a block (up to
/// 1024) below 2^31 - 2.
static bool isIndex(Value scalar) {
  if (isCutToIndices(scalar))
    return true;
  if (auto constant = scalar.getDefiningOp<arith::ConstantIntOp>())
    return constant.value() >= 0 && constant.value() < (int64_t(1) << 30);
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (!argument)
    return false;
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(parent))
    return argument.getArgNumber() >= kernel.getProgram().getNumSharedArgs();
  auto loop = dyn_cast<scf::ForOp>(parent);
  return loop && scalar == loop.getInductionVar();
}

/// A range from an index, or a quotient of one, which is no larger.
static bool isIndexRange(Value v) {
  auto range = v.getDefiningOp<RangeOp>();
  if (std::optional<RangeQuotient> quotient = rangeQuotient(v))
    range = quotient->range;
  return range && isIndex(range.getStart());
}

bool isExact(arith::CmpIOp compare) {
  return llvm::all_of(compare->getOperands(), [](Value operand) {
    Value v = source(operand);
    Operation *def = v.getDefiningOp();
    if (auto difference = dyn_cast_or_null<arith::SubIOp>(def))
      return isIndexRange(source(difference.getLhs())) &&
             isIndexRange(source(difference.getRhs()));
    if (isa_and_nonnull<RangeOp, arith::DivUIOp>(def))
      return isIndexRange(v);
    return !isa_and_nonnull<arith::AddIOp>(def);
  });
}

/// The predicate with its operands exchanged.
static arith::CmpIPredicate exchanged(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  default:
    return predicate;
  }
}

/// Takes the ranges of a sum; false where they are other than r, -r or r - s.
static bool takeRanges(const LinearSum &sum, LaneCompare &result) {
  for (auto &[term, coefficient] : sum.terms) {
    if (coefficient == 0 || !isTile(term.getType()))
      continue;
    Value &place = coefficient > 0 ? result.index : result.minus;
    if (std::abs(coefficient) != 1 || place || !isIndexRange(term))
      return false;
    place = term;
  }
  return result.index || result.minus;
}

/// Takes one index of a sum of scalars, a loop's rather than the kernel's.
static bool takeIndex(const LinearSum &sum, LaneCompare &result) {
  Value index;
  for (auto &[term, coefficient] : sum.terms)
    if (std::abs(coefficient) == 1 && isIndex(term) &&
        (!index ||
         isa<scf::ForOp>(Value(term).getParentBlock()->getParentOp())))
      index = term;
  if (!index)
    return false;
  (sum.terms.lookup(index) > 0 ? result.index : result.minus) = index;
  return true;
}

std::optional<LaneCompare> laneCompare(arith::CmpIOp compare) {
  Type type = compare.getLhs().getType();
  if (!getElementTypeOrSelf(type).isInteger(32) ||
      compare.getPredicate() >= arith::CmpIPredicate::ult)
    return std::nullopt;
  std::optional<LinearSum> sum = linearSum(compare.getLhs()),
                           right = linearSum(compare.getRhs());
  if (!sum || !right)
    return std::nullopt;
  sum->add(*right, -1);
  LaneCompare result;
  result.predicate = compare.getPredicate();
  if (!(isTile(type) ? takeRanges(*sum, result) : takeIndex(*sum, result)))
    return std::nullopt;
  // index - minus + rest cmp 0, or the same with both sides negated.
  int64_t sign = -1;
  if (!result.index) {
    std::swap(result.index, result.minus);
    result.predicate = exchanged(result.predicate);
    sign = 1;
  }
  result.rest.constant = sign * sum->constant;
  for (auto &[term, coefficient] : sum->terms)
    if (term != result.index && term != result.minus && coefficient != 0)
      result.rest.terms[term] = sign * coefficient;
  return result;
}

/// The sum with ranges as start and lane.
static LinearIndex expanded(const LinearSum &sum) {
  LinearIndex result;
  result.constant = sum.constant;
  for (auto &[term, coefficient] : sum.terms) {
    if (coefficient == 0)
      continue;
    Value scalar = term;
    if (std::optional<RangeQuotient> quotient = rangeQuotient(term)) {
      result.quotients.push_back({*quotient, coefficient});
      continue;
    }
    if (auto range = term.getDefiningOp<RangeOp>()) {
      result.axes[axesOf(range.getType())[0]] += coefficient;
      scalar = range.getStart();
    }
    if (auto constant = scalar.getDefiningOp<arith::ConstantIntOp>())
      result.constant += coefficient * constant.value();
    else
      result.scalars[scalar] += coefficient;
  }
  return result;
}

std::optional<LinearIndex> linearCompare(Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare ||
      !getElementTypeOrSelf(compare.getLhs().getType()).isInteger(32) ||
      !isExact(compare))
    return std::nullopt;
  Value low = compare.getLhs(), high = compare.getRhs();
  arith::CmpIPredicate how = compare.getPredicate();
  if (how == arith::CmpIPredicate::sgt || how == arith::CmpIPredicate::sge) {
    std::swap(low, high);
    how = exchanged(how);
  }
  if (how != arith::CmpIPredicate::slt && how != arith::CmpIPredicate::sle)
    return std::nullopt;
  std::optional<LinearSum> sum = linearSum(low), right = linearSum(high);
  if (!sum || !right)
    return std::nullopt;
  sum->add(*right, -1);
  sum->constant += how == arith::CmpIPredicate::slt ? 1 : 0;
  return expanded(*sum);
}

} // namespace selvedge::analysis
