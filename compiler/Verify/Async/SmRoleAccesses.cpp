// What bulk copies, products and mailboxes of sm, form roles, do to shared
// memory.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/SmAsyncRules.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

std::optional<Slot> SmAsyncRules::mailSlotOf(Agent &agent, Operation *op,
                                             Value mailbox, Value stage) {
  Tracked ring = agent.values.lookup(mailbox);
  if (ring.kind != Tracked::Kind::Buffer) {
    op->emitOpError("expects a ring from sm.mailbox, found ") << mailbox;
    return {};
  }
  std::optional<int64_t> number = stageOf(
      agent, op, stage, cast<MailboxType>(mailbox.getType()).getStages());
  return number ? std::optional(Slot{ring.id, *number}) : std::nullopt;
}

/// Ordered as the whole slot is.
Progress SmAsyncRules::panel(Agent &agent, PanelOp op) {
  BufferType type = op.getBuffer().getType();
  Tracked whole = agent.values.lookup(op.getBuffer());
  if (whole.kind != Tracked::Kind::Buffer) {
    op.emitOpError("expects a buffer from sm.alloc, found ") << op.getBuffer();
    return Progress::Failed;
  }
  if (!stageOf(agent, op, op.getNumber(), type.getCols() / type.getPanelCols()))
    return Progress::Failed;
  agent.values[op] = whole;
  if (auto said = memberOf(agent).claims.find(op.getBuffer());
      said != memberOf(agent).claims.end())
    memberOf(agent).claims[op] = Contents(said->second);
  return Progress::Advanced;
}

/// Blocks that take turns: the roles of one agree on whatever number it gets,
/// because one of them asks and the others are told.
Progress SmAsyncRules::nextTile(Agent &agent, NextTileOp op) {
  if (!isOneThread(agent, op))
    return Progress::Failed;
  if (!memberOf(agent).role || !trial.block || !trial.blocks) {
    op.emitOpError("expects a role of a kernel with sizes");
    return Progress::Failed;
  }
  Member &member = memberOf(agent);
  member.lastTile = op;
  int64_t number = *trial.block + ++member.tiles * *trial.blocks;
  agent.values[op] = {Tracked::Kind::Integer,
                      integers.constant(op.getType(), number)};
  return Progress::Advanced;
}

/// The launch's last number is the last of some block: where each compares its
/// own with it, one sets the counter back, after all others have taken theirs.
Progress SmAsyncRules::resetTiles(Agent &agent, ResetTilesOp op) {
  if (!isOneThread(agent, op))
    return Progress::Failed;
  auto numberOf = [&](Value v) -> std::optional<int64_t> {
    Tracked tracked = agent.values.lookup(v);
    return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                  : std::nullopt;
  };
  Member &member = memberOf(agent);
  int64_t last = *trial.block + member.tiles * *trial.blocks;
  std::optional<int64_t> number = numberOf(op.getNumber()),
                         tiles = numberOf(op.getTiles());
  auto refuse = [&](InFlightDiagnostic &&error) {
    attachNotes(error, nullptr);
    return Progress::Failed;
  };
  if (!member.lastTile || number != last)
    return refuse(op.emitOpError("expects the number that sm.next_tile gave "
                                 "last, found ")
                  << op.getNumber());
  if (!tiles || (trial.tiles && *tiles != *trial.tiles))
    return refuse(
        op.emitOpError("expects the number of tiles of the launch, found ")
        << op.getTiles());
  if (last < *tiles)
    return refuse(op.emitOpError("expects to come after the last tile, found "
                                 "that tile ")
                  << last << " of " << *tiles << " is left");
  member.lastTile = {};
  return Progress::Advanced;
}

Progress SmAsyncRules::post(Agent &agent, PostOp op) {
  std::optional<Slot> slot =
      mailSlotOf(agent, op, op.getMailbox(), op.getStage());
  if (!slot || !isOneThread(agent, op))
    return Progress::Failed;
  Tracked &value = agent.values[op.getValue()];
  if (value.kind == Tracked::Kind::None)
    value = {Tracked::Kind::Integer,
             integers.unknown(op.getValue().getType(),
                              op.getValue().getAsOpaquePointer(), {})};
  mail[*slot] = value;
  return writeSlot(agent, agent.actor, /*parts=*/1, op, *slot,
                   newSite(agent, op));
}

