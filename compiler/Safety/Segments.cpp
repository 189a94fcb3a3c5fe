// Rows of segments, as kernels index them.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Segments.h"
#include "compiler/Safety/Predicates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;

/// The input of `count + 1` numbers that is promised to cut `rows` into
/// segments; none where it is none, or one of several.
static std::optional<unsigned> endsOf(ProgramOp program, AffineExpr count,
                                      AffineExpr rows) {
  std::optional<unsigned> ends;
  for (auto promise : program.getPromises().getAsRange<RequireAttr>()) {
    if (!promise.getOrdered() || promise.getHi().getResult(0) != rows)
      continue;
    if (ends)
      return std::nullopt;
    for (auto [i, arg] :
         llvm::enumerate(program.getTensors().getAsRange<TensorArgAttr>()))
      if (arg.getName() == promise.getTensor() &&
          arg.getShape().getResult(0) == count + 1)
        ends = i;
  }
  return ends;
}

std::optional<SegmentTiles> segmentTilesOf(KernelOp kernel, StringAttr axis,
                                           AffineExpr rows) {
  MLIRContext *ctx = kernel.getContext();
  for (auto [i, iter] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>())) {
    AffineMap tiles = iter.getExtent();
    if (iter.getName() != axis || tiles.getNumDims() != 1)
      continue;
    AffineExpr block = getAffineDimExpr(0, ctx);
    for (unsigned symbol = 0; symbol < tiles.getNumSymbols(); ++symbol) {
      AffineExpr count = getAffineSymbolExpr(symbol, ctx);
      if (tiles.getResult(0) != block * count + rows)
        continue;
      std::optional<unsigned> ends = endsOf(kernel.getProgram(), count, rows);
      return ends ? std::optional(
                        SegmentTiles{kernel.getCoord(i), symbol, *ends})
                  : std::nullopt;
    }
  }
  return std::nullopt;
}

Value withoutSplat(Value value) {
  auto splat = value.getDefiningOp<SplatOp>();
  return splat ? splat.getValue() : value;
}

/// The position of an input that a handle of the kernel is.
static std::optional<unsigned> inputOf(KernelOp kernel, Value handle) {
  for (unsigned i = 0; i < kernel.getProgram().getTensors().size(); ++i)
    if (kernel.getTensorArgument(i) == handle)
      return i;
  return std::nullopt;
}

std::optional<SegmentBound> segmentBoundOf(KernelOp kernel, Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return std::nullopt;
  auto end = withoutSplat(compare.getRhs()).getDefiningOp<arith::SelectOp>();
  auto exists =
      end ? end.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  auto load = end ? end.getTrueValue().getDefiningOp<LoadOp>() : nullptr;
  if (!exists || !load || !matchPattern(end.getFalseValue(), m_Zero()) ||
      exists.getPredicate() != arith::CmpIPredicate::slt ||
      !llvm::equal(load.getPresence(), ValueRange(end.getCondition())))
    return std::nullopt;
  std::optional<unsigned> ends = inputOf(kernel, load.getTensor());
  auto dim = dyn_cast<BlockArgument>(exists.getRhs());
  auto next = load.getIndices()[0].getDefiningOp<arith::AddIOp>();
  ProgramOp program = kernel.getProgram();
  if (!ends || !dim || dim.getOwner() != &kernel.getBody().front() ||
      dim.getArgNumber() >= program.getDims().size() ||
      program.getTensorArg(*ends).getShape().getResult(0) !=
          getAffineSymbolExpr(dim.getArgNumber(), kernel.getContext()) + 1 ||
      !next || next.getLhs() != exists.getLhs() ||
      !matchPattern(next.getRhs(), m_One()))
    return std::nullopt;
  return SegmentBound{compare.getLhs(), exists.getLhs(), end.getCondition(),
                      *ends};
}

bool isFirstRow(KernelOp kernel, Value value, const SegmentBound &segment) {
  value = withoutSplat(value);
  if (auto most = value.getDefiningOp<arith::MaxSIOp>())
    return matchPattern(most.getRhs(), m_Zero()) &&
           isFirstRow(kernel, most.getLhs(), segment);
  // Of the rows that there are.
  if (auto least = value.getDefiningOp<arith::MinSIOp>())
    return isa<BlockArgument>(least.getRhs()) &&
           isFirstRow(kernel, least.getLhs(), segment);
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return sameExpression(select.getCondition(), segment.exists) &&
           isFirstRow(kernel, select.getTrueValue(), segment);
  auto load = value.getDefiningOp<LoadOp>();
  return load && load.getTensor() == kernel.getTensorArgument(segment.ends) &&
         load.getIndices()[0] == segment.number;
}

/// The rows of a segment in which an access lies.
static std::optional<SegmentRows> segmentRowsOf(KernelOp kernel,
                                                TensorArgAttr tensor,
                                                ValueRange indices,
                                                ValueRange presence) {
  for (Value predicate : presence) {
    std::optional<SegmentBound> bound = segmentBoundOf(kernel, predicate);
    auto lanes = bound ? bound->row.getDefiningOp<RangeOp>() : RangeOp();
    if (!lanes)
      continue;
    for (auto [dim, at] : llvm::enumerate(indices)) {
      if (at != bound->row)
        continue;
      std::optional<SegmentTiles> tiles = segmentTilesOf(
          kernel, axesOf(lanes.getType())[0], tensor.getShape().getResult(dim));
      auto loop = scf::getForInductionVarOwner(lanes.getStart());
      if ((tiles && tiles->ends == bound->ends) ||
          (loop && isFirstRow(kernel, loop.getLowerBound(), *bound)))
        return SegmentRows{static_cast<unsigned>(dim), bound->ends};
    }
  }
  return std::nullopt;
}

std::optional<SegmentRows> segmentRowsUsed(ProgramOp program,
                                           TensorArgAttr tensor) {
  std::optional<SegmentRows> used;
  auto isSame = [&](std::optional<SegmentRows> rows) {
    if (!rows || (used && (used->dim != rows->dim || used->ends != rows->ends)))
      return WalkResult::interrupt();
    used = rows;
    return WalkResult::advance();
  };
  WalkResult result = program.walk([&](Operation *op) {
    auto kernel = op->getParentOfType<KernelOp>();
    auto load = dyn_cast<LoadOp>(op);
    if (load && kernel.getTensorArgOf(load.getTensor()) == tensor)
      return isSame(
          segmentRowsOf(kernel, tensor, load.getIndices(), load.getPresence()));
    auto store = dyn_cast<StoreOp>(op);
    if (store && kernel.getTensorArgOf(store.getTensor()) == tensor)
      return isSame(segmentRowsOf(kernel, tensor, store.getIndices(),
                                  store.getPresence()));
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? std::nullopt : used;
}

} // namespace selvedge::safety
