// The role that multiplies: operations and plain loops.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/RoleKernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

Operation *RoleKernel::cloneConverted(Operation &op, IRMapping &mapping) {
  Operation *clone = b.clone(op, mapping);
  clone->walk([&](Operation *part) { convertInPlace(*part); });
  return clone;
}

int64_t RoleKernel::warpgroupStride(RangeOp range) const {
  AxisLayoutAttr axis = layoutOf(range.getType()).getAxes()[0];
  if (axis.getName() == plan.rowAxis)
    return warpgroupRows;
  return axis.getWarps().size() > 2 ? axis.getWarps()[2] : 0;
}

void RoleKernel::convertInPlace(Operation &op) {
  auto range = dyn_cast<RangeOp>(op);
  int64_t stride = range ? warpgroupStride(range) : 0;
  for (Value result : op.getResults())
    result.setType(typeOfWarpgroup(result.getType()));
  for (Region &region : op.getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(typeOfWarpgroup(argument.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      constant.setValueAttr(
          DenseElementsAttr::get(cast<ShapedType>(constant.getType()),
                                 dense.getSplatValue<Attribute>()));
  if (auto load = dyn_cast<LoadOp>(op))
    if (Value tensor = loadPointers.lookup(load.getTensorMutable().get()))
      load.getTensorMutable().assign(tensor);
  if (stride != 0) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(range);
    range.getStartMutable().assign(
        add(range.getStart(), mul(warpgroup, i32(stride))));
  }
}

SmallVector<Value> RoleKernel::presenceOf(ValueRange presence,
                                          IRMapping &mapping) {
  IRMapping local = mapping;
  SmallVector<Value> result;
  for (Value p : presence) {
    emitMissing(p, local);
    result.push_back(valueOf(p, local));
  }
  return result;
}

Value RoleKernel::valueOf(Value v, const IRMapping &mapping) {
  Value known = mapping.lookupOrNull(v);
  return known ? known : standIn(v);
}

Value RoleKernel::standIn(Value v) {
  if (!unknown)
    unknown = v;
  return UnrealizedConversionCastOp::create(
             b, loc, typeOfWarpgroup(v.getType()), ValueRange())
      .getResult(0);
}

/// `v`, of which not all need have been emitted.
void RoleKernel::emitMissing(Value v, IRMapping &mapping) {
  if (mapping.contains(v))
    return;
  if (!v.getDefiningOp())
    return mapping.map(v, standIn(v));
  for (Value operand : v.getDefiningOp()->getOperands())
    emitMissing(operand, mapping);
  cloneConverted(*v.getDefiningOp(), mapping);
}

Value RoleKernel::startProduct(MmaOp mma, IRMapping &mapping) {
  auto operand = [&](Value v) {
    Value slot = slots.lookup(v);
    return slot ? slot : valueOf(v, mapping);
  };
  // A sum that starts at zero needs no registers set to it.
  Value init =
      isSplat(mma.getInit(), 0) ? Value() : valueOf(mma.getInit(), mapping);
  return WgmmaOp::create(b, mma.getLoc(), typeOfWarpgroup(mma.getType()),
                         operand(mma.getLhs()), operand(mma.getRhs()), init,
                         mma.getOverAttr(),
                         presenceOf(mma.getPresence(), mapping));
}

LogicalResult RoleKernel::emitOp(Operation &op, IRMapping &mapping) {
  if (isa<AllocOp, CopyOp, scf::YieldOp, sm::ReturnOp>(op))
    return success();
  if (auto mma = dyn_cast<MmaOp>(op)) {
    Value started = startProduct(mma, mapping);
    mapping.map(
        mma.getResult(),
        WgmmaWaitOp::create(b, op.getLoc(), started.getType(), started, 0)
            .getResult());
    return success();
  }
  // Layouts that only copies use have warps of their own shape.
  auto isOwn = [&](Type type) {
    LayoutAttr layout = layoutOf(type);
    return !layout || llvm::all_of(layout.getAxes(), [&](AxisLayoutAttr axis) {
      ArrayRef<int64_t> warps = axis.getWarps();
      bool isOfRows = axis.getLanes()[2] == 1;
      if (axis.getName() == plan.rowAxis)
        return isOfRows;
      auto isZero = [](int64_t w) { return w == 0; };
      if (!plan.hasCrossings())
        return llvm::all_of(warps, isZero);
      return isOfRows ? warps.take_front(2) == ArrayRef<int64_t>{16, 32}
                      : llvm::all_of(warps.take_front(2), isZero);
    });
  };
  if (llvm::all_of(op.getResultTypes(), isOwn))
    cloneConverted(op, mapping);
  return success();
}

/// The role that multiplies: 64 rows per warpgroup.
LogicalResult RoleKernel::emitProducts() {
  auto role = RoleOp::create(b, loc, "products", 1, plan.warpgroups,
                             schedule.multiplyRegisters(), false);
  Block &block = role.getBody().emplaceBlock();
  warpgroup = block.addArgument(b.getI32Type(), loc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  if (schedule.takesTurns()) {
    // The last one gives the first its turn.
    auto isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        warpgroup, i32(plan.warpgroups - 1));
    auto branch = scf::IfOp::create(b, loc, TypeRange(), isLast, false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    passTurn();
  }
  LogicalResult result = schedule.isPipelined() ? emitOpenTiles() : emitTiles();
  // Shared memory must outlive the bulk stores that read it.
  if (!plan.stores.empty())
    TmaDrainOp::create(b, loc, true);
  return result;
}

LogicalResult RoleKernel::emitTiles() {
  SmallVector<Value> carried{i32(0), i32(0), i32(0), i32(0)};
  bool multipliesAfter =
      schedule.lastOutside &&
      sections.lookup(schedule.lastOutside) == outerLoops().size();
  return takeTiles(
      /*isSingle=*/false, carried,
      [&](ValueRange place, Mail &mail) -> LogicalResult {
        Cursor tile{carried[0], carried[1]}, step{carried[2], carried[3]};
        bool hasCome = false;
        auto await = [&](IRMapping &mapping) {
          if (!std::exchange(hasCome, true))
            awaitResident(tile, mapping);
        };
        FailureOr<IRMapping> mapping = mappingOf(place, await);
        if (failed(mapping))
          return failure();
        await(*mapping);
        if (failed(emitLoops(*mapping, step, mail, [&] {
              if (!multipliesAfter)
                releaseResident(tile);
            })))
          return failure();
        Cursor next = advance(tile, schedule.residentStages);
        carried = {next.stage, next.parity, step.stage, step.parity};
        hostAt = tile;
        if (failed(emitOutside(outerLoops().size(), *mapping, awaitNothing,
                               [&] { releaseResident(tile); })))
          return failure();
        releaseHost(tile);
        return success();
      });
}

/// `release` is emitted where nothing more reads the tile's resident operands.
LogicalResult RoleKernel::emitLoops(IRMapping &mapping, Cursor &step,
                                    Mail &mail,
                                    llvm::function_ref<void()> release) {
  if (schedule.lags())
    return emitLaggedLoops(mapping, step, mail, release);
  if (schedule.overlap == Overlap::InFlight) {
    if (failed(emitPlainLoops(mapping, step)))
      return failure();
  } else if (plan.nest) {
    if (failed(emitNest(plan.nest, mapping, step)))
      return failure();
  } else {
    for (auto [n, loop] : llvm::enumerate(plan.loops))
      if (failed(n == 0 ? success() : emitOutside(n, mapping)) ||
          failed(emitLoop(loop, mapping, step)))
        return failure();
  }
  release();
  mail = receiveTile(mail.next, /*isSingle=*/false);
  return success();
}

FailureOr<IRMapping> RoleKernel::mappingOf(ValueRange place,
                                           BeforeProduct await) {
  IRMapping mapping = outer;
  mapping.map(ValueRange(coordinates), place);
  if (failed(emitOutside(/*section=*/0, mapping, await)))
    return failure();
  return mapping;
}

void RoleKernel::awaitResident(Cursor tile, IRMapping &mapping) {
  for (auto [copy, ring] : llvm::zip_equal(plan.resident, resident))
    slots[copy.copy.getBuffer()] = clearedTile(copy, ring, tile, mapping);
  awaitCrossed(tile, mapping);
}

void RoleKernel::releaseResident(Cursor tile) {
  for (auto [i, ring] : llvm::enumerate(resident))
    if (i != schedule.host)
      ArriveOp::create(b, loc, ring.empty, tile.stage, true);
}

/// What a later loop needs of the results of those before stands between them;
/// what else follows from results comes behind the last one, where no rings are
/// awaited meanwhile.
void RoleKernel::findSections() {
  Block &body = source.getBody().front();
  ArrayRef<scf::ForOp> loops = outerLoops();
  auto operandsOf = [](Operation &op) {
    llvm::SetVector<Value> operands;
    operands.insert_range(op.getOperands());
    getUsedValuesDefinedAbove(op.getRegions(), operands);
    return operands;
  };
  llvm::SmallPtrSet<Operation *, 32> following, needed;
  for (Operation &op : body)
    if (llvm::is_contained(loops, &op) ||
        llvm::any_of(operandsOf(op), [&](Value operand) {
          return following.contains(operand.getDefiningOp());
        }))
      following.insert(&op);
  for (Operation &op : llvm::reverse(body))
    if (llvm::is_contained(loops, &op) || needed.contains(&op))
      for (Value operand : operandsOf(op))
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == &body)
          needed.insert(def);
  size_t behind = 0;
  for (Operation &op : body) {
    behind += llvm::is_contained(loops, &op);
    bool isAfter = behind == loops.size() || following.contains(&op);
    sections[&op] = !isAfter ? 0 : needed.contains(&op) ? behind : loops.size();
  }
}

LogicalResult RoleKernel::emitOutside(size_t section, IRMapping &mapping,
                                      BeforeProduct await,
                                      function_ref<void()> release) {
  bool isLast = section == outerLoops().size();
  for (Operation &op : source.getBody().front()) {
    // Barriers of the warps of form seq: here each thread stores its own.
    if (isa<scf::ForOp, BarrierOp>(op) || deferred.contains(&op) ||
        searched.contains(&op) || sections.lookup(&op) != section ||
        (op.getNumResults() == 1 && mapping.contains(op.getResult(0))))
      continue;
    if (isa<MmaOp>(op))
      await(mapping);
    auto store = llvm::find_if(
        plan.stores, [&](BulkStore &bulk) { return bulk.store == &op; });
    if (failed(store != plan.stores.end() ? emitStore(*store, mapping)
                                          : emitOp(op, mapping)))
      return failure();
    if (&op == schedule.lastOutside)
      release();
    if (isLast && isa<arith::SelectOp>(op))
      mapping.map(
          op.getResult(0),
          unlessNoRow(valueOf(op.getResult(0), mapping).getDefiningOp()));
  }
  return success();
}

} // namespace selvedge::schedule