/// The word that was written last: any other order is refused.
Progress SmAsyncRules::receive(Agent &agent, ReceiveOp op) {
  std::optional<Slot> slot =
      mailSlotOf(agent, op, op.getMailbox(), op.getStage());
  auto role = op->getParentOfType<RoleOp>();
  bool isAlone = role && role.getSingle();
  if (!slot || (!isAlone && !isWholeWarp(agent, op)))
    return Progress::Failed;
  Progress progress =
      readSlot(agent, agent.actor, op, *slot, newSite(agent, op));
  if (progress == Progress::Advanced)
    agent.values[op] = mail[*slot];
  // What it has waited for was mail, and guards no slot.
  memberOf(agent).waits.clear();
  return progress;
}

/// Warps differ.
Progress SmAsyncRules::any(Agent &agent, AnyOp op) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  unsigned number =
      integers.unknown(op.getType(), op.getAsOpaquePointer(),
                       {agent.counts[op], agents.size() + agent.actor});
  agent.values[op] = {Tracked::Kind::Integer, number};
  return Progress::Advanced;
}

Progress SmAsyncRules::idle(Agent &agent, IdleOp op) {
  if (llvm::any_of(op.getPresence(),
                   [&](Value p) { return expressions.isFalse(agent, p); }))
    return Progress::Advanced;
  op.emitOpError("expects a predicate that is false for every row and column "
                 "of the step, found none: the warpgroup would leave out work");
  return Progress::Failed;
}

Progress SmAsyncRules::whole(Agent &agent, WholeOp op) {
  for (Value p : op.getPresence())
    if (!expressions.isTrue(agent, p)) {
      InFlightDiagnostic error = op.emitOpError(
          "expects predicates that are true for every row and column of the "
          "step, found one that is not (");
      error << agent.where().str() << ")";
      error.attachNote(p.getLoc()) << "it is defined here";
      return Progress::Failed;
    }
  return Progress::Advanced;
}

bool SmAsyncRules::isBoxOfBuffer(Operation *op, Value map, BufferType type) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto kernel = op->getParentOfType<KernelOp>();
  auto attr = argument && argument.getOwner() == &kernel.getBody().front()
                  ? dyn_cast<TensorMapArgAttr>(
                        kernel.getArgs()[argument.getArgNumber()])
                  : TensorMapArgAttr();
  if (!attr) {
    op->emitOpError("expects a tensor map among the kernel's arguments");
    return false;
  }
  // The hardware swizzles rows of 128 bytes; of a vector it has none to
  // swizzle.
  constexpr int64_t rowBytes = 128, swizzle = 7;
  bool fits = type.isVector()
                  ? type.getRows() == 1 && type.getPanel() == 0 &&
                        type.getSwizzle() == 0 && attr.getSwizzle() == 0 &&
                        type.getRowBytes() % rowBytes == 0
                  : type.getPanelRowBytes() == rowBytes &&
                        type.getSwizzle() == swizzle &&
                        attr.getSwizzle() == swizzle && !type.getInterleaved();
  if (!fits) {
    op->emitOpError("expects a buffer with panels of ")
        << rowBytes << " bytes per row and swizzle " << swizzle
        << ", rows in order, or a vector of whole such rows without swizzle, "
           "found "
        << type << " and a descriptor of swizzle " << attr.getSwizzle();
    return false;
  }
  ArrayRef<int64_t> box = attr.getBox();
  int64_t ones = llvm::count(box.drop_back(), 1),
          others = static_cast<int64_t>(box.size()) - 1 - ones;
  bool isPanel = type.isVector()
                     ? box.back() == type.getStageCols() && others == 0
                     : box.back() == type.getPanelCols() && others == 1 &&
                           llvm::count(box.drop_back(), type.getRows()) == 1;
  if (isPanel)
    return true;
  InFlightDiagnostic error =
      op->emitOpError("expects a box of ")
      << type.getRows() << " x "
      << (type.isVector() ? type.getStageCols() : type.getPanelCols())
      << " elements, as a panel of the buffer, found ";
  llvm::interleave(box, error, " x ");
  return false;
}

