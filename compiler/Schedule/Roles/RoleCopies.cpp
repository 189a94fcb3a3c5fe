// The role that copies, and how the others await its tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Awaits a free stage, announces its bytes and copies a tile.
void RoleKernel::load(BulkCopy &copy, const Ring &ring, Cursor at,
                      IRMapping &mapping) {
  Value stage = at.stage;
  if (ring.guarded) {
    WaitOp::create(b, loc, ring.empty, stage, at.parity);
    ExpectOp::create(b, loc, ring.full, stage, ring.guarded);
  }
  int64_t parts = schedule.partsOf(copy);
  Value map = otherMaps.lookup(mapArgument(copy));
  if (!map)
    map = valueOf(copy.copy.getTensor(), mapping);
  Value first =
      parts == 1 ? stage : arith::MulIOp::create(b, loc, stage, i32(parts));
  for (int64_t part = 0; part < parts; ++part) {
    Value slot = SlotOp::create(b, loc, schedule.slotType(copy), ring.buffer,
                                part ? add(first, i32(part)) : first);
    Contents contents =
        contentsOf(copy, part ? i32(part * warpgroupRows) : Value(), mapping);
    TmaLoadOp::create(b, tile::withExtents(copy.copy.getLoc(), copy.extents),
                      map, contents.indices, contents.presence, slot, ring.full,
                      stage);
  }
}

Value RoleKernel::recomputed(Value p, IRMapping &mapping,
                             llvm::function_ref<Type(Type)> retype,
                             Value rowShift) {
  Shifts shifts;
  if (rowShift)
    shifts.push_back({plan.rowAxis, rowShift});
  return recomputed(p, mapping, retype, shifts);
}

