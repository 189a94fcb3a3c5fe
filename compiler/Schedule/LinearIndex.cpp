// Integer tiles as linear forms.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/LinearIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

void LinearIndex::add(const LinearIndex &other, int64_t factor) {
  constant += factor * other.constant;
  for (auto &[scalar, coefficient] : other.scalars)
    scalars[scalar] += factor * coefficient;
  for (auto &[axis, coefficient] : other.axes)
    axes[axis] += factor * coefficient;
}

std::optional<LinearIndex> linearIndex(Value v) {
  LinearIndex result;
  Operation *def = v.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantIntOp>(def)) {
    result.constant = constant.value();
    return result;
  }
  if (isa_and_nonnull<SplatOp, BroadcastOp>(def))
    return linearIndex(def->getOperand(0));
  if (auto range = dyn_cast_or_null<RangeOp>(def)) {
    std::optional<LinearIndex> start = linearIndex(range.getStart());
    if (start)
      start->axes[axesOf(range.getType())[0]] += 1;
    return start;
  }
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def)) {
    std::optional<LinearIndex> a = linearIndex(def->getOperand(0)),
                               b = linearIndex(def->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    a->add(*b, isa<arith::AddIOp>(def) ? 1 : -1);
    return a;
  }
  if (isTile(v.getType()))
    return std::nullopt;
  result.scalars[v] = 1;
  return result;
}

std::optional<LinearIndex> linearCompare(Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare ||
      !getElementTypeOrSelf(compare.getLhs().getType()).isInteger(32))
    return std::nullopt;
  Value low = compare.getLhs(), high = compare.getRhs();
  bool isStrict = false;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    isStrict = true;
    break;
  case arith::CmpIPredicate::sle:
    break;
  case arith::CmpIPredicate::sgt:
    isStrict = true;
    std::swap(low, high);
    break;
  case arith::CmpIPredicate::sge:
    std::swap(low, high);
    break;
  default:
    return std::nullopt;
  }
  std::optional<LinearIndex> a = linearIndex(low), b = linearIndex(high);
  if (!a || !b)
    return std::nullopt;
  a->add(*b, -1);
  a->constant += isStrict ? 1 : 0;
  return a;
}

} // namespace selvedge::schedule
