// Elaborator: ranges of kernels.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

bool Elaborator::checkBlockName(const RangeDecl &range) {
  if (range.block.empty() ||
      (!lookupSignature(range.block) && !find(range.block)))
    return true;
  diags.error(range.blockLoc, "the name '" + range.block + "' is taken",
              "a block size is a name of its own, chosen by the plan");
  return false;
}

Value Elaborator::addCoordinate(const RangeDecl &range, StringRef name,
                                AffineMap extent, Block &block,
                                SmallVectorImpl<Attribute> &iters,
                                bool isFirst) {
  Builder b(ctx);
  unsigned place = isFirst ? 0 : iters.size();
  iters.insert(iters.begin() + place,
               IterAttr::get(ctx, b.getStringAttr(name), extent,
                             range.block.empty()
                                 ? StringAttr()
                                 : b.getStringAttr(range.block)));
  unsigned shared = dimNames.size() + tensors.size() + scalars.size();
  return block.insertArgument(shared + place, b.getI32Type(), at(range.loc));
}

bool Elaborator::bindKernelRange(const RangeDecl &range, Block &block,
                                 SmallVectorImpl<Attribute> &iters) {
  if (range.when) {
    diags.error(range.when->loc, "expects 'when' behind the range of a loop",
                "mask what a kernel stores with 'where'");
    return false;
  }
  if (!checkBlockName(range))
    return false;
  if (!range.fused.empty())
    return bindPairs(range, block, iters);
  if (range.names.size() == 2 && !range.block.empty()) {
    diags.unsupported(range.blockLoc, "a block of a pair of ranges",
                      "name the axis of pairs: 'r = (i, u) in (M, R) by BM'");
    return false;
  }
  if (range.parts)
    return bindSplit(range, block, iters);
  for (auto [number, name, hi] : llvm::enumerate(range.names, range.hi)) {
    if (isLoopInOrder(range, number))
      continue;
    Val stop = eval(*hi), start = range.lo ? eval(*range.lo) : Val::ofInt(0);
    if (stop.isError() || start.isError())
      return false;
    if (!stop.isOfDims() || (!start.isOfDims() && !range.isLength)) {
      diags.unsupported(hi->loc, "a kernel's range that depends on data",
                        "range over a dimension and mask with 'where', or over "
                        "segments: 'i in cu[b]..cu[b + 1] by BM'");
      return false;
    }
    if (!start.isOfDims()) {
      if (!bindPart(range, start, stop, block, iters))
        return false;
      continue;
    }
    if (range.isLength)
      stop = binary(range.loc, "+", start, stop);
    bool fromZero = start.is(Val::Kind::Int) && start.intValue == 0;
    AffineExpr extent = asAffine(stop) - asAffine(start);
    Value coord = addCoordinate(range, name, mapOf(extent), block, iters);
    if (!fromZero) {
      Value from = materialise(range.loc, start);
      if (!from)
        return false;
      coord = tb->create<arith::AddIOp>(at(range.loc), coord, from);
    }
    Val v;
    if (range.block.empty()) {
      v = Val::ofSsa(coord);
      v.nonNegative = true;
      v.upper = asAffine(stop);
      v.lower = asAffine(start);
    } else {
      // One axis per range: its syntax tree stands for it.
      StringAttr axis = tb->addAxis(&range, name, range.block, 0);
      v = rangeVal(range.loc, axis, coord, start, stop);
      folds->add({name, axis, nullptr, coord, {}});
    }
    v.nonNegative = provablyNonNegative(asAffine(start)) &&
                    (range.block.empty() || isIndexOfBlocks(asAffine(stop)));
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    if (!constant || constant.getValue() != 1)
      stores->enter(name, v.ssa, {}, greatestOf(v));
    define(range.loc, name, v, /*isMutable=*/false);
  }
  return true;
}

Value Elaborator::partNumber(const Expr &start, const Val &length) {
  if (start.kind != Expr::Kind::Binary || start.name != "*" ||
      !length.is(Val::Kind::Int) || length.intValue < 1)
    return {};
  for (int i : {0, 1}) {
    const Expr &number = *start.args[i];
    Variable *variable =
        number.kind == Expr::Kind::Name ? find(number.name) : nullptr;
    if (!variable || !variable->value.ssa ||
        !stores->find(variable->value.ssa) ||
        !axesOfVal(variable->value).empty())
      continue;
    Val factor = eval(*start.args[1 - i]);
    if (factor.is(Val::Kind::Int) && factor.intValue == length.intValue)
      return variable->value.ssa;
  }
  return {};
}

