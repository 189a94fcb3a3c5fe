// Elaborator: ranges over the rows of segments, whose tiles are counted from
// dims alone and found on the device.
//
// Segment s has the rows cu[s]..cu[s + 1]. With tiles of n rows it is given the
// numbers cu[s] / n + s up to those of the next one: as many as it needs, and
// at most one more. So all have end / n + count numbers, whatever cu holds, and
// the segment of a number is found by halving, without a sum over those before.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

/// The index `i` of `name[i]`; null for other expressions.
const Expr *indexOf(const Expr &e, StringRef &name) {
  if (e.kind != Expr::Kind::Index || e.args.size() != 2 ||
      e.args[0]->kind != Expr::Kind::Name)
    return nullptr;
  name = e.args[0]->name;
  return e.args[1].get();
}

/// Whether `e` is `name + 1`.
bool isNext(const Expr &e, StringRef name) {
  return e.kind == Expr::Kind::Binary && e.name == "+" &&
         e.args[0]->kind == Expr::Kind::Name && e.args[0]->name == name &&
         e.args[1]->kind == Expr::Kind::Int && e.args[1]->intValue == 1;
}

} // namespace

std::optional<Elaborator::SegmentRange>
Elaborator::findSegments(const KernelDecl &kernel, bool &ok) {
  std::optional<SegmentRange> found;
  for (auto [i, range] : llvm::enumerate(kernel.ranges)) {
    StringRef tensor, other;
    const Expr *first = range.lo ? indexOf(*range.lo, tensor) : nullptr;
    if (range.isLength || !first || first->kind != Expr::Kind::Name)
      continue;
    auto earlier = ArrayRef(kernel.ranges).take_front(i);
    const auto *segment = llvm::find_if(earlier, [&](const RangeDecl &r) {
      return llvm::is_contained(r.names, first->name);
    });
    if (segment == earlier.end())
      continue;
    if (segment->names.size() > 1) {
      diags.unsupported(first->loc, "a segment whose number is one of a pair",
                        "give segments a range of their own: '" + first->name +
                            " in B'");
      ok = false;
      return std::nullopt;
    }
    auto refuse = [&](SMLoc loc, const Twine &message, const Twine &hint) {
      diags.error(loc, message, hint);
      ok = false;
      return std::nullopt;
    };
    const Expr &hi = *range.hi.front();
    const Expr *next = indexOf(hi, other);
    if (!next || other != tensor || !isNext(*next, first->name))
      return refuse(hi.loc, "expects the end of the segment",
                    "write '" + range.names.front() + " in " + tensor + "[" +
                        first->name + "].." + tensor + "[" + first->name +
                        " + 1]'");
    if (found) {
      diags.unsupported(range.loc, "a kernel over the segments of two tensors",
                        "walk over one of them by a loop");
      ok = false;
      return std::nullopt;
    }
    if (range.block.empty())
      return refuse(range.loc,
                    "expects a block size of the range '" +
                        range.names.front() + "'",
                    "write 'by BM': rows of segments are handed out in tiles");
    auto info = llvm::find_if(
        tensors, [&](const TensorInfo &t) { return t.decl->name == tensor; });
    if (info == tensors.end() || !info->promise || !info->promise.getOrdered())
      return refuse(range.lo->loc,
                    "expects a promise that '" + tensor + "' has segments",
                    "write 'requires segments(" + tensor +
                        ", N)', where N is the end of the last one");
    Val count = eval(*segment->hi.front());
    bool isPlain = segment->block.empty() && !segment->lo && count.isOfDims();
    auto more = isPlain ? dyn_cast<AffineConstantExpr>(difference(
                              info->dims.front().extent, asAffine(count)))
                        : AffineConstantExpr();
    if (!more || more.getValue() != 1)
      return refuse(segment->loc,
                    "expects the range '" + first->name +
                        "' over all segments of '" + tensor + "'",
                    "its tensor has an element for each, and one more");
    if (info->decl->isOptional)
      return refuse(range.lo->loc,
                    "the segments of '" + tensor + "' may be missing",
                    "leave out '?' in its declaration");
    found = SegmentRange{&range, segment,
                         static_cast<unsigned>(info - tensors.begin()),
                         asAffine(count), info->promise.getHi().getResult(0)};
  }
  return found;
}

Value Elaborator::firstRow(const SegmentRange &segments, const Val &segment) {
  SMLoc loc = segments.rows->lo->loc;
  Location l = at(loc);
  PredSet presence = segment.preds;
  requireInside(loc, segment, segment.ssa, segments.count + 1, presence);
  Value loaded = tb->create<LoadOp>(
      l, Builder(ctx).getI32Type(),
      kernelBlock->getArgument(dimNames.size() + segments.tensor),
      ValueRange(segment.ssa), ValueRange(presence));
  Value end = tb->affine(l, segments.end);
  if (Value isThere = tb->conjunction(l, presence))
    loaded = tb->create<arith::SelectOp>(l, isThere, loaded, end);
  Value positive = tb->create<arith::MaxSIOp>(l, loaded, tb->constantInt(l, 0));
  return tb->create<arith::MinSIOp>(l, positive, end);
}

