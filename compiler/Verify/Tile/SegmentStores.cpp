// Stores of the rows of segments or of equal parts, and of all other rows.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SegmentStores.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "dialect/Tile/Limits.h"

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

RequireAttr promiseOf(KernelOp kernel, const SegmentRows &segments) {
  for (auto promise :
       kernel.getProgram().getPromises().getAsRange<RequireAttr>())
    if (promise.getOrdered() && promise.getTensor() == segments.ends)
      return promise;
  return {};
}

/// Whether a scalar is an expression of dims.
static bool isExtent(Value scalar, AffineExpr expr, KernelOp kernel) {
  ProgramOp program = kernel.getProgram();
  IndexValues values;
  SmallVector<Polynomial> dims;
  seedSignature(program.getDims(), program.getTensors(), values, dims);
  seedKernel(kernel, values, dims);
  return values.of(scalar) == values.of(expr, dims);
}

/// Whether a number is 1 where segments begin before the first row or end
/// behind the last one.
static bool marksOutside(Value number, StoreOp store,
                         const SegmentRows &segments) {
  auto kernel = store->getParentOfType<KernelOp>();
  RequireAttr promise = promiseOf(kernel, segments);
  auto select = number.getDefiningOp<arith::SelectOp>();
  auto either = select ? select.getCondition().getDefiningOp<arith::OrIOp>()
                       : arith::OrIOp();
  auto before =
      either ? either.getLhs().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto behind =
      either ? either.getRhs().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!promise || !before || !behind ||
      !matchPattern(select.getTrueValue(), m_One()) ||
      before.getPredicate() != CmpIPredicate::slt ||
      behind.getPredicate() != CmpIPredicate::sgt)
    return false;
  LoadOp first = loadOfEnd(before.getLhs(), segments, {}),
         last = loadOfEnd(behind.getLhs(), segments, {});
  return first && matchPattern(first.getIndices()[0], m_Zero()) && last &&
         isCount(last.getIndices()[0], store, segments) &&
         isExtent(before.getRhs(), promise.getLo().getResult(0), kernel) &&
         isExtent(behind.getRhs(), promise.getHi().getResult(0), kernel);
}

/// Whether a tile has 1 in the lane of each segment that ends before it begins,
/// for those that begin at `start`.
static bool marksBackward(Value marks, Value start, StoreOp store,
                          const SegmentRows &segments) {
  // Lanes of no segment.
  auto masked = marks.getDefiningOp<arith::SelectOp>();
  auto isThere = masked ? masked.getCondition().getDefiningOp<arith::CmpIOp>()
                        : arith::CmpIOp();
  auto select = masked ? masked.getTrueValue().getDefiningOp<arith::SelectOp>()
                       : arith::SelectOp();
  auto goesBack = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                         : arith::CmpIOp();
  if (!isThere || !goesBack || isThere.getPredicate() != CmpIPredicate::slt ||
      !isCount(strip(isThere.getRhs()), store, segments) ||
      goesBack.getPredicate() != CmpIPredicate::sgt ||
      !matchPattern(strip(select.getTrueValue()), m_One()))
    return false;
  ValueRange presence(masked->getOperands().take_front());
  LoadOp first = loadOfEnd(goesBack.getLhs(), segments, presence),
         end = loadOfEnd(goesBack.getRhs(), segments, presence);
  auto lanes = isThere.getLhs().getDefiningOp<RangeOp>();
  auto next = end ? end.getIndices()[0].getDefiningOp<arith::AddIOp>()
                  : arith::AddIOp();
  return first && lanes && lanes.getStart() == start &&
         first.getIndices()[0] == lanes.getResult() && next &&
         next.getLhs() == lanes.getResult() &&
         matchPattern(strip(next.getRhs()), m_One());
}

/// Whether a scalar is true if the promise of segments is broken.
static bool saysBroken(Value scalar, StoreOp store,
                       const SegmentRows &segments) {
  auto compare = scalar.getDefiningOp<arith::CmpIOp>();
  auto loop =
      compare ? compare.getLhs().getDefiningOp<scf::ForOp>() : scf::ForOp();
  if (!loop || compare.getPredicate() != CmpIPredicate::sgt ||
      !matchPattern(compare.getRhs(), m_Zero()) || loop.getNumResults() != 1 ||
      !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !marksOutside(loop.getInits()[0], store, segments))
    return false;
  // No dim is more than the limit of extents.
  auto least = loop.getUpperBound().getDefiningOp<arith::MinSIOp>();
  APInt limit;
  if (!least || !isCount(least.getLhs(), store, segments) ||
      !matchPattern(least.getRhs(), m_ConstantInt(&limit)) ||
      limit.getSExtValue() != maxExtent)
    return false;
  auto most = cast<scf::YieldOp>(loop.getBody()->getTerminator())
                  .getResults()[0]
                  .getDefiningOp<arith::MaxSIOp>();
  auto reduce = most ? most.getRhs().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce || most.getLhs() != loop.getRegionIterArg(0) ||
      reduce.getKind() != Combine::Max)
    return false;
  // The lanes of a step are those up to the next one.
  auto axes = store->getParentOfType<KernelOp>().getAxes();
  StringAttr name = axisNames(reduce.getSource().getType()).front();
  auto step = loop.getStep().getDefiningOp<BlockSizeOp>();
  bool areAll =
      step && llvm::any_of(axes.getAsRange<AxisAttr>(), [&](AxisAttr axis) {
        return axis.getName() == name && axis.getBlock() == step.getBlockAttr();
      });
  return areAll && marksBackward(reduce.getSource(), loop.getInductionVar(),
                                 store, segments);
}

Value unlessBroken(Value predicate, StoreOp store,
                   const SegmentRows &segments) {
  auto either = predicate.getDefiningOp<arith::OrIOp>();
  return either && saysBroken(strip(either.getRhs()), store, segments)
             ? either.getLhs()
             : Value();
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
  predicate = unlessBroken(predicate, store, segments);
  if (!predicate)
    return false;
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