bool Elaborator::bindPart(const RangeDecl &range, const Val &first,
                          const Val &length, Block &block,
                          SmallVectorImpl<Attribute> &iters) {
  StringRef name = range.names.front();
  if (!elementOf(first) || !elementOf(first).isInteger(32) ||
      !axesOfVal(first).empty()) {
    diags.error(range.lo->loc,
                "expects an integer scalar as start of a range, but got " +
                    describe(first));
    return false;
  }
  Location l = at(range.loc);
  Val lo = first, hi = binary(range.loc, "+", first, length);
  makeTotal(range.loc, lo, hi);
  lo.ssa = tb->create<arith::MaxSIOp>(l, lo.ssa, tb->constantInt(l, 0));
  Value coord =
      addCoordinate(range, name, mapOf(asAffine(length)), block, iters);
  Value index = tb->create<arith::AddIOp>(l, coord, lo.ssa);
  Val v;
  if (range.block.empty()) {
    v = Val::ofSsa(index, hi.preds);
    v.preds.add(tb->compare(l, arith::CmpIPredicate::slt, index, hi.ssa));
  } else {
    StringAttr axis = tb->addAxis(&range, name, range.block, 0);
    v = rangeVal(range.loc, axis, index, lo, hi);
    folds->add({name, axis, nullptr, index, {}});
  }
  // The sum may wrap.
  v.nonNegative = false;
  // Part `number` of parts that are as long as they are apart has no element
  // in common with another one, as long as their numbers do not wrap.
  SmallVector<size_t, 1> tells;
  if (Value number = partNumber(*range.lo, length)) {
    v.preds.add(tb->compare(l, arith::CmpIPredicate::sle, number,
                            tb->constantInt(l, maxExtent / length.intValue)));
    tells.push_back(*stores->find(number));
  }
  stores->enter(name, v.ssa, tells);
  define(range.loc, name, v, /*isMutable=*/false);
  return true;
}

bool Elaborator::bindSplit(const RangeDecl &range, Block &block,
                           SmallVectorImpl<Attribute> &iters) {
  StringRef name = range.names.front();
  if (range.block.empty()) {
    // `else` may fill what a scalar has not, and there would be iterations
    // past the end of a short part.
    diags.error(range.loc, "expects a block size of the range '" + name + "'",
                "write 'by BM': the last parts may have fewer elements");
    return false;
  }
  Val lo = range.lo ? eval(*range.lo) : Val::ofInt(0);
  Val hi = eval(*range.hi.front()), parts = eval(*range.parts);
  if (lo.isError() || hi.isError() || parts.isError())
    return false;
  if (!lo.isOfDims() || !hi.isOfDims() || !parts.isOfDims()) {
    diags.unsupported(range.loc,
                      "a part of a kernel's range that depends on data",
                      "split a range over a dimension, or the range of a loop");
    return false;
  }
  if (parts.is(Val::Kind::Int) && parts.intValue < 1) {
    diags.error(range.parts->loc,
                "expects at least one part, but got " + Twine(parts.intValue));
    return false;
  }
  Val all = range.isLength ? hi : binary(range.loc, "-", hi, lo);
  Value part = integerScalar(*range.part, "the number of a part");
  if (all.isError() || !part)
    return false;
  // The index of a range of one element is a constant, as lowering has it.
  if (Val number = eval(*range.part);
      number.preds.empty() && number.upper && number.lower &&
      difference(number.upper, number.lower) == getAffineConstantExpr(1, ctx))
    part =
        materialise(range.part->loc, affineVal(range.part->loc, number.lower));
  noteParts(parts, asAffine(all));
  Val each = affineVal(range.loc, asAffine(all).ceilDiv(asAffine(parts)));
  if (each.isError())
    return false;
  Value coord = addCoordinate(range, name, mapOf(asAffine(each)), block, iters);

  // Nothing wraps, whatever `part` is: what lies before the part is at most
  // the whole range, and a coordinate at or behind its end is one at its end.
  Location l = at(range.loc);
  Value length = materialise(range.loc, all),
        chunk = materialise(range.loc, each), zero = tb->constantInt(l, 0);
  Value isPart =
      tb->conjunction(l, {tb->compare(l, arith::CmpIPredicate::sge, part, zero),
                          tb->compare(l, arith::CmpIPredicate::sle, part,
                                      tb->floorDiv(l, length, chunk))});
  Value number = tb->create<arith::SelectOp>(l, isPart, part, zero);
  Value skipped = tb->create<arith::MulIOp>(l, number, chunk);
  Value left = tb->create<arith::SubIOp>(l, length, skipped);
  Value count = tb->create<arith::SelectOp>(
      l, isPart, tb->create<arith::MinSIOp>(l, left, chunk), zero);
  Value first =
      tb->create<arith::AddIOp>(l, materialise(range.loc, lo), skipped);
  Value index = tb->create<arith::AddIOp>(
      l, first, tb->create<arith::MinSIOp>(l, coord, count));
  Val end = Val::ofSsa(tb->create<arith::AddIOp>(l, first, count));
  StringAttr axis = tb->addAxis(&range, name, range.block, 0);
  Val v = rangeVal(range.loc, axis, index, lo, end);
  folds->add({name, axis, nullptr, index, {}});
  // That it is at least `lo` is known of a product alone, of which nothing is
  // proved.
  v.nonNegative = false;
  v.lower = {};
  // Parts have no element in common.
  SmallVector<size_t, 1> tells;
  if (std::optional<size_t> iteration = stores->find(part))
    tells.push_back(*iteration);
  stores->enter(name, v.ssa, tells);
  define(range.loc, name, v, /*isMutable=*/false);
  return true;
}

