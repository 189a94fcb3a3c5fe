// Elaborator: slices of dimensions, `first +: length` in an index.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Val Elaborator::evalSlice(const Expr &e) {
  const Expr &start = *e.args[0], &length = *e.args[1];
  Val first = eval(start);
  AffineExpr extent = evalExtent(length, "a length");
  if (first.isError() || !extent)
    return Val::error();
  auto constant = dyn_cast<AffineConstantExpr>(extent);
  if (length.kind != Expr::Kind::Name || !constant || constant.getValue() < 1) {
    diags.error(length.loc,
                "expects a parameter of at least 1 as the length of a slice",
                "axes are equal by name: 'D: int = 64' and 'x[i, first +: D]'");
    return Val::error();
  }
  Type type = elementOf(first);
  if (!type || !type.isInteger(32)) {
    diags.error(start.loc, "expects an integer as the start of a slice, but "
                           "got " +
                               describe(first));
    return Val::error();
  }
  Val elements = evalFull(length.loc, DimInfo{extent, length.name, {}});
  if (elements.isError())
    return elements;
  Val result = Val::of(Val::Kind::Ssa);
  if (axesOfVal(first).empty()) {
    // Neighbours in memory, as those of a range are.
    result.ssa = tb->create<RangeOp>(at(e.loc), elements.ssa.getType(),
                                     materialise(start.loc, first));
    result.preds = elements.preds;
    result.preds.add(first.preds);
  } else {
    result = binary(e.loc, "+", first, elements);
  }
  result.slice = sliceInfo(e.loc, first, constant.getValue());
  return result;
}

SliceInfo Elaborator::sliceInfo(SMLoc loc, const Val &first, int64_t length) {
  SliceInfo info;
  info.length = length;
  if (first.is(Val::Kind::Int)) {
    info.number = std::make_shared<Val>(first);
  } else if (first.is(Val::Kind::Affine) && first.affine.isMultipleOf(length)) {
    info.number =
        std::make_shared<Val>(affineVal(loc, first.affine.floorDiv(length)));
    info.step = length;
  } else if (first.multiple && first.multiple->second >= length) {
    info.number = std::make_shared<Val>(first.multiple->first);
    info.step = first.multiple->second;
  }
  return info;
}

bool Elaborator::addSlice(SMLoc loc, Access &access, AffineExpr extent,
                          const Val &index, Value value) {
  const SliceInfo &slice = *index.slice;
  if (!slice.number) {
    requireInside(loc, index, value, extent, access.preds);
    return true;
  }
  Location l = at(loc);
  Val number = toSsa(loc, *slice.number);
  if (number.isError())
    return false;
  using arith::CmpIPredicate;
  // The last slice ends inside: dims leave no room for numbers that wrap.
  bool isBelow = number.upper &&
                 provablyNonNegative(difference(
                     extent, (number.upper - 1) * slice.step + slice.length));
  bool isAbove = number.nonNegative ||
                 (isBelow && number.lower && provablyNonNegative(number.lower));
  // Lanes are outside one by one: sums over the slice leave them out.
  auto require = [&](CmpIPredicate how, Value tested, Value bound) {
    access.preds.add(tb->compare(
        l, how, tb->broadcast(l, tested, axesOf(value.getType())), bound));
  };
  if (!isAbove)
    require(CmpIPredicate::sge, number.ssa, tb->constantInt(l, 0));
  if (!isBelow) {
    // Numbers of which the start wraps would name the elements of others.
    require(CmpIPredicate::sle, number.ssa,
            tb->constantInt(l, (maxExtent - slice.length) / slice.step));
    require(CmpIPredicate::slt, value, tb->affine(l, extent));
  }
  access.coordinates.push_back({static_cast<unsigned>(access.indices.size()),
                                number.ssa, slice.step, slice.length});
  return true;
}

} // namespace selvedge::frontend
