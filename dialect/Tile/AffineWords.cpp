// Expressions over dims as people write them.
// SPDX-License-Identifier: MIT
#include "dialect/Tile/AffineWords.h"

namespace selvedge::tile {

using namespace mlir;

static StringRef signOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return " + ";
  case AffineExprKind::Mul:
    return " * ";
  case AffineExprKind::FloorDiv:
    return " / ";
  case AffineExprKind::CeilDiv:
    return " ceildiv ";
  default:
    return " % ";
  }
}

std::string wordsOf(AffineExpr expr, ArrayAttr dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return cast<StringAttr>(dims[symbol.getPosition()]).str();
  if (isa<AffineDimExpr>(expr))
    return "block";
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto part = [&](AffineExpr operand, bool isRight) {
    std::string words = wordsOf(operand, dims);
    bool isBound = isa<AffineBinaryOpExpr>(operand) &&
                   binary.getKind() != AffineExprKind::Add &&
                   (isRight || operand.getKind() == AffineExprKind::Add);
    return isBound ? "(" + words + ")" : words;
  };
  return part(binary.getLHS(), false) + signOf(binary.getKind()).str() +
         part(binary.getRHS(), true);
}

} // namespace selvedge::tile
