// Elaborator: where lanes exist.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

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

/// The most that an expression of dims may be; none where nothing says so, or
/// where arithmetic of 32 bits may wrap on the way.
static std::optional<int64_t> mostOf(AffineExpr expr) {
  constexpr int64_t maxInt = std::numeric_limits<int32_t>::max();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() <= maxInt ? std::optional(constant.getValue())
                                         : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return maxExtent;
  std::optional<int64_t> a = mostOf(binary.getLHS()),
                         b = mostOf(binary.getRHS()), most;
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (a && b)
      most = *a + *b;
    break;
  case AffineExprKind::Mul:
    // Less than nothing of a dim is nothing at most.
    if (by && by.getValue() < 0 && isa<AffineSymbolExpr>(binary.getLHS()))
      most = 0;
    else if (a && b && *a >= 0 && *b >= 0 && by)
      most = *a * *b;
    break;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    if (a && by && by.getValue() > 0)
      most = llvm::divideCeilSigned(*a, by.getValue());
    break;
  default:
    break;
  }
  return most && *most <= maxInt ? most : std::nullopt;
}

std::optional<int64_t> Elaborator::greatestOf(const Val &index) const {
  if (!index.nonNegative || !index.upper)
    return std::nullopt;
  if (index.most)
    return index.most;
  std::optional<int64_t> end = mostOf(index.upper);
  // A dimension of so many times as many elements ends, too.
  for (const TensorInfo &tensor : tensors)
    for (const DimInfo &dim : tensor.dims) {
      auto product = dyn_cast<AffineBinaryOpExpr>(dim.extent);
      auto times = product ? dyn_cast<AffineConstantExpr>(product.getRHS())
                           : AffineConstantExpr();
      if (!tensor.decl->isOptional && times && times.getValue() > 0 &&
          product.getKind() == AffineExprKind::Mul &&
          product.getLHS() == index.upper)
        end = std::min(end.value_or(maxExtent), maxExtent / times.getValue());
    }
  return end && *end > 0 ? std::optional(*end - 1) : std::nullopt;
}

bool Elaborator::isIndexOfBlocks(AffineExpr stop) const {
  // A block's last lane lies behind its first by less than the largest block.
  if (std::optional<int64_t> most = mostOf(stop);
      most && *most <= maxExtent + 1)
    return true;
  return llvm::any_of(tensors, [&](const TensorInfo &tensor) {
    return !tensor.decl->isOptional &&
           llvm::any_of(tensor.dims, [&](const DimInfo &dim) {
             return provablyNonNegative(difference(dim.extent, stop));
           });
  });
}

bool Elaborator::requireInside(SMLoc loc, const Val &index, Value value,
                               AffineExpr extent, PredSet &preds) {
  Location l = at(loc);
  using arith::CmpIPredicate;
  if (!index.nonNegative)
    preds.add(tb->compare(l, CmpIPredicate::sge, value, tb->constantInt(l, 0)));
  AffineExpr end = index.upper    ? index.upper
                   : index.atMost ? index.atMost + 1
                                  : AffineExpr();
  if (end) {
    auto slack = dyn_cast<AffineConstantExpr>(difference(extent, end));
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
