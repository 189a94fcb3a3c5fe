// Computes what is stored by parts of its columns, where it is stored.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Whether each element of the result depends on the same elements of the
/// operands, so that it can be computed for some columns alone.
static bool isElementwise(Operation &op) {
  return op.getNumResults() == 1 && isRegisterTile(op.getResult(0).getType()) &&
         isa_and_nonnull<arith::ArithDialect, math::MathDialect, SmDialect>(
             op.getDialect()) &&
         (isa<LoadOp>(op) ||
          (isMemoryEffectFree(&op) && !isa<ReduceOp, FoldOp>(op)));
}

/// Whether a value follows from indices and scalars alone: cheaper to compute
/// for some columns again than to take from all.
static bool followsFromIndices(Value value) {
  Operation *def = value.getDefiningOp();
  if (!layoutOf(value.getType()) || isa_and_nonnull<RangeOp>(def))
    return true;
  return def && isElementwise(*def) && !isa<LoadOp>(def) &&
         getElementTypeOrSelf(value.getType()).isInteger() &&
         llvm::all_of(def->getOperands(), followsFromIndices);
}

/// A tile's columns beside those that are computed from them take too many
/// registers, and so do indices and predicates that wait for a store lane by
/// lane while products run.
void RoleKernel::findDeferred() {
  auto isDeferred = [&](OpOperand &use) {
    if (deferred.contains(use.getOwner()))
      return true;
    auto store = llvm::find_if(plan.stores, [&](BulkStore &bulk) {
      return bulk.store == use.getOwner();
    });
    return store != plan.stores.end() &&
           (use.get() == store->store.getValue() ? schedule.storeParts > 1
                                                 : store->hasLanes());
  };
  for (Operation &op : llvm::reverse(source.getBody().front()))
    if (isElementwise(op) && !op.use_empty() &&
        llvm::all_of(op.getUses(), isDeferred))
      deferred.insert(&op);
}

/// Whether a warp has a row for which `condition` holds: asked once.
static Value anyRow(OpBuilder &b, Location loc, arith::CmpFOp condition) {
  if (auto asked = dyn_cast_or_null<AnyOp>(condition->getNextNode()))
    return asked;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(condition);
  return AnyOp::create(b, loc, b.getI1Type(), condition);
}

/// Where `op` picks whole rows by a compare, in nearly all tiles for none: a
/// branch around it, taken where some row of a warp is picked. The value that
/// stands for it.
Value RoleKernel::unlessNoRow(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto spread = select ? select.getCondition().getDefiningOp<BroadcastOp>()
                       : BroadcastOp();
  auto condition = spread ? spread.getSource().getDefiningOp<arith::CmpFOp>()
                          : arith::CmpFOp();
  if (!condition)
    return op->getResult(0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(select);
  auto branch = scf::IfOp::create(b, loc, select.getType(),
                                  anyRow(b, select.getLoc(), condition), true);
  b.setInsertionPointToStart(branch.thenBlock());
  auto yield = scf::YieldOp::create(b, loc, select.getResult());
  select->moveBefore(yield);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, select.getFalseValue());
  return branch.getResult(0);
}

Type panelOf(Type type, StringAttr axis, int64_t cols) {
  auto tile = cast<RankedTensorType>(type);
  SmallVector<AxisLayoutAttr> axes(layoutOf(tile).getAxes());
  SmallVector<int64_t> shape(tile.getShape());
  int64_t position = layoutOf(tile).indexOf(axis);
  AxisLayoutAttr &columns = axes[position];
  SmallVector<int64_t> sizes(columns.getRegSizes());
  sizes.back() = sizes.back() * cols / shape[position];
  shape[position] = cols;
  columns = AxisLayoutAttr::get(type.getContext(), axis, sizes,
                                columns.getRegStrides(), columns.getLanes(),
                                columns.getWarps());
  return RankedTensorType::get(shape, tile.getElementType(),
                               LayoutAttr::get(type.getContext(), axes));
}

LogicalResult RoleKernel::emitPart(Value value, StringAttr axis, int64_t from,
                                   int64_t cols, IRMapping &whole,
                                   IRMapping &part) {
  if (part.contains(value))
    return success();
  Operation *def = value.getDefiningOp();
  bool isHere = def && deferred.contains(def);
  LayoutAttr layout = layoutOf(value.getType());
  if (!layout || layout.indexOf(axis) < 0) {
    if (isHere && !whole.contains(value)) {
      for (Value operand : def->getOperands())
        if (failed(emitPart(operand, axis, from, cols, whole, part)))
          return failure();
      if (failed(emitOp(*def, whole)))
        return failure();
    }
    part.map(value, layout ? valueOf(value, whole) : scalar(value, whole));
    return success();
  }
  // Indices are those of a range again: a store may then write vectors, and
  // its predicates are those that the proofs know.
  if (!isHere && !followsFromIndices(value)) {
    Value all = valueOf(value, whole);
    part.map(value,
             ColumnsOp::create(b, loc, panelOf(all.getType(), axis, cols), all,
                               axis, from));
    return success();
  }
  for (Value operand : def->getOperands())
    if (failed(emitPart(operand, axis, from, cols, whole, part)))
      return failure();
  Operation *clone = cloneConverted(*def, part);
  auto type =
      cast<ShapedType>(panelOf(clone->getResult(0).getType(), axis, cols));
  clone->getResult(0).setType(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    constant.setValueAttr(DenseElementsAttr::get(
        type, cast<SplatElementsAttr>(constant.getValue())
                  .getSplatValue<Attribute>()));
  if (auto range = dyn_cast<RangeOp>(clone); range && from > 0) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(range);
    range.getStartMutable().assign(add(range.getStart(), i32(from)));
  }
  part.map(value, unlessNoRow(clone));
  return success();
}

} // namespace selvedge::schedule
