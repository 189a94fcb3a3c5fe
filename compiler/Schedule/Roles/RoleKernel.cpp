// Emits a kernel with warp roles: its memory and arguments.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

#include "mlir/Transforms/RegionUtils.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

RoleKernel::Ring RoleKernel::makeRing(BulkCopy &copy, int64_t depth) {
  BufferType slot = schedule.slotType(copy);
  Ring ring;
  ring.slot = slot;
  ring.depth = depth;
  ring.buffer =
      AllocOp::create(b, loc, slot.withStages(depth * schedule.partsOf(copy)));
  return ring;
}

void RoleKernel::allocate() {
  SmallVector<BulkCopy> &steps = plan.streamed[plan.loops.front()];
  for (BulkCopy &copy : plan.resident)
    resident.push_back(makeRing(copy, schedule.residentStages));
  auto makeRings = [&](bool ofVectors) {
    for (auto [ring, copy] : llvm::zip_equal(streamed, steps))
      if (copy.isVector() == ofVectors)
        ring = makeRing(copy, schedule.stages);
  };
  streamed.resize(steps.size());
  makeRings(/*ofVectors=*/false);
  allocateCrossed();
  allocateAdds();
  for (BulkStore &store : plan.stores)
    if (!schedule.host)
      staging[store.store] = AllocOp::create(
          b, loc,
          schedule.storeType(store).withStages(schedule.storeSlots(store)));
  // After the buffers of tiles, which are aligned to more than these.
  makeRings(/*ofVectors=*/true);
  SmallVector<Value> barriers;
  auto guard = [&](Ring &ring, BulkCopy &copy, int64_t readers) {
    ring.guarded = schedule.stageBytes(copy);
    ring.full = addBarrier(1, ring.depth);
    ring.empty = addBarrier(readers, ring.depth);
    barriers.append({ring.full, ring.empty});
  };
  int64_t readers = warpsPerGroup * plan.warpgroups;
  // One thread per warpgroup releases what results have been sent from.
  for (auto [i, copy] : llvm::enumerate(plan.resident))
    guard(resident[i], copy, schedule.host == i ? plan.warpgroups : readers);
  // What the same products read comes and goes together, and vectors with what
  // the first one reads.
  Ring &first =
      streamed[schedule.overlap == Overlap::InFlight ? 0
                                                     : schedule.firstRead()];
  auto isGuardedByFirst = [&](const Ring &ring, const BulkCopy &copy) {
    return &ring != &first &&
           (schedule.overlap == Overlap::InFlight || copy.isVector());
  };
  for (auto [ring, copy] : llvm::zip_equal(streamed, steps))
    if (!isGuardedByFirst(ring, copy))
      guard(ring, copy, readers);
  for (auto [ring, copy] : llvm::zip_equal(streamed, steps)) {
    if (!isGuardedByFirst(ring, copy))
      continue;
    first.guarded += schedule.stageBytes(copy);
    ring.full = first.full;
    ring.empty = first.empty;
  }
  for (size_t n = 0; schedule.crossingsAreLate && n < crossed.size(); ++n) {
    int64_t warps = warpsPerGroup * plan.warpgroups;
    CrossedBarriers guards{addBarrier(warps, schedule.stages),
                           addBarrier(warps, schedule.stages)};
    barriers.append({guards.full, guards.empty});
    crossedGuards.push_back(guards);
  }
  if (schedule.crossingsAreLate) {
    sent = {addBarrier(warpsPerGroup, plan.warpgroups),
            addBarrier(1, plan.warpgroups)};
    barriers.append({sent.full, sent.empty});
  }
  allocateMail();
  barriers.append({mailFull, mailEmpty});
  InitMBarriersOp::create(b, loc, barriers);
}

Value RoleKernel::scalar(Value v, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  if (!def)
    return standIn(v);
  for (Value operand : def->getOperands())
    scalar(operand, mapping);
  // Of a loop that searches.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(def->getRegions(), captured);
  for (Value outer : captured)
    scalar(outer, mapping);
  return b.clone(*def, mapping)->getResult(cast<OpResult>(v).getResultNumber());
}

RoleKernel::Cursor RoleKernel::advance(Cursor at, int64_t depth) {
  Value next = add(at.stage, i32(1));
  Value wraps =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, i32(depth));
  Value flipped = arith::XOrIOp::create(b, loc, at.parity, i32(1));
  return {arith::SelectOp::create(b, loc, wraps, i32(0), next),
          arith::SelectOp::create(b, loc, wraps, flipped, at.parity)};
}

