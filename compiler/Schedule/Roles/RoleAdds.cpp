// What steps add to memory in bulk: each warpgroup stages its part, a warp of
// its own sends it.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Loops/IndexLimit.h"
#include "compiler/Schedule/Roles/RoleKernel.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

void RoleKernel::allocateAdds() {
  for (const BulkAdd &add : schedule.firstAdds())
    added[StoreOp(add.store).getTensor()] = AllocOp::create(
        b, loc, schedule.addType(add).withStages(plan.warpgroups));
}

/// Where a warpgroup's part begins in the tensor, and how far it lies behind
/// the first one's.
RoleKernel::AddPlace RoleKernel::placeOf(const BulkAdd &add,
                                         IRMapping &mapping) {
  AddPlace place;
  StoreOp store = add.store;
  for (auto [start, index] : llvm::zip_equal(add.starts, store.getIndices())) {
    Value first = scalar(start, mapping);
    auto range = index.getDefiningOp<RangeOp>();
    if (int64_t stride = range ? warpgroupStride(range) : 0) {
      Value by = mul(warpgroup, i32(stride));
      place.shifts.push_back(
          {layoutOf(range.getType()).getAxes()[0].getName(), by});
      first = this->add(first, by);
    }
    place.indices.push_back(first);
  }
  return place;
}

void RoleKernel::sendAdd(const BulkAdd &add, Value slot, IRMapping &mapping) {
  StoreOp store = add.store;
  OpBuilder::InsertionGuard guard(b);
  if (!add.conditions.empty()) {
    SmallVector<Value> conditions;
    for (unsigned place : add.conditions)
      conditions.push_back(scalar(store.getPresence()[place], mapping));
    Value all = conditions.front();
    for (Value more : ArrayRef(conditions).drop_front())
      all = arith::AndIOp::create(b, loc, all, more);
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, TypeRange(), all, false).thenBlock());
    WholeOp::create(b, loc, conditions);
  }
  auto sent = TmaStoreOp::create(
      b, tile::withExtents(store.getLoc(), add.extents), slot,
      valueOf(store.getTensor(), mapping), placeOf(add, mapping).indices);
  tile::setAddsToMemory(sent, /*anyOrder=*/true);
}

/// What a warpgroup stages for another warp to send: lanes outside of the
/// tensor, or of a tile that is not sent, may hold anything, others that do not
/// exist hold zero.
Value RoleKernel::addSlot(const BulkAdd &add, IRMapping &mapping) {
  StoreOp store = add.store;
  AddPlace place = placeOf(add, mapping);
  SmallVector<Value> presence;
  for (Value p : store.getPresence())
    presence.push_back(recomputed(p, mapping, crossedLanes, place.shifts));
  auto garbage = llvm::to_vector_of<int64_t>(add.extents);
  garbage.append(add.conditions.begin(), add.conditions.end());
  return SlotOp::create(
      b, loc, schedule.addType(add), added.lookup(store.getTensor()), warpgroup,
      ValueRange{place.indices[add.rowDimension], place.indices.back()},
      presence, garbage);
}

/// Whether the rows that a step adds to all exist where another step of its
/// loop follows: that begins behind them, and before their end.
static bool isWholeBeforeLast(const BulkAdd &add, scf::ForOp loop) {
  Value end = loop.getUpperBound();
  // A loop that begins at 0 or above and has a step does not end at 0.
  while (Operation *def = end.getDefiningOp()) {
    bool isCut =
        isa<arith::MaxSIOp>(def) && isConstantIntValue(def->getOperand(1), 0);
    if (!isCut && !isa<arith::TruncIOp, arith::ExtSIOp>(def))
      break;
    end = def->getOperand(0);
  }
  return llvm::all_of(add.rowPredicates, [&](Value p) {
    std::optional<IndexLimit> limit = matchIndexLimit(p);
    if (!limit || limit->first != loop.getInductionVar())
      return false;
    std::optional<int64_t> above =
        analysis::mostAbove(end, limit->end, analysis::By::Limits);
    return above && *above <= 0;
  });
}

/// Claims that all rows exist which the step before another one adds to;
/// returns whether they do.
bool RoleKernel::claimRows(const BulkAdd &add, scf::ForOp loop,
                           IRMapping &scalars) {
  if (add.rowPredicates.empty() || !isWholeBeforeLast(add, loop))
    return false;
  AddPlace place = placeOf(add, scalars);
  SmallVector<Value> claimed;
  for (Value p : add.rowPredicates)
    claimed.push_back(recomputed(p, scalars, crossedLanes, place.shifts));
  WholeOp::create(b, loc, claimed);
  return true;
}