Value RoleKernel::recomputed(Value p, IRMapping &mapping,
                             llvm::function_ref<Type(Type)> retype,
                             const Shifts &shifts) {
  if (!layoutOf(p.getType()))
    return scalar(p, mapping);
  Operation *def = p.getDefiningOp();
  if (!def)
    return standIn(p);
  IRMapping operands;
  for (Value operand : def->getOperands())
    operands.map(operand, recomputed(operand, mapping, retype, shifts));
  Operation *clone = b.clone(*def, operands);
  clone->getResult(0).setType(retype(p.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    constant.setValueAttr(
        cast<DenseElementsAttr>(constant.getValue())
            .resizeSplat(cast<ShapedType>(constant.getType())));
  auto range = dyn_cast<RangeOp>(clone);
  if (!range)
    return clone->getResult(0);
  StringAttr axis = layoutOf(range.getType()).getAxes()[0].getName();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(range);
  for (auto [shifted, by] : shifts)
    if (shifted == axis)
      range.getStartMutable().assign(add(range.getStart(), by));
  return range;
}

RoleKernel::Contents RoleKernel::contentsOf(BulkCopy &copy, Value rowShift,
                                            IRMapping &mapping) {
  Contents contents;
  for (auto [start, shift] : llvm::zip_equal(copy.starts, copy.shifts)) {
    Value first = start ? scalar(start, mapping) : i32(0);
    contents.indices.push_back(shift ? add(scalar(shift, mapping), first)
                                     : first);
  }
  if (rowShift) {
    Value &first = contents.indices[copy.partDimension];
    first = add(first, rowShift);
  }
  // Nobody computes it: every thread may hold all lanes.
  auto whole = [&](Type type) -> Type {
    SmallVector<int64_t> shape;
    SmallVector<AxisLayoutAttr> axes;
    for (auto [axis, size] :
         llvm::zip_equal(layoutOf(type).getAxes(),
                         cast<RankedTensorType>(type).getShape())) {
      bool isPart = copy.isPerWarpgroup && axis.getName() == plan.rowAxis;
      shape.push_back(isPart ? warpgroupRows : size);
      axes.push_back(AxisLayoutAttr::get(b.getContext(), axis.getName(),
                                         shape.back(), 1, {0, 0, 0, 0, 0},
                                         {0, 0}));
    }
    return RankedTensorType::get(shape, getElementTypeOrSelf(type),
                                 LayoutAttr::get(b.getContext(), axes));
  };
  for (auto [i, p] : llvm::enumerate(copy.copy.getPresence())) {
    contents.presence.push_back(recomputed(p, mapping, whole, rowShift));
    if (llvm::is_contained(copy.garbagePredicates, p))
      contents.garbage.push_back(static_cast<int64_t>(i));
  }
  return contents;
}

/// Predicates of one of the two copies concern the case that its loop has the
/// step; those of both concern either.
RoleKernel::Contents RoleKernel::contentsOf(const Meant &meant, Value rowShift,
                                            IRMapping &mapping) {
  Contents contents = contentsOf(*meant.copy, rowShift, mapping);
  if (!meant.first)
    return contents;
  Contents first = contentsOf(*meant.first, rowShift, mapping);
  Value isLast = negated(meant.isFirst);
  Contents both{contents.indices, {}};
  auto add = [&](BulkCopy &copy, BulkCopy &other, ArrayRef<Value> emitted,
                 Value unless, bool keepsShared) {
    ValueRange others = other.copy.getPresence();
    for (auto [p, there] : llvm::zip_equal(copy.copy.getPresence(), emitted)) {
      Value value = there;
      bool isShared = llvm::is_contained(others, p);
      if (isShared && !keepsShared)
        continue;
      if (!isShared) {
        Value spread =
            isa<RankedTensorType>(value.getType())
                ? SplatOp::create(b, loc, value.getType(), unless).getResult()
                : unless;
        value = arith::OrIOp::create(b, loc, value, spread);
      }
      if (llvm::is_contained(copy.garbagePredicates, p))
        both.garbage.push_back(static_cast<int64_t>(both.presence.size()));
      both.presence.push_back(value);
    }
  };
  add(*meant.copy, *meant.first, contents.presence, meant.isFirst, true);
  add(*meant.first, *meant.copy, first.presence, isLast, false);
  return both;
}

SmallVector<Value> RoleKernel::pack(const LaggedCopy &copy) {
  SmallVector<Value> values{copy.exists};
  values.append(copy.place);
  values.append({copy.index, copy.at.stage, copy.at.parity});
  return values;
}

RoleKernel::LaggedCopy RoleKernel::unpackCopy(ValueRange values) {
  size_t n = coordinates.size();
  return {values[0],
          llvm::to_vector(values.slice(1, n)),
          values[n + 1],
          {values[n + 2], values[n + 3]}};
}

/// What the lagged product reads is copied one step later than the rest: its
/// slot becomes free after theirs.
std::optional<size_t> RoleKernel::laggedCopy() {
  scf::ForOp last = plan.loops.back();
  return schedule.lags() ? schedule.streamedBy(last, schedule.lagged[last])
                         : std::nullopt;
}

/// Copies the tiles of a step, as `loop` has it, or only the lagged one.
void RoleKernel::emitStepCopies(scf::ForOp loop, Value index, Cursor at,
                                bool isLagged, IRMapping mapping) {
  mapping.map(loop.getInductionVar(), index);
  std::optional<size_t> late = laggedCopy();
  // Vectors come behind the tile that their barriers are for.
  for (bool areVectors : {false, true})
    for (auto [i, copy] : llvm::enumerate(plan.streamed[loop]))
      if (copy.isVector() == areVectors && (!late || (i == *late) == isLagged))
        load(copy, streamed[i], at, mapping);
}

void RoleKernel::emitLaggedCopy(const LaggedCopy &pending) {
  auto branch = scf::IfOp::create(b, loc, TypeRange(), pending.exists, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping = outer;
  mapping.map(ValueRange(coordinates), pending.place);
  // The last loop tests every predicate, and so says what exists of any tile.
  emitStepCopies(plan.loops.back(), pending.index, pending.at,
                 /*isLagged=*/true, mapping);
}

/// The role that copies: all tiles in the order in which they are consumed.
void RoleKernel::emitCopies() {
  auto role =
      RoleOp::create(b, loc, "copy", 0, 1, schedule.copyRegisters(), true);
  Block &block = role.getBody().emplaceBlock();
  block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  // A slot is free at first: its barrier counts as one phase ahead.
  SmallVector<Value> carried{i32(0), i32(1), i32(0), i32(1)};
  size_t cursors = carried.size();
  if (laggedCopy() && schedule.isPipelined())
    carried.append(
        pack(LaggedCopy{arith::ConstantIntOp::create(b, loc, 0, 1),
                        SmallVector<Value>(coordinates.size(), i32(0)),
                        i32(0),
                        {i32(0), i32(0)}}));
  (void)takeTiles(
      /*isSingle=*/true, carried, [&](ValueRange place, Mail &mail) {
        emitTileCopies(place, carried, cursors, mail);
        return success();
      });
  if (carried.size() > cursors)
    emitLaggedCopy(unpackCopy(ValueRange(carried).drop_front(cursors)));
}

/// What a role does in the steps of a loop.
void RoleKernel::emitStepsOf(scf::ForOp loop, Cursor &step, IRMapping &mapping,
                             StepEmitter emitStep) {
  auto steps = scf::ForOp::create(
      b, loop.getLoc(), scalar(loop.getLowerBound(), mapping),
      scalar(loop.getUpperBound(), mapping), scalar(loop.getStep(), mapping),
      ValueRange{step.stage, step.parity});
  OpBuilder::InsertionGuard inner(b);
  b.setInsertionPointToEnd(steps.getBody());
  Cursor at{steps.getRegionIterArg(0), steps.getRegionIterArg(1)};
  emitStep(loop, steps.getInductionVar(), at, mapping);
  Cursor next = advance(at, schedule.stages);
  scf::YieldOp::create(b, loc, ValueRange{next.stage, next.parity});
  step = {steps.getResult(0), steps.getResult(1)};
}

/// The same in the loops of a nest.
void RoleKernel::emitNestSteps(scf::ForOp nest, Cursor &step,
                               const IRMapping &mapping, StepEmitter emitStep) {
  IRMapping local = mapping;
  auto loop = scf::ForOp::create(
      b, nest.getLoc(), scalar(nest.getLowerBound(), local),
      scalar(nest.getUpperBound(), local), scalar(nest.getStep(), local),
      ValueRange{step.stage, step.parity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  local.map(nest.getInductionVar(), loop.getInductionVar());
  step = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  for (auto inner : nest.getBody()->getOps<scf::ForOp>())
    if (plan.streamed.contains(inner))
      emitStepsOf(inner, step, local, emitStep);
    else
      emitNestSteps(inner, step, local, emitStep);
  scf::YieldOp::create(b, loc, ValueRange{step.stage, step.parity});
  step = {loop.getResult(0), loop.getResult(1)};
}

/// The same in the steps of one tile.
void RoleKernel::emitEachStep(Cursor &step, IRMapping &mapping,
                              StepEmitter emitStep) {
  if (plan.nest)
    return emitNestSteps(plan.nest, step, mapping, emitStep);
  for (scf::ForOp loop : plan.loops)
    emitStepsOf(loop, step, mapping, emitStep);
}

/// The same where one copy lags: that of the first step of a tile comes beside
/// the second one, that of the last beside the first of the next tile.
void RoleKernel::emitLaggingSteps(ValueRange place, Cursor &step,
                                  MutableArrayRef<Value> carried,
                                  IRMapping &mapping) {
  TileSteps bounds = findSteps(mapping);
  SmallVector<Value> values{step.stage, step.parity};
  llvm::append_range(values, carried);
  auto branch = scf::IfOp::create(b, loc, ValueRange(values).getTypes(),
                                  bounds.exists, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::ForOp last = plan.loops.back();
  emitStepCopies(last, bounds.first, step, /*isLagged=*/false, mapping);
  if (!carried.empty())
    emitLaggedCopy(unpackCopy(carried));
  Cursor next = advance(step, schedule.stages);
  SmallVector<Value> state{bounds.first, step.stage, step.parity, next.stage,
                           next.parity};
  for (const LoopSteps &further : furtherSteps(bounds)) {
    scf::ForOp loop = further.loop;
    auto steps = scf::ForOp::create(b, loop.getLoc(), further.from, further.to,
                                    bounds.step, state);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(steps.getBody());
    ValueRange before = steps.getRegionIterArgs();
    Cursor at{before[3], before[4]};
    Value index = indexOf(further, steps.getInductionVar());
    emitStepCopies(loop, index, at, /*isLagged=*/false, mapping);
    emitStepCopies(last, before[0], {before[1], before[2]}, /*isLagged=*/true,
                   mapping);
    next = advance(at, schedule.stages);
    scf::YieldOp::create(
        b, loc,
        ValueRange{index, at.stage, at.parity, next.stage, next.parity});
    state = llvm::to_vector_of<Value>(steps.getResults());
  }
  SmallVector<Value> left{state[3], state[4]};
  if (carried.empty())
    emitStepCopies(last, state[0], {state[1], state[2]}, /*isLagged=*/true,
                   mapping);
  else
    left.append(pack({arith::ConstantIntOp::create(b, loc, 1, 1),
                      llvm::to_vector(place),
                      state[0],
                      {state[1], state[2]}}));
  scf::YieldOp::create(b, loc, left);
  b.setInsertionPointToStart(branch.elseBlock());
  // Nobody goes on to the next tile before rows of that copy are cleared.
  if (!carried.empty()) {
    emitLaggedCopy(unpackCopy(carried));
    values[2] = arith::ConstantIntOp::create(b, loc, 0, 1);
  }
  scf::YieldOp::create(b, loc, values);
  step = {branch.getResult(0), branch.getResult(1)};
  llvm::copy(branch.getResults().drop_front(2), carried.begin());
}

void RoleKernel::emitTileCopies(ValueRange place,
                                MutableArrayRef<Value> carried, size_t cursors,
                                Mail &mail) {
  Cursor tile{carried[0], carried[1]}, step{carried[2], carried[3]};
  IRMapping mapping = outer;
  mapping.map(ValueRange(coordinates), place);
  for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident))
    load(copy, ring, tile, mapping);
  tile = advance(tile, schedule.residentStages);
  if (laggedCopy())
    emitLaggingSteps(place, step, carried.drop_front(cursors), mapping);
  else
    emitEachStep(step, mapping,
                 [&](scf::ForOp loop, Value index, Cursor at, IRMapping &in) {
                   emitStepCopies(loop, index, at, /*isLagged=*/false, in);
                 });
  mail = receiveTile(mail.next, /*isSingle=*/true);
  llvm::copy(ArrayRef<Value>{tile.stage, tile.parity, step.stage, step.parity},
             carried.begin());
}

Value RoleKernel::awaitTile(BulkCopy &copy, const Ring &ring, Cursor at,
                            IRMapping &mapping, std::optional<Meant> meant,
                            bool hasCome) {
  if (ring.guarded && !hasCome)
    WaitOp::create(b, loc, ring.full, at.stage, at.parity);
  Value number = at.stage, rowShift;
  if (copy.isPerWarpgroup) {
    number = add(arith::MulIOp::create(b, loc, number, i32(plan.warpgroups)),
                 warpgroup);
    rowShift = warpgroupRow();
  }
  Contents contents =
      contentsOf(meant.value_or(Meant{&copy}), rowShift, mapping);
  return SlotOp::create(b, loc, schedule.slotType(copy), ring.buffer, number,
                        contents.indices, contents.presence, contents.garbage);
}

/// The place among a loop's copies of the one that brings what lanes read.
size_t RoleKernel::copyOf(ReadOp read) {
  SmallVector<BulkCopy> &copies =
      plan.streamed.find(read->getParentOfType<scf::ForOp>())->second;
  // stageLoads() has put the copy beside it.
  return llvm::find_if(copies,
                       [&](BulkCopy &brought) {
                         return brought.copy.getBuffer() == read.getBuffer();
                       }) -
         copies.begin();
}

Value RoleKernel::awaitRead(ReadOp read, Cursor at, IRMapping &mapping) {
  auto loop = read->getParentOfType<scf::ForOp>();
  size_t number = copyOf(read);
  return awaitTile(plan.streamed[loop][number], streamed[number], at, mapping);
}

Value RoleKernel::vectorSlot(ReadOp read, Cursor at, IRMapping &mapping) {
  Value &slot = slots[read.getBuffer()];
  if (!slot)
    slot = awaitRead(read, at, mapping);
  return slot;
}

/// What lanes read may still be on its way when one of them arrives, and the
/// next bulk copy would overtake it: without the fence one launch in a hundred
/// has rows of two steps. It waits for products in flight, too (3 % at D 128);
/// behind the softmax, where there are none, the slot is free too late (another
/// 3 %, at D 64 4 %). Vectors are released with a tile that products read.
void RoleKernel::emitRead(ReadOp read, Cursor at, IRMapping &mapping) {
  bool isVector = read.getBuffer().getType().isVector();
  if (Value spread = spreadReads.lookup(read.getBuffer());
      spread && useSpread(read, spread, mapping))
    return;
  Value slot =
      isVector ? vectorSlot(read, at, mapping) : awaitRead(read, at, mapping);
  mapping.map(
      read.getResult(),
      ReadOp::create(b, read.getLoc(), typeOfWarpgroup(read.getType()), slot)
          .getResult());
  if (isVector)
    return;
  ProxyFenceOp::create(b, loc);
  // One thread arrives for all of its warp.
  WarpSyncOp::create(b, loc);
  ArriveOp::create(b, loc, streamed[copyOf(read)].empty, at.stage, true);
}

/// Awaits the tiles if any of them has absent rows, and clears those.
void RoleKernel::clearTiles(ArrayRef<StepTile> tiles, Cursor at, bool inFirst,
                            bool isBeforeTurn) {
  SmallVector<StepTile> cleared;
  llvm::copy_if(tiles, std::back_inserter(cleared), [&](const StepTile &tile) {
    return schedule.isCleared(*tile.copy, inFirst);
  });
  if (cleared.empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  if (Value absent = anyRowAbsent(cleared))
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, TypeRange(), absent, false).thenBlock());
  clearRows(cleared, at, isBeforeTurn);
}

/// The same of a tile of which each warpgroup has rows of its own.
void RoleKernel::clearOwnRows(StepTile tile, Cursor at) {
  if (tile.copy->rowPredicates.empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  if (Value absent = anyRowAbsent(tile))
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, TypeRange(), absent, false).thenBlock());
  emitClear(tile, at);
  ProxyFenceOp::create(b, clearLocation(tile));
  NamedBarrierOp::create(b, clearLocation(tile),
                         add(warpgroup, i32(turnBarrier + plan.warpgroups)),
                         threadsPerWarpgroup, false);
}

/// Both, where nothing stands between them.
Value RoleKernel::clearedTile(BulkCopy &copy, const Ring &ring, Cursor at,
                              IRMapping &mapping, ArrayRef<StepTile> vectors) {
  StepTile tile{&copy, &ring, {&copy}, mapping};
  SmallVector<StepTile> shared;
  if (copy.isPerWarpgroup)
    clearOwnRows(tile, at);
  else
    shared.push_back(tile);
  llvm::append_range(shared, vectors);
  clearTiles(shared, at, /*inFirst=*/true, /*isBeforeTurn=*/false);
  return awaitTile(copy, ring, at, mapping);
}

/// Of what absent rows are cleared, or absent columns of a vector: their axis
/// and how many there are.
static std::pair<StringAttr, int64_t> clearedExtent(BufferType type) {
  return type.getAxes().front();
}

/// Whether one of the tiles has rows to be cleared; null where that is not a
/// matter of its first or last row. The warpgroups meet only if it has.
Value RoleKernel::anyRowAbsent(MutableArrayRef<StepTile> tiles) {
  Value absent;
  auto absentIf = [&](Value isAbsent) {
    absent = absent ? arith::OrIOp::create(b, loc, absent, isAbsent).getResult()
                    : isAbsent;
  };
  for (StepTile &tile : tiles)
    for (Value p : tile.copy->rowPredicates) {
      if (!layoutOf(p.getType())) {
        absentIf(negated(scalar(p, tile.mapping)));
        continue;
      }
      if (!isOfOuterRows(p))
        return {};
      std::optional<IndexLimit> end = matchIndexLimit(p),
                                start = matchIndexStart(p);
      Value first = scalar(end ? end->first : start->first, tile.mapping);
      if (tile.copy->isPerWarpgroup && !tile.copy->hasOwnColumns)
        first = add(first, warpgroupRow());
      if (start) {
        absentIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first,
                                       scalar(start->end, tile.mapping)));
        continue;
      }
      int64_t rows = clearedExtent(tile.ring->slot).second;
      absentIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                     add(first, i32(rows - 1)),
                                     scalar(end->end, tile.mapping)));
    }
  return absent;
}