Progress SmAsyncRules::tmaLoad(Agent &agent, TmaLoadOp op) {
  fillByTma(agent, op);
  BufferType type = op.getBuffer().getType();
  return isBoxOfBuffer(op, op.getMap(), type) &&
                 beginsWithPair(agent, op, op.getMap(), op.getIndices(), type)
             ? bulkFill(agent, op, op.getBuffer(), op.getBarrier(),
                        op.getStage())
             : Progress::Failed;
}

Progress SmAsyncRules::bulkLoad(Agent &agent, BulkLoadOp op) {
  overwrite(agent, op.getBuffer());
  return bulkFill(agent, op, op.getBuffer(), op.getBarrier(), op.getStage());
}

Progress SmAsyncRules::bulkFill(Agent &agent, Operation *op,
                                TypedValue<BufferType> buffer, Value barrier,
                                Value stage) {
  std::optional<unsigned> mbarrier = mbarrierOf(agent, op, barrier, stage);
  if (!mbarrier || !isOneThread(agent, op))
    return Progress::Failed;
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  if (!slot)
    return Progress::Failed;
  Site site = newSite(agent, op);
  Actor copy = order.launch(agent.actor, Engine::Bulk, site);
  if (writeSlot(agent, copy, /*parts=*/1, op, *slot, site) == Progress::Failed)
    return Progress::Failed;
  learnGuard(agent, *slot, *mbarrier);
  return concludeMBarrier(
      order.completeBytes(copy, *mbarrier, buffer.getType().getStageBytes()),
      op, agent, *mbarrier);
}

void SmAsyncRules::learnGuard(Agent &agent, Slot slot, unsigned signal) {
  ++loads[slot];
  Member &member = memberOf(agent);
  if (!member.signalled)
    member.signalled = signal;
  if (member.waits.size() != 1 || member.signalled != signal)
    return;
  // A ring of other length, or another stage, guards something else.
  unsigned guard = member.waits.front();
  const MBarrierRing &full = mbarrierRings[ringOfMBarrier[signal]],
                     &empty = mbarrierRings[ringOfMBarrier[guard]];
  auto length = [](MBarrierRing ring) {
    return cast<MBarrierType>(ring.op.getType()).getStages();
  };
  if (length(full) == length(empty) &&
      signal - full.first == guard - empty.first)
    guards[slot] = guard;
}

bool SmAsyncRules::isReadLater(Agent &agent, Operation *op, unsigned mbarrier) {
  Member &member = memberOf(agent);
  unsigned ring = ringOfMBarrier[mbarrier];
  for (auto [slot, guard] : guards) {
    if (guard != mbarrier)
      continue;
    for (const Product &product : member.products) {
      if (!llvm::is_contained(product.reads, slot))
        continue;
      InFlightDiagnostic error =
          op->emitOpError("expects the products that read ")
          << nameOf(slot)
          << " to be finished before it is released, found one in flight ("
          << agent.where().str() << ")";
      attachNotes(error, mbarrierRings[ring].op);
      return true;
    }
    if (llvm::is_contained(member.reads, slot) && !member.areReadsMet) {
      InFlightDiagnostic error = op->emitOpError("expects ");
      error << (member.areReadsFenced ? "sm.warp_sync" : "sm.proxy_fence")
            << " between the reads of " << nameOf(slot)
            << " by the warp's threads and its release, found none ("
            << agent.where().str() << ")";
      attachNotes(error, mbarrierRings[ring].op);
      return true;
    }
    llvm::erase(member.reads, slot);
    member.released[slot] = loads[slot];
  }
  return false;
}

Progress SmAsyncRules::tmaStore(Agent &agent, TmaStoreOp op) {
  BufferType type = op.getBuffer().getType();
  return isBoxOfBuffer(op, op.getMap(), type) &&
                 beginsWithPair(agent, op, op.getMap(), op.getIndices(), type)
             ? bulkDrain(agent, op, op.getBuffer())
             : Progress::Failed;
}

Progress SmAsyncRules::bulkReduce(Agent &agent, BulkReduceOp op) {
  return bulkDrain(agent, op, op.getBuffer());
}

