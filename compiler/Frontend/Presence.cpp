// Elaborator: where lanes exist.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

bool Elaborator::provablyNonNegative(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true; // a dim
  return provablyNonNegative(binary.getLHS()) &&
         provablyNonNegative(binary.getRHS());
}

bool Elaborator::requireInside(SMLoc loc, const Val &index, Value value,
                               AffineExpr extent, PredSet &preds) {
  Location l = at(loc);
  using arith::CmpIPredicate;
  if (!index.nonNegative)
    preds.add(tb->compare(l, CmpIPredicate::sge, value, tb->constantInt(l, 0)));
  if (index.upper) {
    auto slack = dyn_cast<AffineConstantExpr>(difference(extent, index.upper));
    if (slack && slack.getValue() >= 0)
      return index.nonNegative;
  }
  preds.add(tb->compare(l, CmpIPredicate::slt, value, tb->affine(l, extent)));
  return false;
}

PredSet Elaborator::takeEnds(SMLoc loc, PredSet &preds) {
  PredSet ends, others;
  for (Value pred : preds) {
    ArrayRef<StringAttr> axes = axesOf(pred.getType());
    bool isEnd =
        axes.size() == 1 && tb->insideOf(at(loc), axes.front()) == pred;
    (isEnd ? ends : others).add(pred);
  }
  preds = others;
  return ends;
}

PredSet Elaborator::joinSelected(SMLoc loc, Value condition, PredSet a,
                                 PredSet b) {
  PredSet result = takeEnds(loc, a);
  result.add(takeEnds(loc, b));
  Location l = at(loc);
  for (Value pred : a) {
    if (b.contains(pred))
      result.add(pred);
    else if (pred != condition) // absent only where the first side is selected
      result.add(tb->either(l, tb->negate(l, condition), pred));
  }
  for (Value pred : b)
    if (!a.contains(pred))
      result.add(tb->either(l, condition, pred));
  return result;
}

PredSet Elaborator::joinElse(SMLoc loc, const PredSet &value,
                             const PredSet &otherwise) {
  PredSet result;
  Location l = at(loc);
  Value present = tb->conjunction(l, value);
  for (Value pred : otherwise) {
    if (value.contains(pred))
      result.add(pred);
    else
      result.add(present ? tb->either(l, present, pred) : pred);
  }
  return result;
}

void Elaborator::splitPreds(SMLoc loc, const PredSet &preds,
                            ArrayRef<StringAttr> over, PredSet &consumed,
                            PredSet &kept) {
  for (Value pred : preds) {
    bool mentions = llvm::any_of(axesOf(pred.getType()), [&](StringAttr axis) {
      return llvm::is_contained(over, axis);
    });
    (mentions ? consumed : kept).add(pred);
  }
  // A filled tile ends where its axes do: how far the plan pads them is never
  // seen.
  for (StringAttr axis : over)
    if (Value inside = tb->insideOf(at(loc), axis))
      consumed.add(inside);
}

} // namespace selvedge::frontend
