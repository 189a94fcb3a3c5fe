// The buffers of a kernel with warp roles: their types, and how many fit.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleSchedule.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

int64_t columnsOf(const BulkStore &store) {
  return layoutOf(StoreOp(store.store).getValue().getType())
      .getAxes()[1]
      .getSize();
}

BufferType RoleSchedule::slotType(const BulkCopy &copy) const {
  BufferType type = CopyOp(copy.copy).getBuffer().getType();
  if (type.isVector())
    return type;
  bool hasOwnRows = copy.isPerWarpgroup && !copy.hasOwnColumns;
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  return BufferType::get(source->getContext(), type.getRowAxis(),
                         type.getColAxis(),
                         hasOwnRows ? warpgroupRows : type.getRows(),
                         copy.hasOwnColumns ? warpgroupRows : type.getCols(),
                         type.getElementType(), /*swizzle=*/7,
                         /*stages=*/1, panelBytes / bytes);
}

/// Tiles that lanes read have slots as those that products read have, of which
/// the plan has seen that they fit.
bool RoleSchedule::fitsReads() const {
  ArrayRef<BulkCopy> steps = firstCopies();
  if (llvm::none_of(steps, [](const BulkCopy &copy) { return copy.isRead; }))
    return true;
  int64_t bytes = addBytes();
  for (const BulkCopy &copy : plan.resident)
    bytes += stageBytes(copy);
  for (const BulkCopy &copy : steps)
    bytes += stages * stageBytes(copy);
  // A vector is released with what the step's first product reads.
  return (readsVectors() ? overlap == Overlap::Apart
                         : overlap != Overlap::InFlight) &&
         bytes + stages * crossedBytes() <= maxTileBytes;
}

int64_t RoleSchedule::stageBytes(const BulkCopy &copy) const {
  return slotType(copy).getBytes() * partsOf(copy);
}

/// The copy of a step that its first product of a copied tile reads.
size_t RoleSchedule::firstRead() const {
  scf::ForOp loop = plan.loops.front();
  for (auto mma : loop.getBody()->getOps<MmaOp>())
    if (std::optional<size_t> ring = streamedBy(loop, mma))
      return *ring;
  return 0;
}

bool RoleSchedule::readsVectors() const {
  return llvm::any_of(firstCopies(),
                      [](const BulkCopy &copy) { return copy.isVector(); });
}

void RoleSchedule::leaveStores() {
  for (const BulkStore &store : plan.stores)
    plan.laneStores.push_back(
        {store.store, "its tile does not fit in shared memory beside two slots "
                      "of each ring"});
  plan.stores.clear();
}

bool RoleSchedule::findHost() {
  auto crosses = [&](const BulkCopy &copy) {
    return llvm::any_of(firstCrossings(), [&](const RoleCrossing &crossing) {
      return CopyOp(copy.copy).getBuffer() == crossing.resident;
    });
  };
  auto fits = [&](const BulkStore &store, BufferType slot) -> bool {
    auto type =
        cast<RankedTensorType>(StoreOp(store.store).getValue().getType());
    return BufferType::get(source->getContext(), slot.getRowAxis(),
                           slot.getColAxis(), warpgroupRows, columnsOf(store),
                           type.getElementType(), /*swizzle=*/7, /*stages=*/1,
                           store.box.back()) == slot;
  };
  // The registers of other kernels do not suffice for places that change.
  if (!crossingsAreLate || lastOutside || plan.stores.empty() ||
      llvm::any_of(plan.stores,
                   [](const BulkStore &store) { return store.hasLanes(); }))
    return false;
  for (size_t i = 0; i < plan.resident.size(); ++i) {
    const BulkCopy &copy = plan.resident[i];
    bool isOwn = copy.isPerWarpgroup && !copy.hasOwnColumns && !crosses(copy);
    if (!isOwn || !llvm::all_of(plan.stores, [&](const BulkStore &store) {
          return fits(store, slotType(copy));
        }))
      continue;
    host = i;
    storeParts = 1;
    return true;
  }
  return false;
}

int64_t RoleSchedule::chooseStoreParts(int64_t bytes) {
  for (storeParts = 1;; storeParts *= 2) {
    int64_t taken = 0;
    for (const BulkStore &store : plan.stores) {
      if (columnsOf(store) % (storeParts * store.box.back()) != 0) {
        leaveStores();
        return 0;
      }
      taken += storeSlots(store) * storeType(store).getBytes();
    }
    if (taken <= bytes || plan.stores.empty())
      return taken;
  }
}

BufferType RoleSchedule::storeType(const BulkStore &store) const {
  auto type = cast<RankedTensorType>(StoreOp(store.store).getValue().getType());
  return BufferType::get(
      source->getContext(), plan.rowAxis, store.colAxis, warpgroupRows,
      storeParts == 1 ? columnsOf(store) : store.box.back(),
      type.getElementType(), /*swizzle=*/7, /*stages=*/1, store.box.back());
}

int64_t RoleSchedule::storeSlots(const BulkStore &store) const {
  return plan.warpgroups * columnsOf(store) /
         (storeParts * storeType(store).getCols());
}

