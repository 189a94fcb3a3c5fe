// Products that cross the rows of warpgroups: what each stages, and how all
// multiply with it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// One panel of a buffer.
static BufferType panelType(BufferType type) {
  return BufferType::get(type.getContext(), type.getRowAxis(),
                         type.getColAxis(), type.getRows(), panelCols,
                         type.getElementType(), type.getSwizzle(),
                         type.getStages(), panelCols);
}

void RoleKernel::allocateCrossed() {
  for (const RoleCrossing &crossing : schedule.firstCrossings())
    crossed.push_back(AllocOp::create(
        b, loc,
        schedule.crossedType(crossing).withStages(
            schedule.stages * plan.warpgroups * crossing.rowParts)));
}

/// The place of a crossing among those of its loop.
static size_t numberOf(const RoleCrossing &crossing, const RolePlan &plan) {
  for (const auto &[loop, all] : plan.crossings)
    for (auto [i, other] : llvm::enumerate(all))
      if (other.product == crossing.product)
        return i;
  llvm_unreachable("a crossing is one of a loop");
}

Value RoleKernel::crossedRing(const RoleCrossing &crossing) {
  return crossed[numberOf(crossing, plan)];
}

RoleKernel::CrossedBarriers
RoleKernel::crossedBarriers(const RoleCrossing &crossing) {
  return crossedGuards[numberOf(crossing, plan)];
}

/// Predicates of the lanes of a staged tile: those that the product leaves out,
/// and those of rows that the steps' copies know.
SmallVector<Value> RoleKernel::crossedPresence(const RoleCrossing &crossing) {
  MmaOp product = crossing.product;
  SmallVector<Value> presence(product.getPresence());
  for (BulkCopy &copy : plan.streamed[product->getParentOp()])
    if (copy.copy.getBuffer().getType().getRowAxis() == crossing.rowAxis)
      for (Value p : copy.copy.getPresence()) {
        LayoutAttr layout = layoutOf(p.getType());
        bool isOfRows = layout && layout.getAxes().size() == 1 &&
                        layout.getAxes()[0].getName() == crossing.rowAxis;
        if (isOfRows && !llvm::is_contained(presence, p))
          presence.push_back(p);
      }
  return presence;
}

/// The first lane of a step along the axis of a product's rows, or of those
/// that it sums over.
Value RoleKernel::crossedStart(const RoleCrossing &crossing, bool ofRows,
                               IRMapping &mapping) {
  MmaOp product = crossing.product;
  ArrayRef<BulkCopy> copies =
      ofRows ? ArrayRef(plan.streamed[product->getParentOp()])
             : ArrayRef(plan.resident);
  StringAttr axis = ofRows ? crossing.rowAxis : plan.rowAxis;
  for (const BulkCopy &copy : copies)
    if (CopyOp(copy.copy).getBuffer().getType().getRowAxis() == axis)
      return scalar(copy.starts[copy.rowDimension], mapping);
  llvm_unreachable("the plan has seen both");
}

/// How far the rows of a warpgroup, a number or a value, start behind those of
/// the first; null where they are those.
Value RoleKernel::rowsBefore(Value warpgroup) {
  std::optional<int64_t> number = getConstantIntValue(warpgroup);
  if (number == 0)
    return {};
  return number ? i32(*number * warpgroupRows)
                : mul(warpgroup, i32(warpgroupRows));
}

RoleKernel::Shifts RoleKernel::crossedShifts(const RoleCrossing &crossing,
                                             Value part, Value rowPart) {
  Shifts shifts;
  if (Value by = rowsBefore(part))
    shifts.push_back({plan.rowAxis, by});
  if (Value by = crossing.rowParts > 1 ? rowsBefore(rowPart) : Value())
    shifts.push_back({crossing.rowAxis, by});
  return shifts;
}

/// Types of predicates of 64 lanes along each axis, which nobody computes:
/// every thread may hold all of them.
Type RoleKernel::crossedLanes(Type type) {
  MLIRContext *ctx = type.getContext();
  SmallVector<int64_t> shape;
  SmallVector<AxisLayoutAttr> axes;
  for (AxisLayoutAttr axis : layoutOf(type).getAxes()) {
    shape.push_back(warpgroupRows);
    axes.push_back(AxisLayoutAttr::get(ctx, axis.getName(), warpgroupRows, 1,
                                       {0, 0, 0, 0, 0}, {0, 0}));
  }
  return RankedTensorType::get(shape, getElementTypeOrSelf(type),
                               LayoutAttr::get(ctx, axes));
}

