// Stores in bulk: each warpgroup stages its tile, one thread sends it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

static int64_t columnsOf(BulkStore &store) {
  return distOf(store.store.getValue().getType()).getAxes()[1].getSize();
}

int64_t RoleKernel::chooseStoreParts(int64_t bytes) {
  for (storeParts = 1;; storeParts *= 2) {
    int64_t taken = 0;
    for (BulkStore &store : plan.stores) {
      if (columnsOf(store) % (storeParts * panelCols) != 0) {
        plan.stores.clear();
        return 0;
      }
      taken += storeType(store).getBytes() * plan.warpgroups;
    }
    if (taken <= bytes || plan.stores.empty())
      return taken;
  }
}

BufferType RoleKernel::storeType(BulkStore &store) {
  auto type = cast<RankedTensorType>(store.store.getValue().getType());
  return BufferType::get(b.getContext(), plan.rowAxis, store.colAxis,
                         warpgroupRows, columnsOf(store) / storeParts,
                         type.getElementType(), /*swizzle=*/7, /*stages=*/1,
                         panelCols);
}

/// The columns of a tile from `from` on that have the buffer's size.
static RankedTensorType partOf(RankedTensorType tile, BufferType buffer) {
  SmallVector<AxisDistAttr> axes(distOf(tile).getAxes());
  SmallVector<int64_t> sizes(axes[1].getRegSizes()), shape(tile.getShape());
  sizes.back() = sizes.back() * buffer.getCols() / shape[1];
  shape[1] = buffer.getCols();
  axes[1] = AxisDistAttr::get(tile.getContext(), axes[1].getName(), sizes,
                              axes[1].getRegStrides(), axes[1].getLanes(),
                              axes[1].getWarps());
  return RankedTensorType::get(shape, tile.getElementType(),
                               DistAttr::get(tile.getContext(), axes));
}

/// The buffer is free once the bulk store before has read it; all threads have
/// written it, and their writes are visible to bulk copies, before the next.
void RoleKernel::emitBulkStore(BulkStore &store, IRMapping &mapping) {
  BufferType type = storeType(store);
  Value slot =
      SlotOp::create(b, loc, type, staging.lookup(store.store), warpgroup);
  auto meet = [&] {
    NamedBarrierOp::create(b, loc,
                           add(warpgroup, i32(turnBarrier + plan.warpgroups)),
                           threadsPerWarpgroup, false);
  };
  SmallVector<Value> indices;
  for (Value start : store.starts)
    indices.push_back(scalar(start, mapping));
  indices[store.rowDimension] =
      add(indices[store.rowDimension],
          arith::MulIOp::create(b, loc, warpgroup, i32(warpgroupRows)));
  Value tile = mapping.lookup(store.store.getValue());
  Value leads = WarpgroupLeaderOp::create(b, loc, b.getI1Type());
  for (int64_t part = 0; part < storeParts; ++part) {
    Value columns = tile;
    if (storeParts > 1)
      columns = ColumnsOp::create(
          b, loc, partOf(cast<RankedTensorType>(tile.getType()), type), tile,
          store.colAxis, part * type.getCols());
    TmaDrainOp::create(b, loc, false);
    meet();
    StageOp::create(b, loc, columns, slot);
    ProxyFenceOp::create(b, loc);
    meet();
    auto branch = scf::IfOp::create(b, loc, TypeRange(), leads, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> at(indices);
    if (part > 0)
      at.back() = add(at.back(), i32(part * type.getCols()));
    TmaStoreOp::create(b, loc, slot, mapping.lookup(store.store.getTensor()),
                       at);
  }
}

/// Where results mostly leave in bulk, the indices and predicates of lanes
/// would only take registers.
void RoleKernel::findDeferred() {
  auto isDeferred = [&](OpOperand &use) {
    if (deferred.contains(use.getOwner()))
      return true;
    auto store = llvm::find_if(plan.stores, [&](BulkStore &bulk) {
      return bulk.store == use.getOwner();
    });
    return store != plan.stores.end() && store->rowExtent &&
           use.get() != store->store.getValue();
  };
  for (Operation &op : llvm::reverse(source.getBody().front()))
    if (op.getNumResults() == 1 && op.getNumRegions() == 0 &&
        isRegisterTile(op.getResult(0).getType()) && isMemoryEffectFree(&op) &&
        !op.use_empty() && llvm::all_of(op.getUses(), isDeferred))
      deferred.insert(&op);
}

LogicalResult RoleKernel::emitDeferred(Value value, IRMapping &mapping) {
  Operation *def = value.getDefiningOp();
  if (!deferred.contains(def) || mapping.contains(value))
    return success();
  for (Value operand : def->getOperands())
    if (failed(emitDeferred(operand, mapping)))
      return failure();
  return emitOp(*def, mapping);
}

/// In bulk where rows are whole words, else lane by lane.
LogicalResult RoleKernel::emitStore(BulkStore &store, IRMapping &mapping) {
  if (!store.rowExtent) {
    emitBulkStore(store, mapping);
    return success();
  }
  Value rest = arith::RemUIOp::create(b, loc, mapping.lookup(store.rowExtent),
                                      i32(bulkWordElements));
  auto branch = scf::IfOp::create(
      b, loc, TypeRange(),
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, i32(0)),
      true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitBulkStore(store, mapping);
  b.setInsertionPointToStart(branch.elseBlock());
  IRMapping local = mapping;
  local.map(store.store.getTensor(), lanePointers.lookup(store.store));
  for (Value operand : store.store->getOperands())
    if (failed(emitDeferred(operand, local)))
      return failure();
  return emitOp(*store.store, local);
}

} // namespace selvedge::schedule