Value Elaborator::findSegment(const SegmentRange &segments, Value tile,
                              Value block) {
  Location l = at(segments.rows->loc);
  Value zero = tb->constantInt(l, 0), one = tb->constantInt(l, 1);
  // Of the segments lo..hi, both inclusive, half are left in each step. Four
  // steps for each power of 16 that is less than their number are enough.
  Value all = tb->affine(l, segments.count);
  Value steps = zero;
  for (int64_t power = 1; power <= std::numeric_limits<int32_t>::max();
       power *= 16) {
    Value isMore = tb->compare(l, arith::CmpIPredicate::sgt, all,
                               tb->constantInt(l, power));
    Value four =
        tb->create<arith::SelectOp>(l, isMore, tb->constantInt(l, 4), zero);
    steps = tb->create<arith::AddIOp>(l, steps, four);
  }
  steps = tb->create<arith::MaxSIOp>(l, steps, zero);
  steps = tb->create<arith::MinSIOp>(l, steps, tb->constantInt(l, 31));
  SmallVector<Value> inits{zero, tb->create<arith::SubIOp>(l, all, one)};
  scf::ForOp loop = tb->enterLoop(l, zero, steps, one, inits);
  Value lo = loop.getRegionIterArg(0), hi = loop.getRegionIterArg(1);
  Value left =
      tb->create<arith::AddIOp>(l, tb->create<arith::SubIOp>(l, hi, lo), one);
  Value half = tb->floorDiv(l, left, tb->constantInt(l, 2));
  Value middle = tb->create<arith::AddIOp>(l, lo, half);
  Value row = firstRow(segments, Val::ofSsa(middle));
  Value number =
      tb->create<arith::AddIOp>(l, tb->floorDiv(l, row, block), middle);
  Value isBefore = tb->compare(l, arith::CmpIPredicate::sle, number, tile);
  Value below = tb->create<arith::SubIOp>(l, middle, one);
  SmallVector<Value> results{
      tb->create<arith::SelectOp>(l, isBefore, middle, lo),
      tb->create<arith::SelectOp>(l, isBefore, hi, below)};
  tb->createHere<scf::YieldOp>(l, results);
  tb->leave();
  return loop.getResult(0);
}

bool Elaborator::bindSegments(const SegmentRange &segments, Block &block,
                              SmallVectorImpl<Attribute> &iters) {
  const RangeDecl &range = *segments.rows;
  StringRef name = range.names.front(), number = segments.segment->names[0];
  if (!checkBlockName(range))
    return false;
  Builder b(ctx);
  Location l = at(range.loc);
  AffineExpr tiles = segments.end + segments.count * b.getAffineDimExpr(0);
  Value coord = addCoordinate(
      range, name, AffineMap::get(1, dimNames.size(), tiles), block, iters);
  Value size =
      tb->create<BlockSizeOp>(l, b.getI32Type(), b.getStringAttr(range.block));
  // The size is 1 at least, and the last tiles may lie beyond 2^31: lowering
  // takes the tile's number, of which this is the quotient.
  Value tile = tb->create<arith::DivUIOp>(l, coord, size);

  Val segment = Val::ofSsa(tb->create<arith::MaxSIOp>(
      l, findSegment(segments, tile, size), tb->constantInt(l, 0)));
  // There are tiles although there may be no segments.
  segment.preds.add(tb->compare(l, arith::CmpIPredicate::slt, segment.ssa,
                                tb->affine(l, segments.count)));
  segment.nonNegative = true;
  segment.upper = segments.count;
  segment.lower = b.getAffineConstantExpr(0);
  size_t position = stores->depth();
  stores->enter(number, segment.ssa);
  define(segments.segment->loc, number, segment, /*isMutable=*/false);

  // A tile that its segment does not need has the rows from the end on, which
  // are of no segment.
  Value first = firstRow(segments, segment), end = tb->affine(l, segments.end);
  Value before =
      tb->create<arith::AddIOp>(l, tb->floorDiv(l, first, size), segment.ssa);
  Value own = tb->create<arith::SubIOp>(l, tile, before);
  Value rest = tb->create<arith::SubIOp>(l, end, first);
  Value isNeeded = tb->conjunction(
      l, {tb->compare(l, arith::CmpIPredicate::sge, own, tb->constantInt(l, 0)),
          tb->compare(l, arith::CmpIPredicate::sle, own,
                      tb->floorDiv(l, rest, size))});
  Value start = tb->create<arith::AddIOp>(
      l, first, tb->create<arith::MulIOp>(l, own, size));
  start = tb->create<arith::SelectOp>(l, isNeeded, start, end);
  start = tb->create<arith::MaxSIOp>(l, start, tb->constantInt(l, 0));
  start = tb->create<arith::MinSIOp>(l, start, tb->constantInt(l, maxExtent));

  Val lo = Val::ofSsa(first), hi = eval(*range.hi.front());
  if (hi.isError())
    return false;
  makeTotal(range.loc, lo, hi);
  StringAttr axis = tb->addAxis(&range, name, range.block, 0);
  Val rows = rangeVal(range.loc, axis, start, lo, hi);
  rows.range->isSegment = true;
  folds->add({name, axis, nullptr, start, {}});
  stores->enter(name, rows.ssa, {position});
  define(range.loc, name, rows, /*isMutable=*/false);
  return true;
}

} // namespace selvedge::frontend
