// The role that copies, and how the others await its tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Announces the bytes of a tile and copies it.
void RoleKernel::load(BulkCopy &copy, const Ring &ring, Value stage,
                      IRMapping &mapping) {
  int64_t parts = partsOf(copy);
  ExpectOp::create(b, loc, ring.full, stage, parts * ring.slot.getBytes());
  SmallVector<Value> starts;
  for (Value start : copy.starts)
    starts.push_back(scalar(start, mapping));
  Value map = mapping.lookup(copy.copy.getTensor());
  Value first =
      parts == 1 ? stage : arith::MulIOp::create(b, loc, stage, i32(parts));
  for (int64_t part = 0; part < parts; ++part) {
    Value slot = SlotOp::create(b, loc, ring.slot, ring.buffer,
                                part ? add(first, i32(part)) : first);
    SmallVector<Value> indices(starts);
    if (part)
      indices[copy.rowDimension] =
          add(indices[copy.rowDimension], i32(part * warpgroupRows));
    TmaLoadOp::create(b, loc, map, indices, slot, ring.full, stage);
  }
}

/// The role that copies: all tiles in the order in which they are consumed.
void RoleKernel::emitCopies() {
  auto role = RoleOp::create(b, loc, "copy", 0, 1, copyRegisters, true);
  Block &block = role.getBody().emplaceBlock();
  block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  // A slot is free at first: its barrier counts as one phase ahead.
  SmallVector<Value> carried{i32(0), i32(1), i32(0), i32(1)};
  (void)takeTiles(/*isSingle=*/true, carried, [&](ValueRange place) {
    Cursor tile{carried[0], carried[1]}, step{carried[2], carried[3]};
    IRMapping mapping = outer;
    mapping.map(ValueRange(coordinates), place);
    emitTileCopies(tile, step, mapping);
    carried = {tile.stage, tile.parity, step.stage, step.parity};
    return success();
  });
}

void RoleKernel::emitTileCopies(Cursor &tile, Cursor &step,
                                IRMapping &mapping) {
  for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident)) {
    WaitOp::create(b, loc, ring.empty, tile.stage, tile.parity);
    load(copy, ring, tile.stage, mapping);
  }
  tile = advance(tile, residentStages);
  for (scf::ForOp loop : plan.loops) {
    auto steps = scf::ForOp::create(
        b, loc, scalar(loop.getLowerBound(), mapping),
        scalar(loop.getUpperBound(), mapping), scalar(loop.getStep(), mapping),
        ValueRange{step.stage, step.parity});
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(steps.getBody());
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), steps.getInductionVar());
    Cursor at{steps.getRegionIterArg(0), steps.getRegionIterArg(1)};
    for (auto [copy, ring] : llvm::zip_equal(plan.streamed[loop], streamed)) {
      WaitOp::create(b, loc, ring.empty, at.stage, at.parity);
      load(copy, ring, at.stage, local);
    }
    Cursor next = advance(at, stages);
    scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
    step = {steps.getResult(0), steps.getResult(1)};
  }
}

Value RoleKernel::awaitTile(BulkCopy &copy, const Ring &ring, Cursor at,
                            IRMapping &mapping, Value clears) {
  WaitOp::create(b, loc, ring.full, at.stage, at.parity);
  Value number = at.stage;
  if (copy.isPerWarpgroup)
    number = add(arith::MulIOp::create(b, loc, number, i32(plan.warpgroups)),
                 warpgroup);
  Value slot = SlotOp::create(b, loc, ring.slot, ring.buffer, number);
  if (copy.rowPredicates.empty())
    return slot;
  OpBuilder::InsertionGuard guard(b);
  if (clears)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, TypeRange(), clears, false).thenBlock());
  clearRows(copy, slot, mapping);
  return slot;
}

/// The predicate with one row per thread of a warpgroup.
Value RoleKernel::predicateByRow(Value p, DistAttr dist, IRMapping &mapping) {
  if (!distOf(p.getType()))
    return scalar(p, mapping);
  Operation *def = p.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : def->getOperands())
    operands.push_back(predicateByRow(operand, dist, mapping));
  OperationState state(def->getLoc(), def->getName());
  state.addOperands(operands);
  state.attributes = llvm::to_vector(def->getAttrs());
  auto shape = cast<RankedTensorType>(p.getType()).getShape();
  state.types.push_back(
      RankedTensorType::get(shape, getElementTypeOrSelf(p.getType()), dist));
  return b.create(state)->getResult(0);
}

/// Rows that a bulk copy brought although they are absent become zero: the
/// first warpgroup clears them, and no warp reads before.
void RoleKernel::clearRows(BulkCopy &copy, Value slot, IRMapping &mapping) {
  auto type = cast<BufferType>(slot.getType());
  SmallVector<int64_t> lanes{1, 2, 4, 8, 16}, warps{32, 64};
  int64_t perThread = std::max<int64_t>(1, type.getRows() / 128);
  SmallVector<int64_t> sizes, strides;
  if (perThread > 1) {
    sizes.push_back(perThread);
    strides.push_back(128);
  }
  for (int64_t &stride : warps)
    if (stride >= type.getRows())
      stride = 0;
  DistAttr dist = DistAttr::get(
      b.getContext(), {AxisDistAttr::get(b.getContext(), type.getRowAxis(),
                                         sizes, strides, lanes, warps)});
  SmallVector<Value> rows;
  for (Value p : copy.rowPredicates)
    rows.push_back(predicateByRow(p, dist, mapping));
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        warpgroup, i32(0));
  auto branch = scf::IfOp::create(b, loc, TypeRange(), isFirst, false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    ClearOp::create(b, loc, slot, rows);
    ProxyFenceOp::create(b, loc);
  }
  NamedBarrierOp::create(b, loc, i32(clearBarrier),
                         threadsPerWarpgroup * plan.warpgroups, false);
}

} // namespace selvedge::schedule
