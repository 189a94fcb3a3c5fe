// What steps add to memory in bulk: each warpgroup stages its part, one thread
// sends it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

ArrayRef<BulkAdd> RoleKernel::firstAdds() const {
  auto found = plan.adds.find(plan.loops.front());
  return found == plan.adds.end() ? ArrayRef<BulkAdd>()
                                  : ArrayRef(found->second);
}

const BulkAdd *RoleKernel::addOf(Operation *store) const {
  for (const auto &[loop, all] : plan.adds)
    for (const BulkAdd &add : all)
      if (add.store == store)
        return &add;
  return nullptr;
}

/// Staging of one warpgroup's part: its rows, and the columns that it has.
BufferType RoleKernel::addType(const BulkAdd &add) {
  auto type =
      cast<RankedTensorType>(convert(StoreOp(add.store).getValue().getType()));
  const RoleCrossing &crossing =
      *plan.crossingOf(StoreOp(add.store).getValue().getDefiningOp());
  DistAttr dist = distOf(type);
  int64_t rows = dist.indexOf(crossing.rowAxis);
  return BufferType::get(b.getContext(), crossing.rowAxis,
                         dist.getAxes()[1 - rows].getName(), warpgroupRows,
                         type.getDimSize(1 - rows), type.getElementType(),
                         /*swizzle=*/7, /*stages=*/1, add.box.back());
}

int64_t RoleKernel::addBytes() {
  int64_t bytes = 0;
  for (const BulkAdd &add : firstAdds())
    bytes += plan.warpgroups * addType(add).getBytes();
  return bytes;
}

void RoleKernel::allocateAdds() {
  for (const BulkAdd &add : firstAdds())
    added[StoreOp(add.store).getTensor()] =
        AllocOp::create(b, loc, addType(add).withStages(plan.warpgroups));
}

/// All warps of a warpgroup meet.
void RoleKernel::meetInWarpgroup() {
  NamedBarrierOp::create(b, loc,
                         add(warpgroup, i32(turnBarrier + plan.warpgroups)),
                         threadsPerWarpgroup, false);
}

/// The buffer is free once what the step before left there has been read, which
/// the thread that sends it awaits. Its slot.
Value RoleKernel::stageAdd(const BulkAdd &add, IRMapping &mapping) {
  StoreOp store = add.store;
  TmaDrainOp::create(b, loc, /*written=*/false, 0);
  meetInWarpgroup();
  Value slot = SlotOp::create(b, loc, addType(add),
                              added.lookup(store.getTensor()), warpgroup);
  StageOp::create(b, loc, valueOf(store.getValue(), mapping), slot);
  meetInWarpgroup();
  return slot;
}

/// Sends what all threads have staged. No product may be in flight: ptxas
/// awaits them at the branch.
void RoleKernel::sendAdd(const BulkAdd &add, Value slot, IRMapping &mapping) {
  StoreOp store = add.store;
  SmallVector<Value> indices;
  for (auto [start, index] : llvm::zip_equal(add.starts, store.getIndices())) {
    Value first = scalar(start, mapping);
    auto range = index.getDefiningOp<RangeOp>();
    int64_t stride = range ? warpgroupStride(range) : 0;
    indices.push_back(stride ? this->add(first, mul(warpgroup, i32(stride)))
                             : first);
  }
  Value leads = WarpgroupLeaderOp::create(b, loc, b.getI1Type());
  auto branch = scf::IfOp::create(b, loc, TypeRange(), leads, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  ProxyFenceOp::create(b, loc);
  auto sent =
      TmaStoreOp::create(b, tile::withExtents(store.getLoc(), add.extents),
                         slot, valueOf(store.getTensor(), mapping), indices);
  tile::setAddsToMemory(sent);
}

} // namespace selvedge::schedule
