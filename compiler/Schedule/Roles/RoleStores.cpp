// Stores in bulk: each warpgroup stages its tile, one thread sends it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

static int64_t columnsOf(BulkStore &store) {
  return layoutOf(store.store.getValue().getType()).getAxes()[1].getSize();
}

/// Behind the last bulk store of a tile: one thread awaits that it has been
/// read.
void RoleKernel::releaseHost(Cursor tile) {
  if (!schedule.host)
    return;
  Value leads = WarpgroupLeaderOp::create(b, loc, b.getI1Type());
  auto branch = scf::IfOp::create(b, loc, TypeRange(), leads, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TmaDrainOp::create(b, loc, /*written=*/false, 0);
  ArriveOp::create(b, loc, resident[*schedule.host].empty, tile.stage, false);
}

/// All warps of a warpgroup meet.
void RoleKernel::meetInWarpgroup() {
  NamedBarrierOp::create(b, loc,
                         add(warpgroup, i32(turnBarrier + plan.warpgroups)),
                         threadsPerWarpgroup, false);
}

/// A buffer is free once the bulk store before has read it; all threads have
/// written it, and their writes are visible to bulk copies, before the next.
/// Where a tile is staged in parts each part has the next buffer of a ring, and
/// is computed before that is free.
LogicalResult RoleKernel::emitBulkStore(BulkStore &store, IRMapping &mapping) {
  BufferType type = schedule.storeType(store);
  int64_t ring = schedule.storeSlots(store) / plan.warpgroups;
  // Stores of one output follow each other; those of others are not counted.
  int64_t pending = plan.stores.size() == 1 ? ring - 1 : 0;
  SmallVector<Value> slots;
  for (int64_t i = 0; i < ring; ++i) {
    Value buffer = schedule.host ? resident[*schedule.host].buffer
                                 : staging.lookup(store.store);
    Value number = warpgroup;
    if (schedule.host)
      number = add(mul(hostAt.stage, i32(plan.warpgroups)), warpgroup);
    else if (ring > 1)
      number = add(arith::MulIOp::create(b, loc, warpgroup, i32(ring)), i32(i));
    slots.push_back(SlotOp::create(b, loc, type, buffer, number));
  }
  SmallVector<Value> indices;
  for (Value start : store.starts)
    indices.push_back(start ? scalar(start, mapping) : i32(0));
  indices[store.rowDimension] =
      add(indices[store.rowDimension], warpgroupRow());
  Location clipped = tile::withExtents(store.store.getLoc(), store.extents);
  Value leads = WarpgroupLeaderOp::create(b, loc, b.getI1Type());
  Value value = store.store.getValue();
  bool isWhole = schedule.storeParts == 1;
  int64_t parts = columnsOf(store) / type.getCols();
  for (int64_t part = 0; part < parts; ++part) {
    int64_t first = part * type.getCols();
    IRMapping columns;
    if (!isWhole && failed(emitPart(value, store.colAxis, first, type.getCols(),
                                    mapping, columns)))
      return failure();
    if (!areStoresDrained || part >= ring) {
      TmaDrainOp::create(b, loc, /*written=*/false, pending);
      meetInWarpgroup();
    }
    Value slot = slots[part % ring];
    StageOp::create(b, loc, valueOf(value, isWhole ? mapping : columns), slot);
    ProxyFenceOp::create(b, loc);
    meetInWarpgroup();
    auto branch = scf::IfOp::create(b, loc, TypeRange(), leads, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> at(indices);
    at.back() = add(at.back(), i32(first));
    auto sent = TmaStoreOp::create(
        b, clipped, slot, valueOf(store.store.getTensor(), mapping), at);
    if (tile::addsToMemory(store.store))
      tile::setAddsToMemory(sent, /*anyOrder=*/true);
  }
  return success();
}

/// Whether the hardware can store the warpgroup's tile as it is.
Value RoleKernel::isInBulk(BulkStore &store, IRMapping &mapping) {
  Value all;
  auto demand = [&](Value holds) {
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  };
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, how, x, y);
  };
  if (store.rowExtent) {
    Value rest = arith::RemUIOp::create(
        b, loc, valueOf(store.rowExtent, mapping), i32(bulkWordElements));
    demand(compare(arith::CmpIPredicate::eq, rest, i32(0)));
  }
  for (Value condition : store.conditions) {
    std::optional<IndexLimit> limit = matchIndexLimit(condition);
    if (!limit) {
      demand(scalar(condition, mapping));
      continue;
    }
    Value last = add(add(scalar(limit->first, mapping), warpgroupRow()),
                     i32(warpgroupRows - 1));
    demand(
        compare(arith::CmpIPredicate::slt, last, scalar(limit->end, mapping)));
  }
  return all;
}

/// In bulk where rows are whole words and all there, else lane by lane.
LogicalResult RoleKernel::emitStore(BulkStore &store, IRMapping &mapping) {
  if (!store.hasLanes())
    return emitBulkStore(store, mapping);
  auto branch =
      scf::IfOp::create(b, loc, TypeRange(), isInBulk(store, mapping), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping bulk = mapping;
  if (!store.conditions.empty())
    WholeOp::create(b, loc, presenceOf(store.conditions, mapping));
  if (failed(emitBulkStore(store, bulk)))
    return failure();
  b.setInsertionPointToStart(branch.elseBlock());
  IRMapping lanes = mapping;
  lanes.map(store.store.getTensor(), lanePointers.lookup(store.store));
  for (int64_t from = 0; from < columnsOf(store); from += panelCols) {
    IRMapping part;
    for (Value operand : store.store->getOperands())
      if (failed(
              emitPart(operand, store.colAxis, from, panelCols, lanes, part)))
        return failure();
    if (failed(emitOp(*store.store, part)))
      return failure();
  }
  return success();
}

} // namespace selvedge::schedule