/// One row per thread of a warpgroup, or several; of a vector one column.
static LayoutAttr rowPerThread(BufferType type) {
  auto [axis, rows] = clearedExtent(type);
  SmallVector<int64_t> lanes{1, 2, 4, 8, 16}, warps{32, 64};
  int64_t perThread = std::max<int64_t>(1, rows / threadsPerWarpgroup);
  SmallVector<int64_t> sizes, strides;
  if (perThread > 1) {
    sizes.push_back(perThread);
    strides.push_back(threadsPerWarpgroup);
  }
  // Of fewer rows several threads take the same: none takes one past the last,
  // which another tile holds.
  for (int64_t &stride : llvm::concat<int64_t>(lanes, warps))
    if (stride >= rows)
      stride = 0;
  return LayoutAttr::get(type.getContext(),
                         {AxisLayoutAttr::get(type.getContext(), axis, sizes,
                                              strides, lanes, warps)});
}

/// Whether the fence for the stores beside a step comes before the products
/// that read `tiles`: those of the next step.
bool RoleKernel::isFencedLater(ArrayRef<StepTile> tiles) {
  std::optional<size_t> late = laggedCopy();
  return areStoresDrained && late && tiles.size() == 1 &&
         tiles.front().ring == &streamed[*late] &&
         llvm::all_of(plan.stores,
                      [](const BulkStore &store) { return !store.hasLanes(); });
}

