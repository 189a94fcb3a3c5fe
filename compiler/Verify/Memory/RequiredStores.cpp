// What a program stores of outputs that are initialised before.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/RequiredStores.h"

#include "compiler/Verify/Arithmetic/Facts.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

/// `i < end`, the end the same for all lanes.
static bool saysEndOfRange(Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
         compare.getLhs().getDefiningOp<RangeOp>() &&
         compare.getRhs().getDefiningOp<SplatOp>();
}

/// `b < B`, B the number of segments.
static bool saysSegment(Value predicate, AffineExpr numEnds) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  auto dim = compare && compare.getPredicate() == arith::CmpIPredicate::slt
                 ? dyn_cast<BlockArgument>(compare.getRhs())
                 : BlockArgument();
  return dim && dim.getType().isInteger() &&
         getAffineSymbolExpr(dim.getArgNumber(), predicate.getContext()) + 1 ==
             numEnds;
}

/// Whether an axis is a range of the kernel over tiles of segments, whose
/// number depends on that of the segments.
static bool isOverSegments(KernelOp kernel, StringAttr axis) {
  return llvm::any_of(
      kernel.getRanges().getAsRange<IterAttr>(), [&](IterAttr range) {
        return range.getName() == axis && range.getExtent().getNumDims() != 0;
      });
}

/// The ends of segments that lie in a dimension; null where there are none, or
/// several.
static StringAttr endsOf(ProgramOp program, AffineExpr extent) {
  StringAttr found;
  for (auto promise : program.getPromises().getAsRange<RequireAttr>()) {
    if (!promise.getOrdered() || promise.getHi().getResult(0) != extent)
      continue;
    if (found)
      return {};
    found = promise.getTensor();
  }
  return found;
}

/// Whether an index is made of ranges, loops, dims and numbers alone: of
/// nothing that was loaded, such as the segment that a row belongs to.
static bool isOfRanges(Value index) {
  Operation *def = index.getDefiningOp();
  if (!def)
    return isa<KernelOp>(
               cast<BlockArgument>(index).getOwner()->getParentOp()) ||
           scf::getForInductionVarOwner(index);
  return (isa<arith::ArithDialect>(def->getDialect()) ||
          isa<RangeOp, SplatOp, BroadcastOp>(def)) &&
         llvm::all_of(def->getOperands(), isOfRanges);
}

static AffineMap shapeOf(ProgramOp program, StringRef tensor) {
  for (auto arg : program.getTensors().getAsRange<TensorArgAttr>())
    if (arg.getName().getValue() == tensor)
      return arg.getShape();
  return {};
}

std::vector<SegmentRows> segmentRowsOf(StoreOp store) {
  std::vector<SegmentRows> rows;
  auto kernel = store->getParentOfType<KernelOp>();
  ProgramOp program = kernel.getProgram();
  std::string tensor = tensorName(store.getTensor());
  AffineMap shape = shapeOf(program, tensor);
  if (!shape)
    return rows;
  for (auto [dim, index] : llvm::enumerate(store.getIndices())) {
    auto range = index.getDefiningOp<RangeOp>();
    auto isOther = [&](Value other) { return other != index; };
    if (!range || !isOverSegments(kernel, axesOf(range.getType()).front()) ||
        !llvm::all_of(llvm::make_filter_range(store.getIndices(), isOther),
                      isOfRanges))
      continue;
    StringAttr ends = endsOf(program, shape.getResult(dim));
    AffineMap numEnds = ends ? shapeOf(program, ends) : AffineMap();
    if (numEnds && llvm::all_of(store.getPresence(), [&](Value p) {
          return saysEndOfRange(p) || saysSegment(p, numEnds.getResult(0));
        }))
      rows.push_back({tensor, static_cast<unsigned>(dim), ends.str()});
  }
  return rows;
}

std::vector<SegmentRows> segmentRowsOf(KernelOp kernel) {
  std::vector<SegmentRows> rows;
  llvm::StringMap<unsigned> numStores;
  kernel.walk(
      [&](StoreOp store) { ++numStores[tensorName(store.getTensor())]; });
  for (auto store : kernel.getBody().getOps<StoreOp>())
    if (numStores[tensorName(store.getTensor())] == 1)
      llvm::append_range(rows, segmentRowsOf(store));
  return rows;
}

} // namespace selvedge::verify