bool Elaborator::bindPairs(const RangeDecl &range, Block &block,
                           SmallVectorImpl<Attribute> &iters) {
  if (range.block.empty()) {
    diags.error(range.loc,
                "expects a block size of the pairs '" + range.fused + "'",
                "write 'by BM'; pairs without an axis have no name");
    return false;
  }
  Val counts[] = {eval(*range.hi[0]), eval(*range.hi[1])};
  for (const Val &count : counts) {
    if (count.isError())
      return false;
    if (!count.isOfDims()) {
      diags.unsupported(range.loc, "a kernel's range that depends on data",
                        "pair dimensions, and mask with 'where'");
      return false;
    }
  }
  Location l = at(range.loc);
  AffineExpr all = asAffine(counts[0]) * asAffine(counts[1]);
  // First of all coordinates: those before another one are found by a division
  // by the number of its blocks, and pairs may be more than 32 bits count.
  if (stores->hasPairs()) {
    diags.unsupported(range.loc, "two axes of pairs in a kernel",
                      "write one of them as two ranges: '" + range.names[0] +
                          " in M by BM, " + range.names[1] + " in R'");
    return false;
  }
  Value coord = addCoordinate(range, range.fused, mapOf(all), block, iters,
                              /*isFirst=*/true);
  StringAttr axis = tb->addAxis(&range, range.fused, range.block, 0);
  Value index = tb->create<RangeOp>(
      l, tb->tileOf(Builder(ctx).getI32Type(), axis), coord);
  Value count = tb->affine(l, asAffine(counts[1]));
  tb->unify(l, index, count);
  Value parts[] = {tb->create<arith::DivUIOp>(l, index, count),
                   tb->create<arith::RemUIOp>(l, index, count)};
  // A pair exists where its first number does.
  Value first = tb->affine(l, asAffine(counts[0])), quotient = parts[0];
  tb->unify(l, quotient, first);
  Value inside = tb->compare(l, arith::CmpIPredicate::slt, quotient, first);
  tb->setInside(axis, inside);
  // More pairs than 32 bits count would wrap.
  bool fits = llvm::any_of(tensors, [&](const TensorInfo &tensor) {
    return !tensor.decl->isOptional &&
           llvm::any_of(tensor.dims,
                        [&](const DimInfo &dim) { return dim.extent == all; });
  });
  auto number = [&](Value ssa, AffineExpr upper, bool nonNegative) {
    Val v = Val::ofSsa(ssa);
    v.preds.add(inside);
    v.nonNegative = nonNegative;
    if (nonNegative)
      v.lower = getAffineConstantExpr(0, ctx);
    v.upper = upper;
    return v;
  };
  Val pair = number(index, all, fits);
  pair.range = RangeInfo{axis, {}};
  folds->add({range.fused, axis, nullptr, coord, {}});
  define(range.loc, range.fused, pair, /*isMutable=*/false);
  stores->enterPair(range.fused, pair.ssa, range.names, parts);
  for (auto [i, name] : llvm::enumerate(range.names))
    define(range.loc, name,
           number(parts[i], asAffine(counts[i]), /*nonNegative=*/i > 0 || fits),
           /*isMutable=*/false);
  return true;
}

} // namespace selvedge::frontend