Location RoleKernel::clearLocation(const StepTile &tile) {
  return tile::withExtents(tile.copy->copy.getLoc(), tile.copy->extents);
}

/// Zeros for the absent rows of a tile, by a warpgroup that may read it.
void RoleKernel::emitClear(StepTile &tile, Cursor at) {
  // A vector comes with a tile, of which no row need be absent.
  if (!tile.ring->guarded)
    WaitOp::create(b, loc, tile.ring->full, at.stage, at.parity);
  Value slot = awaitTile(*tile.copy, *tile.ring, at, tile.mapping, tile.meant);
  LayoutAttr layout = rowPerThread(cast<BufferType>(slot.getType()));
  auto byRow = [&](Type type) -> Type {
    return RankedTensorType::get(clearedExtent(tile.ring->slot).second,
                                 getElementTypeOrSelf(type), layout);
  };
  Value rowShift = tile.copy->isPerWarpgroup ? warpgroupRow() : Value();
  SmallVector<Value> rows;
  for (Value p : tile.copy->rowPredicates) {
    Value row = recomputed(p, tile.mapping, byRow, rowShift);
    if (!layoutOf(p.getType()))
      row = SplatOp::create(b, loc, byRow(p.getType()), row);
    rows.push_back(row);
  }
  ClearOp::create(b, clearLocation(tile), slot, rows);
}

/// Rows that bulk copies brought although they are absent become zero: the
/// first warpgroup clears them, and no warp reads before. Where it takes its
/// turn next, every other warpgroup's comes after it, and its own warps meet at
/// it; else all meet here.
void RoleKernel::clearRows(MutableArrayRef<StepTile> tiles, Cursor at,
                           bool isBeforeTurn) {
  bool meets = !isBeforeTurn || !schedule.hasTurns();
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        warpgroup, i32(0));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, TypeRange(), isFirst, false).thenBlock());
    for (StepTile &tile : tiles)
      emitClear(tile, at);
    if (!isFencedLater(tiles))
      ProxyFenceOp::create(b, clearLocation(tiles.front()));
  }
  if (meets)
    NamedBarrierOp::create(b, clearLocation(tiles.front()), i32(clearBarrier),
                           threadsPerWarpgroup * plan.warpgroups, false);
}

} // namespace selvedge::schedule