/// Whether the rows of the product are the staged ones and leave through a
/// buffer of 32-bit elements, which no lane reads by row.
bool RoleSchedule::interleavesRows(const RoleCrossing &crossing) const {
  LayoutAttr layout =
      layoutOf(typeOfWarpgroup(MmaOp(crossing.product).getResult().getType()));
  return crossingsAreLate &&
         isAccumulatorRows(layout.getAxes()[layout.indexOf(crossing.rowAxis)],
                           /*isInterleaved=*/false);
}

/// A warpgroup's part of a staged tile: 64 rows of the product by the 64 lanes
/// that it sums over.
BufferType RoleSchedule::crossedType(const RoleCrossing &crossing) const {
  Type element =
      getElementTypeOrSelf(StageOp(crossing.stage).getSource().getType());
  auto type =
      BufferType::get(source->getContext(), crossing.rowAxis, plan.rowAxis,
                      warpgroupRows, panelCols, element, /*swizzle=*/7,
                      /*stages=*/1, panelCols);
  return interleavesRows(crossing) ? type.withInterleavedRows() : type;
}

ArrayRef<RoleCrossing> RoleSchedule::firstCrossings() const {
  auto found = plan.crossings.find(plan.loops.front());
  return found == plan.crossings.end() ? ArrayRef<RoleCrossing>()
                                       : ArrayRef(found->second);
}

int64_t RoleSchedule::crossedBytes() const {
  int64_t bytes = 0;
  for (const RoleCrossing &crossing : firstCrossings())
    bytes +=
        plan.warpgroups * crossing.rowParts * crossedType(crossing).getBytes();
  return bytes;
}

ArrayRef<BulkAdd> RoleSchedule::firstAdds() const {
  auto found = plan.adds.find(plan.loops.front());
  return found == plan.adds.end() ? ArrayRef<BulkAdd>()
                                  : ArrayRef(found->second);
}

const BulkAdd *RoleSchedule::addOf(Operation *store) const {
  for (const auto &[loop, all] : plan.adds)
    for (const BulkAdd &add : all)
      if (add.store == store)
        return &add;
  return nullptr;
}

/// Staging of one warpgroup's part: its rows, and the columns that it has.
BufferType RoleSchedule::addType(const BulkAdd &add) const {
  auto type = cast<RankedTensorType>(
      typeOfWarpgroup(StoreOp(add.store).getValue().getType()));
  const RoleCrossing &crossing =
      *plan.crossingOf(StoreOp(add.store).getValue().getDefiningOp());
  LayoutAttr layout = layoutOf(type);
  int64_t rows = layout.indexOf(crossing.rowAxis);
  return BufferType::get(source->getContext(), crossing.rowAxis,
                         layout.getAxes()[1 - rows].getName(), warpgroupRows,
                         type.getDimSize(1 - rows), type.getElementType(),
                         /*swizzle=*/7, /*stages=*/1, add.box.back());
}

int64_t RoleSchedule::addBytes() const {
  int64_t bytes = 0;
  for (const BulkAdd &add : firstAdds())
    bytes += plan.warpgroups * addType(add).getBytes();
  return bytes;
}

int64_t RoleSchedule::bytesTaken() const {
  int64_t bytes = addBytes() + stages * crossedBytes();
  for (const BulkCopy &copy : plan.resident)
    bytes += residentStages * stageBytes(copy);
  for (const BulkCopy &copy : firstCopies())
    bytes += stages * stageBytes(copy);
  for (const BulkStore &store : plan.stores)
    if (!host)
      bytes += storeSlots(store) * storeType(store).getBytes();
  return bytes;
}

void RoleSchedule::chooseSlots() {
  int64_t tileBytes = 0, stepBytes = 0;
  for (const BulkCopy &copy : plan.resident)
    tileBytes += stageBytes(copy);
  for (const BulkCopy &copy : firstCopies())
    stepBytes += stageBytes(copy);
  stepBytes += crossedBytes();
  // Where there is room: results are staged, and the next tile's operands
  // arrive during this one. Where steps bring all operands they come first.
  int64_t wanted = plan.resident.empty() ? maxSlots : stages;
  int64_t storeBytes =
      addBytes() + chooseStoreParts(maxTileBytes - tileBytes - addBytes() -
                                    wanted * stepBytes);
  int64_t taken = tileBytes + stages * stepBytes + storeBytes;
  if (taken + tileBytes <= maxTileBytes) {
    residentStages = 2;
    taken += tileBytes;
  } else if (int64_t without = taken - storeBytes + addBytes();
             without + tileBytes <= maxTileBytes && findHost()) {
    residentStages = 2;
    taken = without + tileBytes;
  }
  // Idle steps may have one more if that is enough for them.
  bool wantsOneMore =
      mostIdleSteps() > 0 && slotsForIdleSteps() == maxSlots + 1;
  int64_t most = maxSlots + wantsOneMore;
  for (; stages < most && taken + stepBytes <= maxTileBytes; ++stages)
    taken += stepBytes;
  smemBytes = bytesTaken();
}

} // namespace selvedge::schedule
