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

/// Whether a dimension of a store's tensor has one index per segment.
static bool isNumberOf(StoreOp store, unsigned dim,
                       const SegmentRows &segments) {
  auto kernel = store->getParentOfType<KernelOp>();
  AffineExpr extent =
      kernel.getTensorArgOf(store.getTensor()).getShape().getResult(dim);
  auto tensors = kernel.getProgram().getTensors().getAsRange<TensorArgAttr>();
  return llvm::any_of(tensors, [&](TensorArgAttr arg) {
    return arg.getName().getValue() == segments.ends &&
           arg.getShape().getResult(0) == extent + 1;
  });
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

std::optional<SegmentRows> rowsOfEachSegment(StoreOp store) {
  for (auto [dim, index] : llvm::enumerate(store.getIndices())) {
    auto row = index.getDefiningOp<arith::SubIOp>();
    bool isOfLanes = row && row.getLhs().getDefiningOp<RangeOp>();
    for (Value predicate : isOfLanes ? store.getPresence() : ValueRange()) {
      auto compare = predicate.getDefiningOp<arith::CmpIOp>();
      auto end = compare && compare.getLhs() == row.getLhs()
                     ? strip(compare.getRhs()).getDefiningOp<arith::SelectOp>()
                     : arith::SelectOp();
      auto load = end ? end.getTrueValue().getDefiningOp<LoadOp>() : LoadOp();
      if (!load)
        continue;
      SegmentRows rows{tensorName(store.getTensor()),
                       static_cast<unsigned>(dim),
                       tensorName(load.getTensor())};
      Value segment = segmentOf(compare, store, rows);
      Value number =
          segment ? segment.getDefiningOp<arith::CmpIOp>().getLhs() : Value();
      for (auto [d, other] : llvm::enumerate(store.getIndices()))
        if (number && other == number && isNumberOf(store, d, rows)) {
          rows.segment = d;
          return rows;
        }
    }
  }
  return std::nullopt;
}

SegmentEnds endsOf(KernelOp kernel, Value number, const SegmentRows &segments) {
  SegmentEnds ends;
  for (auto load : kernel.getBody().getOps<LoadOp>()) {
    if (tensorName(load.getTensor()) != segments.ends)
      continue;
    Value index = load.getIndices()[0];
    auto next = index.getDefiningOp<arith::AddIOp>();
    if (index == number)
      ends.first = load;
    else if (next && next.getLhs() == number &&
             matchPattern(next.getRhs(), m_One()))
      ends.end = load;
  }
  return ends;
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
  auto isFirst = [&](LoadOp load) {
    return load && matchPattern(load.getIndices()[0], m_Zero());
  };
  auto isLast = [&](LoadOp load) {
    return load && isCount(load.getIndices()[0], store, segments);
  };
  auto endIn = [&](Value value, CmpIPredicate kind) {
    arith::CmpIOp compare = compareOf(value, kind);
    return compare ? loadOfEnd(compare.getRhs(), segments, {}) : LoadOp();
  };
  if (rows == Rows::FromFirstToLast)
    return isFirst(endIn(predicate, CmpIPredicate::sge)) ||
           isLast(endIn(predicate, CmpIPredicate::slt));
  auto either = predicate.getDefiningOp<arith::OrIOp>();
  return rows == Rows::OfNoSegment && either &&
         isFirst(endIn(either.getLhs(), CmpIPredicate::slt)) &&
         isLast(endIn(either.getRhs(), CmpIPredicate::sge));
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
