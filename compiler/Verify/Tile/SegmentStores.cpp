// Stores of the rows of segments or of equal parts, and of all other rows.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SegmentStores.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;
using arith::CmpIPredicate;

/// The load of an end, if `value` is one that is tested by `presence` only.
static LoadOp loadOfEnd(Value value, const SegmentRows &segments,
                        ValueRange presence) {
  auto load = strip(value).getDefiningOp<LoadOp>();
  return load && tensorName(load.getTensor()) == segments.ends &&
                 llvm::equal(load.getPresence(), presence)
             ? load
             : LoadOp();
}

/// Whether a number counts the segments: a dim, one less than there are ends.
static bool isCount(Value number, StoreOp store, const SegmentRows &segments) {
  auto kernel = store->getParentOfType<KernelOp>();
  auto dim = dyn_cast<BlockArgument>(number);
  if (!dim || dim.getOwner()->getParentOp() != kernel ||
      dim.getArgNumber() >= kernel.getProgram().getDims().size())
    return false;
  for (auto arg : kernel.getProgram().getTensors().getAsRange<TensorArgAttr>())
    if (arg.getName().getValue() == segments.ends)
      return arg.getShape().getResult(0) ==
             getAffineSymbolExpr(dim.getArgNumber(), store.getContext()) + 1;
  return false;
}

/// Where a compare says that a row lies before the end of its segment, what it
/// says of the segment: that it is one; null for others.
static Value segmentOf(arith::CmpIOp compare, StoreOp store,
                       const SegmentRows &segments) {
  auto end = strip(compare.getRhs()).getDefiningOp<arith::SelectOp>();
  if (!end || !matchPattern(end.getFalseValue(), m_Zero()))
    return {};
  auto exists = end.getCondition().getDefiningOp<arith::CmpIOp>();
  LoadOp load = loadOfEnd(end.getTrueValue(), segments, end.getCondition());
  auto next = load ? load.getIndices()[0].getDefiningOp<arith::AddIOp>()
                   : arith::AddIOp();
  bool isEnd = exists && next && exists.getPredicate() == CmpIPredicate::slt &&
               isCount(exists.getRhs(), store, segments) &&
               next.getLhs() == exists.getLhs() &&
               matchPattern(next.getRhs(), m_One());
  return isEnd ? end.getCondition() : Value();
}

bool saysRows(Value predicate, StoreOp store, const SegmentRows &segments,
              Rows rows) {
  Value row = store.getIndices()[segments.dim];
  auto compareOf = [&](Value value, CmpIPredicate kind) {
    auto compare = value.getDefiningOp<arith::CmpIOp>();
    return compare && compare.getPredicate() == kind && compare.getLhs() == row
               ? compare
               : arith::CmpIOp();
  };
  if (rows == Rows::OfSegments)
    return llvm::any_of(store.getPresence(), [&](Value bound) {
      arith::CmpIOp compare = compareOf(bound, CmpIPredicate::slt);
      Value segment = compare ? segmentOf(compare, store, segments) : Value();
      return segment && (predicate == bound || predicate == segment);
    });
  auto either = predicate.getDefiningOp<arith::OrIOp>();
  if (rows != Rows::OfNoSegment || !either)
    return false;
  arith::CmpIOp before = compareOf(either.getLhs(), CmpIPredicate::slt),
                behind = compareOf(either.getRhs(), CmpIPredicate::sge);
  LoadOp first = before ? loadOfEnd(before.getRhs(), segments, {}) : LoadOp(),
         last = behind ? loadOfEnd(behind.getRhs(), segments, {}) : LoadOp();
  return first && last && matchPattern(first.getIndices()[0], m_Zero()) &&
         isCount(last.getIndices()[0], store, segments);
}

bool saysBehind(Value predicate, StoreOp store, const PartRows &parts) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  auto quotient = compare ? compare.getLhs().getDefiningOp<arith::DivUIOp>()
                          : arith::DivUIOp();
  APInt number;
  if (!quotient || compare.getPredicate() != CmpIPredicate::sge ||
      quotient.getLhs() != store.getIndices()[parts.dim] ||
      !matchPattern(strip(quotient.getRhs()), m_ConstantInt(&number)) ||
      number.getSExtValue() != parts.length)
    return false;
  Value count = strip(compare.getRhs());
  if (auto constant = dyn_cast<AffineConstantExpr>(parts.count))
    return matchPattern(count, m_ConstantInt(&number)) &&
           number.getSExtValue() == constant.getValue();
  auto symbol = dyn_cast<AffineSymbolExpr>(parts.count);
  return symbol && count == store->getParentOfType<KernelOp>().getDimArg(
                                symbol.getPosition());
}

} // namespace selvedge::verify
