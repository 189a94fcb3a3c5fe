// What the passes that split loops share: compares, bounds in 64 bits.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/LoopBounds.h"

#include "compiler/Analysis/CountedPairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

void collectCompares(Value predicate, llvm::SetVector<Value> &compares) {
  Operation *def = predicate.getDefiningOp();
  if (isa_and_nonnull<BroadcastOp, SplatOp>(def))
    return collectCompares(def->getOperand(0), compares);
  if (isa_and_nonnull<arith::AndIOp>(def)) {
    collectCompares(def->getOperand(0), compares);
    return collectCompares(def->getOperand(1), compares);
  }
  compares.insert(predicate);
}

ValueRange presenceOf(Operation *op) {
  auto sink = dyn_cast<SinkOpInterface>(op);
  return sink ? ValueRange(sink.getPresence()) : ValueRange();
}

BoundBuilder::BoundBuilder(scf::ForOp loop)
    : b(loop), loc(loop.getLoc()), kernel(loop->getParentOfType<KernelOp>()) {}

Value BoundBuilder::i64(int64_t v) {
  return arith::ConstantIntOp::create(b, loc, v, 64);
}
Value BoundBuilder::wide(Value v) {
  return arith::ExtSIOp::create(b, loc, b.getI64Type(), v);
}
Value BoundBuilder::narrow(Value v) {
  return arith::TruncIOp::create(b, loc, b.getI32Type(), v);
}
Value BoundBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(b, loc, x, y);
}
Value BoundBuilder::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, loc, x, y);
}
Value BoundBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value BoundBuilder::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value BoundBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}

StringAttr BoundBuilder::blockOf(StringAttr axis) {
  for (auto known : kernel.getAxes().getAsRange<AxisAttr>())
    if (known.getName() == axis)
      return known.getBlock();
  return {};
}

bool BoundBuilder::hasExtreme(const analysis::RangeQuotient &quotient) {
  RangeOp range = quotient.range;
  if (!blockOf(axesOf(range.getType())[0]))
    return false;
  return analysis::countsPairs(range).value_or(true);
}

Value BoundBuilder::extreme(const analysis::LinearIndex &form, bool largest) {
  Value sum = i64(form.constant);
  for (auto &[scalar, coefficient] : form.scalars)
    if (coefficient != 0)
      sum = add(sum, mul(wide(scalar), i64(coefficient)));
  for (auto &[axis, coefficient] : form.axes)
    if ((coefficient > 0) == largest && coefficient != 0) {
      Value size = BlockSizeOp::create(b, loc, b.getI32Type(), blockOf(axis));
      sum = add(sum, mul(sub(wide(size), i64(1)), i64(coefficient)));
    }
  // An index and a block more fit 32 bits, in which division is cheap.
  for (auto &[quotient, coefficient] : form.quotients) {
    RangeOp range = quotient.range;
    Value index = range.getStart();
    if ((coefficient > 0) == largest) {
      Value size = BlockSizeOp::create(b, loc, b.getI32Type(),
                                       blockOf(axesOf(range.getType())[0]));
      Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
      index = add(index, sub(size, one));
    }
    Value part = arith::DivUIOp::create(b, loc, index, quotient.divisor);
    sum = add(sum, mul(wide(part), i64(coefficient)));
  }
  return sum;
}

} // namespace selvedge::schedule
