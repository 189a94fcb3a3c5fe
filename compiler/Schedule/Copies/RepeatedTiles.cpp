// Tiles that follow from indices, computed again in another layout.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Copies/RepeatedTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

Type RepeatedTiles::typeOf(Type type) const {
  LayoutAttr layout = layoutOf(type);
  if (!layout)
    return type;
  auto own = llvm::map_to_vector(layout.getAxes(), [&](AxisLayoutAttr axis) {
    auto known = axes.find(axis.getName());
    return known == axes.end() ? axis : known->second;
  });
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               getElementTypeOrSelf(type),
                               LayoutAttr::get(type.getContext(), own));
}

bool RepeatedTiles::isKept(Value value) const {
  return !layoutOf(value.getType()) &&
         (!loop || loop.isDefinedOutsideOfLoop(value));
}

bool RepeatedTiles::canRepeat(Value value) const {
  if (isKept(value) || (loop && value == loop.getInductionVar()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return false;
  if (isa<arith::ConstantOp>(op))
    return !layoutOf(value.getType());
  return (isa<RangeOp, SplatOp, BroadcastOp>(op) ||
          isa<arith::ArithDialect>(op->getDialect())) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return canRepeat(v); });
}

Value RepeatedTiles::repeat(OpBuilder &b, Value value,
                            IRMapping &mapping) const {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (isKept(value))
    return value;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    repeat(b, operand, mapping);
  Operation *clone = b.clone(*op, mapping);
  clone->getResult(0).setType(typeOf(value.getType()));
  mapping.map(value, clone->getResult(0));
  return clone->getResult(0);
}

} // namespace selvedge::schedule