Progress SmAsyncRules::bulkDrain(Agent &agent, Operation *op, Value buffer) {
  if (!isOneThread(agent, op))
    return Progress::Failed;
  Site site = newSite(agent, op);
  Actor copy = order.launch(agent.actor, Engine::Bulk, site);
  memberOf(agent).stores.push_back(copy);
  return read(agent, copy, op, buffer, site);
}

Progress SmAsyncRules::tmaDrain(Agent &agent, TmaDrainOp op) {
  std::deque<Actor> &stores = memberOf(agent).stores;
  for (; stores.size() > op.getPending(); stores.pop_front())
    if (conclude(order.await(agent.actor, stores.front()), op, agent) ==
        Progress::Failed)
      return Progress::Failed;
  return Progress::Advanced;
}

/// The operands that are multiplied.
static SmallVector<Value> factorsOf(WgmmaOp product) {
  SmallVector<Value> factors;
  for (WgmmaOp::Pair pair : product.getPairs())
    factors.append({pair.lhs, pair.rhs});
  return factors;
}

bool SmAsyncRules::areInFlight(Agent &agent, Operation &op) {
  if (isa<WgmmaWaitOp>(op))
    return false;
  for (OpOperand &operand : op.getOpOperands()) {
    if (agent.values.lookup(operand.get()).kind != Tracked::Kind::Product)
      continue;
    // Products of one warpgroup may add up in the same registers.
    if (auto product = dyn_cast<WgmmaOp>(op);
        product && operand.get() == product.getInit() &&
        !llvm::is_contained(factorsOf(product), operand.get()))
      continue;
    InFlightDiagnostic error =
        op.emitOpError("expects the result of sm.wgmma_wait, found registers "
                       "of a product in flight (")
        << agent.where().str() << ")";
    error.attachNote(operand.get().getLoc()) << "they are defined here";
    return true;
  }
  return false;
}

Progress SmAsyncRules::wgmma(Agent &agent, WgmmaOp op) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  Site site = newSite(agent, op);
  Product product{order.launch(agent.actor, Engine::Mma, site)};
  for (Value operand : factorsOf(op)) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    std::optional<Slot> slot = slotOf(agent, op, operand);
    if (!slot ||
        readSlot(agent, product.actor, op, *slot, site) == Progress::Failed ||
        checkContents(agent, op, operand) == Progress::Failed)
      return Progress::Failed;
    product.reads.push_back(*slot);
  }
  agent.values[op] = {Tracked::Kind::Product, product.actor};
  memberOf(agent).products.push_back(std::move(product));
  return Progress::Advanced;
}

Progress SmAsyncRules::readTile(Agent &agent, ReadOp op) {
  return readByLanes(agent, op, op.getBuffer());
}

/// By a whole warp, which releases it later.
Progress SmAsyncRules::readByLanes(Agent &agent, Operation *op, Value buffer) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  if (!slot || readSlot(agent, agent.actor, op, *slot, newSite(agent, op)) ==
                   Progress::Failed)
    return Progress::Failed;
  Member &member = memberOf(agent);
  if (!llvm::is_contained(member.reads, *slot))
    member.reads.push_back(*slot);
  member.areReadsFenced = member.areReadsMet = false;
  return checkContents(agent, op, buffer);
}

Progress SmAsyncRules::retire(Agent &agent, Operation *op, uint64_t pending) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  std::deque<Product> &products = memberOf(agent).products;
  for (; products.size() > pending; products.pop_front())
    if (conclude(order.await(agent.actor, products.front().actor), op, agent) ==
        Progress::Failed)
      return Progress::Failed;
  return Progress::Advanced;
}

Progress SmAsyncRules::wgmmaWait(Agent &agent, WgmmaWaitOp op) {
  if (retire(agent, op, op.getPending()) == Progress::Failed)
    return Progress::Failed;
  const std::deque<Product> &products = memberOf(agent).products;
  Tracked accumulator = agent.values.lookup(op.getAccumulator());
  if (accumulator.kind == Tracked::Kind::Product &&
      llvm::any_of(products, [&](const Product &product) {
        return product.actor == accumulator.id;
      })) {
    op.emitOpError("expects to wait for its accumulator, found that its "
                   "product may be one of the ")
        << op.getPending() << " that are left (" << agent.where().str() << ")";
    return Progress::Failed;
  }
  agent.values[op] = {};
  return Progress::Advanced;
}

} // namespace selvedge::verify