/// `value` with zero for rows that do not exist though the tensor has them.
Value RoleKernel::addedRows(const BulkAdd &add, Value value,
                            IRMapping &scalars) {
  if (add.rowPredicates.empty())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  AddPlace place = placeOf(add, scalars);
  auto ofRows = [&](Type from) -> Type {
    StringAttr axis = layoutOf(from).getAxes()[0].getName();
    int64_t at = layoutOf(type).indexOf(axis);
    return RankedTensorType::get(
        type.getDimSize(at), getElementTypeOrSelf(from),
        LayoutAttr::get(b.getContext(), {layoutOf(type).getAxes()[at]}));
  };
  Value isRow;
  for (Value p : add.rowPredicates) {
    Value own = recomputed(p, scalars, ofRows, place.shifts);
    isRow = isRow ? arith::AndIOp::create(b, loc, isRow, own).getResult() : own;
  }
  auto condition =
      RankedTensorType::get(type.getShape(), b.getI1Type(), layoutOf(type));
  Value zero = SplatOp::create(
      b, loc, type,
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType())));
  return arith::SelectOp::create(
      b, loc, BroadcastOp::create(b, loc, condition, isRow), value, zero);
}

/// What the stores of the step at `at` add, whose scalars `scalars` knows, for
/// who sends it. Another step of `before` follows, if that is a loop.
void RoleKernel::stageAdds(ArrayRef<Operation *> stores, Cursor at,
                           IRMapping &scalars, IRMapping &mapping,
                           scf::ForOp before) {
  WaitOp::create(b, loc, sent.empty, warpgroup,
                 arith::XOrIOp::create(b, loc, sendParity(at), i32(1)));
  for (Operation *store : stores) {
    const BulkAdd &add = *schedule.addOf(store);
    Value value = valueOf(StoreOp(add.store).getValue(), mapping);
    if (!before || !claimRows(add, before, scalars))
      value = addedRows(add, value, scalars);
    StageOp::create(b, loc, value, addSlot(add, scalars));
  }
  WarpSyncOp::create(b, loc);
  ArriveOp::create(b, loc, sent.full, warpgroup, true);
}

/// Of the barriers around what the step at `at` stages: each has one place, of
/// which every step ends a phase.
Value RoleKernel::sendParity(Cursor at) {
  Value number = schedule.stages % 2 == 0
                     ? at.stage
                     : arith::XOrIOp::create(b, loc, at.stage, at.parity);
  return arith::AndIOp::create(b, loc, number, i32(1));
}

/// The roles that send what steps add to memory, a warp per warpgroup: who
/// multiplies does not wait for that.
void RoleKernel::emitSenders() {
  if (!schedule.crossingsAreLate)
    return;
  auto role = RoleOp::create(b, loc, "adds", 0, 1, schedule.copyRegisters(),
                             true, firstSender, plan.warpgroups);
  Block &block = role.getBody().emplaceBlock();
  warpgroup = block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  SmallVector<Value> carried{i32(0), i32(0)};
  auto send = [&](scf::ForOp loop, Value index, Cursor at, IRMapping &mapping) {
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), index);
    WaitOp::create(b, loc, sent.full, warpgroup, sendParity(at));
    ProxyFenceOp::create(b, loc);
    for (const BulkAdd &add : plan.adds[loop])
      sendAdd(add, addSlot(add, local), local);
    TmaDrainOp::create(b, loc, /*written=*/false, 0);
    ArriveOp::create(b, loc, sent.empty, warpgroup, false);
  };
  (void)takeTiles(
      /*isSingle=*/true, carried, [&](ValueRange place, Mail &mail) {
        Cursor step{carried[0], carried[1]};
        IRMapping mapping = outer;
        mapping.map(ValueRange(coordinates), place);
        emitEachStep(step, mapping, send);
        mail = receiveTile(mail.next, /*isSingle=*/true);
        carried[0] = step.stage;
        carried[1] = step.parity;
        return success();
      });
  TmaDrainOp::create(b, loc, /*written=*/true, 0);
}

} // namespace selvedge::schedule