/// The slot of what warpgroup `part` has of rows `rowPart` of a staged tile.
/// Lanes that the product leaves out hold zero; other rows that do not exist
/// may hold anything, for they become rows that do not exist.
Value RoleKernel::crossedSlot(const RoleCrossing &crossing, Cursor at,
                              Value part, Value rowPart, IRMapping &mapping) {
  MmaOp product = crossing.product;
  Value number = add(mul(at.stage, i32(plan.warpgroups)), part),
        row = crossedStart(crossing, /*ofRows=*/true, mapping),
        column = crossedStart(crossing, /*ofRows=*/false, mapping);
  if (crossing.rowParts > 1)
    number = add(mul(number, i32(crossing.rowParts)), rowPart);
  Shifts shifts = crossedShifts(crossing, part, rowPart);
  for (auto [axis, by] : shifts) {
    Value &start = axis == plan.rowAxis ? column : row;
    start = add(start, by);
  }
  SmallVector<Value> presence;
  SmallVector<int64_t> garbage;
  for (Value p : crossedPresence(crossing)) {
    if (!llvm::is_contained(product.getPresence(), p))
      garbage.push_back(static_cast<int64_t>(presence.size()));
    presence.push_back(recomputed(p, mapping, crossedLanes, shifts));
  }
  return SlotOp::create(b, loc, schedule.crossedType(crossing),
                        crossedRing(crossing), number, ValueRange{row, column},
                        presence, garbage);
}

/// Each warpgroup stages its part. Products that do not cross may start before
/// all are there. Where all meet, whoever stages the next step's but one has
/// met the others once more, and they have finished the products that read it.
void RoleKernel::emitCrossingStage(const RoleCrossing &crossing, Cursor at,
                                   IRMapping &mapping) {
  StageOp stage = crossing.stage;
  Value source = valueOf(stage.getSource(), mapping);
  if (schedule.crossingsAreLate)
    WaitOp::create(b, loc, crossedBarriers(crossing).empty, at.stage,
                   arith::XOrIOp::create(b, loc, at.parity, i32(1)));
  for (int64_t part = 0; part < crossing.rowParts; ++part) {
    Value columns = source;
    if (crossing.rowParts > 1)
      columns =
          ColumnsOp::create(b, loc, panelOf(source.getType(), crossing.rowAxis),
                            source, crossing.rowAxis, part * panelCols);
    StageOp::create(b, stage.getLoc(), columns,
                    crossedSlot(crossing, at, warpgroup, i32(part), mapping));
  }
  if (!schedule.crossingsAreLate) {
    ProxyFenceOp::create(b, loc);
    return;
  }
  WarpSyncOp::create(b, loc);
  ArriveOp::create(b, loc, crossedBarriers(crossing).full, at.stage, true);
}

/// All warpgroups have staged their parts.
void RoleKernel::meetAtCrossing() {
  NamedBarrierOp::create(b, loc, i32(crossBarrier()),
                         threadsPerWarpgroup * plan.warpgroups, false);
}

/// The parts of the resident operands that other warpgroups have, too.
void RoleKernel::awaitCrossed(Cursor tile, IRMapping &mapping) {
  crossedOperands.clear();
  for (const RoleCrossing &crossing : schedule.firstCrossings())
    for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident)) {
      if (copy.copy.getBuffer() != crossing.resident)
        continue;
      auto &slots = crossedOperands.emplace_back();
      for (int64_t part = 0; part < plan.warpgroups; ++part) {
        Contents contents = contentsOf(copy, rowsBefore(i32(part)), mapping);
        Value slot = SlotOp::create(
            b, loc, ring.slot, ring.buffer,
            add(mul(tile.stage, i32(plan.warpgroups)), i32(part)),
            contents.indices, contents.presence, contents.garbage);
        if (crossing.rowParts == 1)
          slot = PanelOp::create(b, loc, panelType(ring.slot), slot, warpgroup);
        slots.push_back(slot);
      }
    }
}

/// One product per warpgroup that has staged a part, into one sum.
Value RoleKernel::startCrossing(const RoleCrossing &crossing, Cursor at,
                                IRMapping &mapping) {
  MmaOp product = crossing.product;
  size_t number = numberOf(crossing, plan);
  bool isStagedFirst = product.getLhs() != crossing.resident;
  // Of the first part, as sm.wgmma has it; slots say the same of all.
  Shifts shifts = crossedShifts(crossing, i32(0), warpgroup);
  SmallVector<Value> factors, presence;
  for (Value p : product.getPresence())
    presence.push_back(recomputed(p, mapping, crossedLanes, shifts));
  for (int64_t part = 0; part < plan.warpgroups; ++part) {
    Value staged = crossedSlot(crossing, at, i32(part), warpgroup, mapping),
          operand = crossedOperands[number][part];
    factors.append(
        {isStagedFirst ? staged : operand, isStagedFirst ? operand : staged});
  }
  SmallVector<StringRef> over(plan.warpgroups - 1, product.getOver());
  Type type = typeOfWarpgroup(product.getType());
  if (schedule.interleavesRows(crossing))
    type = interleaveRows(type, crossing.rowAxis);
  return WgmmaOp::create(b, product.getLoc(), type, factors[0], factors[1],
                         /*init=*/Value(), ValueRange(factors).drop_front(2),
                         product.getOverAttr(), b.getStrArrayAttr(over),
                         presence);
}

} // namespace selvedge::schedule