/// The source's arguments, bulk tensors as tensor maps, and the dims that the
/// number of tiles takes.
void RoleKernel::addArguments() {
  llvm::MapVector<Value, TensorMapArgAttr> maps;
  SmallVector<BulkCopy> others;
  SmallVector<ArrayRef<BulkCopy>> all{plan.resident};
  for (scf::ForOp loop : plan.loops)
    all.push_back(plan.streamed.find(loop)->second);
  for (ArrayRef<BulkCopy> copies : all)
    for (BulkCopy copy : copies) {
      TensorMapArgAttr map = mapArgument(copy);
      auto [known, isNew] = maps.insert({copy.copy.getTensor(), map});
      if (!isNew && known->second != map)
        others.push_back(copy);
    }
  for (BulkStore &store : plan.stores)
    maps[store.store.getTensor()] =
        mapArgument(store.store.getTensor(), store.box, store.pairs);
  for (const BulkAdd &add : schedule.firstAdds())
    maps[StoreOp(add.store).getTensor()] =
        mapArgument(StoreOp(add.store).getTensor(), add.box);
  Block &body = target.getBody().front();
  SmallVector<Attribute> args;
  for (auto [i, argument] : llvm::enumerate(source.getBody().getArguments())) {
    Attribute arg = source.getArgs()[i];
    Type type = argument.getType();
    if (TensorMapArgAttr map = maps.lookup(argument)) {
      auto tensor = cast<tile::GlobalType>(type);
      arg = map;
      type = TensorMapType::get(b.getContext(), tensor.getRank(),
                                tensor.getElementType());
    }
    args.push_back(arg);
    outer.map(argument, body.addArgument(type, loc));
  }
  for (BulkStore &store : plan.stores) {
    if (!store.hasLanes())
      continue;
    auto tensor = cast<BlockArgument>(store.store.getTensor());
    args.push_back(source.getArgs()[tensor.getArgNumber()]);
    lanePointers[store.store] = body.addArgument(tensor.getType(), loc);
  }
  for (auto [i, argument] : llvm::enumerate(source.getBody().getArguments())) {
    if (!maps.contains(argument) ||
        llvm::none_of(argument.getUsers(), llvm::IsaPred<LoadOp>))
      continue;
    args.push_back(source.getArgs()[i]);
    loadPointers[outer.lookup(argument)] =
        body.addArgument(argument.getType(), loc);
  }
  // Tiles of other sizes of the same tensor.
  for (BulkCopy &copy : others) {
    if (otherMaps.contains(mapArgument(copy)))
      continue;
    args.push_back(mapArgument(copy));
    otherMaps[mapArgument(copy)] =
        body.addArgument(outer.lookup(copy.copy.getTensor()).getType(), loc);
  }
  // Of rows that are pairs, the other pieces.
  for (size_t i = 0, number = args.size(); i < number; ++i) {
    auto map = dyn_cast<TensorMapArgAttr>(args[i]);
    if (!map || !map.getPairs())
      continue;
    for (Piece piece : {Piece::Group, Piece::Part}) {
      args.push_back(map.in(piece));
      body.addArgument(body.getArgument(i).getType(), loc);
    }
  }
  ArrayAttr names = launch->getParentOfType<PlanOp>().getDims();
  for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
    auto arg = DimArgAttr::get(b.getContext(), name);
    bool isNeeded = launch.getGrid().isFunctionOfSymbol(i) ||
                    llvm::is_contained(plan.pairDims(), name);
    if (!isNeeded || llvm::is_contained(args, arg))
      continue;
    args.push_back(arg);
    body.addArgument(b.getI32Type(), loc);
  }
  if (plan.length != TileLength::Equal) {
    args.push_back(CounterArgAttr::get(b.getContext()));
    counter = body.addArgument(CounterType::get(b.getContext()), loc);
  }
  target.setArgsAttr(b.getArrayAttr(args));
}

TensorMapArgAttr RoleKernel::mapArgument(Value tensor, ArrayRef<int64_t> box,
                                         PairsAttr pairs, int64_t swizzle) {
  auto argument = cast<BlockArgument>(tensor);
  auto pointer =
      cast<PointerArgAttr>(source.getArgs()[argument.getArgNumber()]);
  return TensorMapArgAttr::get(b.getContext(), pointer.getTensor(), box, pairs,
                               swizzle);
}

TensorMapArgAttr RoleKernel::mapArgument(BulkCopy &copy) {
  BufferType type = schedule.slotType(copy);
  return mapArgument(copy.copy.getTensor(), copy.box, copy.pairs,
                     type.getSwizzle());
}

int64_t RoleKernel::bytesOfBarriers() {
  constexpr int64_t bytesOfBarrier = 8, bytesOfMail = 4;
  int64_t bytes = 0;
  for (auto barrier : target.getBody().getOps<MBarrierOp>())
    bytes += barrier.getType().getStages() * bytesOfBarrier;
  for (auto mailbox : target.getBody().getOps<MailboxOp>())
    bytes += mailbox.getType().getStages() * bytesOfMail;
  return bytes;
}

FailureOr<KernelOp> RoleKernel::run() {
  if (succeeded(emit()))
    return target;
  target.erase();
  return failure();
}

LogicalResult RoleKernel::emit() {
  std::string name = source.getSymName().str();
  if (size_t at = name.rfind("_aligned"); at != std::string::npos)
    name.resize(at);
  target = KernelOp::create(b, loc, name + "_bulk", b.getArrayAttr({}),
                            warpsPerGroup * (plan.warpgroups + 1),
                            source.getSourceAttr(), /*schedule=*/{});
  Block &body = target.getBody().emplaceBlock();
  b.setInsertionPointToStart(&body);
  findCoordinates();
  leaveOutSearched();
  allocate();
  findDeferred();
  findSections();
  addArguments();
  countTiles();
  emitCopies();
  emitOrder();
  emitSenders();
  if (failed(emitProducts()))
    return failure();
  noteDecisions();
  sm::ReturnOp::create(b, loc);
  if (int64_t bytes = bytesOfBarriers(); bytes > barrierBytes)
    return source.emitError("expects barriers and mailboxes of at most ")
           << barrierBytes << " bytes beside its tiles, found " << bytes;
  if (!unknown)
    return success();
  return unknown.getDefiningOp()
             ? unknown.getDefiningOp()->emitOpError(
                   "is not executed where a role needs its result")
             : emitError(unknown.getLoc(),
                         "a value is carried to where a role does not have it");
}

FailureOr<KernelOp> emitRoles(KernelOp kernel, LaunchOp launch,
                              const RolePlan &plan, int64_t maxSlots) {
  std::string why;
  RoleSchedule schedule(kernel, plan, maxSlots, kernel.getScheduleAttr(), why);
  if (!why.empty())
    return kernel.emitOpError("does not allow its schedule: ") << why;
  return RoleKernel(kernel, launch, std::move(schedule)).run();
}

} // namespace selvedge::schedule
