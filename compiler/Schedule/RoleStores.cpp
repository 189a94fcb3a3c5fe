// Stores in bulk: each warpgroup stages its tile, one thread sends it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

BufferType RoleKernel::storeType(BulkStore &store) {
  auto type = cast<RankedTensorType>(store.store.getValue().getType());
  return BufferType::get(b.getContext(), plan.rowAxis, store.colAxis,
                         warpgroupRows, distOf(type).getAxes()[1].getSize(),
                         type.getElementType(), /*swizzle=*/7, /*stages=*/1,
                         panelCols);
}

/// The buffer is free once the bulk store before has read it; all threads have
/// written it, and their writes are visible to bulk copies, before the next.
void RoleKernel::emitStore(BulkStore &store, IRMapping &mapping) {
  BufferType type = storeType(store);
  Value slot =
      SlotOp::create(b, loc, type, staging.lookup(store.store), warpgroup);
  auto meet = [&] {
    NamedBarrierOp::create(b, loc,
                           add(warpgroup, i32(turnBarrier + plan.warpgroups)),
                           threadsPerWarpgroup, false);
  };
  TmaDrainOp::create(b, loc, false);
  meet();
  StageOp::create(b, loc, mapping.lookup(store.store.getValue()), slot);
  ProxyFenceOp::create(b, loc);
  meet();
  SmallVector<Value> indices;
  for (Value start : store.starts)
    indices.push_back(scalar(start, mapping));
  indices[store.rowDimension] =
      add(indices[store.rowDimension], warpgroupRow());
  auto branch = scf::IfOp::create(
      b, loc, TypeRange(), WarpgroupLeaderOp::create(b, loc, b.getI1Type()),
      false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  TmaStoreOp::create(b, loc, slot, mapping.lookup(store.store.getTensor()),
                     indices);
}

} // namespace selvedge::schedule
