// What the synchronisation of sm, form roles, orders.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

std::optional<Progress> SmAsyncRules::applyRole(Agent &agent, Operation &op) {
  using Result = std::optional<Progress>;
  auto known = [&](Value value, int64_t number) -> Result {
    agent.values[value] = {Tracked::Kind::Integer,
                           integers.constant(value.getType(), number)};
    return Progress::Advanced;
  };
  return llvm::TypeSwitch<Operation *, Result>(&op)
      .Case([&](RoleOp o) { return role(agent, o); })
      .Case([&](BlockIdOp o) -> Result {
        if (!trial.block)
          return Progress::Advanced;
        if (!o.getColumns())
          return known(o, *trial.block);
        std::optional<int64_t> columns = scalarOf(agent, o.getColumns());
        bool isKnown = columns && *columns > 0 && trial.blocks;
        return isKnown ? known(o, BlockIdOp::placeOf(*trial.block,
                                                     *trial.blocks, *columns))
                       : Progress::Advanced;
      })
      .Case([&](BlockCountOp o) {
        return trial.blocks ? known(o, *trial.blocks) : Progress::Advanced;
      })
      .Case([&](WarpgroupLeaderOp o) {
        known(o, memberOf(agent).warp == 0);
        agent.values[o].spread = Spread::OneThread;
        return Progress::Advanced;
      })
      .Case([&](MBarrierOp o) { return mbarrier(agent, o); })
      .Case([&](InitMBarriersOp o) { return initMBarriers(agent, o); })
      .Case([&](WaitOp o) { return wait(agent, o); })
      .Case([&](ArriveOp o) { return arrive(agent, o); })
      .Case([&](ExpectOp o) { return expect(agent, o); })
      .Case([&](NamedBarrierOp o) { return namedBarrier(agent, o); })
      .Case([&](ProxyFenceOp o) { return proxyFence(agent, o); })
      .Case([&](MailboxOp o) {
        return addRing(agent, o, o.getType().getStages());
      })
      .Case([&](PostOp o) { return post(agent, o); })
      .Case([&](ReceiveOp o) { return receive(agent, o); })
      .Case([&](AnyOp o) { return any(agent, o); })
      .Case([&](InOrderOp o) { return inOrder(agent, o); })
      .Case([&](IdleOp o) { return idle(agent, o); })
      .Case([&](WholeOp o) { return whole(agent, o); })
      .Case([&](TmaLoadOp o) { return tmaLoad(agent, o); })
      .Case([&](TmaStoreOp o) { return tmaStore(agent, o); })
      .Case([&](TmaDrainOp o) { return tmaDrain(agent, o); })
      .Case([&](PanelOp o) { return panel(agent, o); })
      .Case([&](NextTileOp o) { return nextTile(agent, o); })
      .Case([&](ResetTilesOp o) { return resetTiles(agent, o); })
      .Case([&](WarpSyncOp o) { return warpSync(agent, o); })
      .Case([&](ReadOp o) { return readTile(agent, o); })
      .Case([&](BulkLoadOp o) { return bulkLoad(agent, o); })
      .Case([&](BulkReduceOp o) { return bulkReduce(agent, o); })
      .Case([&](WgmmaOp o) { return wgmma(agent, o); })
      .Case([&](WgmmaWaitOp o) { return wgmmaWait(agent, o); })
      .Case([&](WgmmaRetireOp o) { return retire(agent, o, o.getPending()); })
      .Default([](Operation *) { return std::nullopt; });
}

Progress SmAsyncRules::mbarrier(Agent &agent, MBarrierOp op) {
  auto [ring, isNew] = mbarriers.try_emplace(op, mbarrierRings.size());
  if (isNew)
    for (int64_t stage = 0; stage < op.getType().getStages(); ++stage) {
      unsigned number = order.addMBarrier(op.getType().getArrivals());
      if (stage == 0)
        mbarrierRings.push_back({op, number});
      ringOfMBarrier.push_back(ring->second);
    }
  agent.values[op] = {Tracked::Kind::MBarrier, ring->second};
  return Progress::Advanced;
}

Progress SmAsyncRules::initMBarriers(Agent &agent, InitMBarriersOp op) {
  Progress progress = barrier(agent, op);
  if (progress == Progress::Advanced)
    for (Value ring : op.getBarriers())
      if (++agent.counts[ring.getDefiningOp()] > 1) {
        op.emitOpError("expects to initialise an mbarrier once, found it "
                       "initialised before");
        return Progress::Failed;
      }
  return progress;
}

std::optional<unsigned> SmAsyncRules::mbarrierOf(Agent &agent, Operation *op,
                                                 Value ring, Value stage) {
  Tracked tracked = agent.values.lookup(ring);
  if (tracked.kind != Tracked::Kind::MBarrier) {
    op->emitOpError("expects a ring from sm.mbarrier, found ") << ring;
    return {};
  }
  const MBarrierRing &found = mbarrierRings[tracked.id];
  if (agent.counts.lookup(found.op) == 0) {
    InFlightDiagnostic error =
        op->emitOpError("expects ")
        << nameOfMBarrier(found.first)
        << " to be initialised by sm.init_mbarriers, found that it is not";
    attachNotes(error, found.op);
    return {};
  }
  std::optional<int64_t> number =
      stageOf(agent, op, stage, cast<MBarrierType>(ring.getType()).getStages());
  return number ? std::optional<unsigned>(found.first + *number) : std::nullopt;
}

Progress SmAsyncRules::wait(Agent &agent, WaitOp op) {
  std::optional<unsigned> mbarrier =
      mbarrierOf(agent, op, op.getBarrier(), op.getStage());
  if (!mbarrier)
    return Progress::Failed;
  Tracked parity = agent.values.lookup(op.getParity());
  std::optional<int64_t> number;
  if (parity.kind == Tracked::Kind::Integer && parity.spread == Spread::Uniform)
    number = integers.known(parity.id);
  if (!number || (*number != 0 && *number != 1)) {
    op.emitOpError("expects a parity of 0 or 1 that follows from loop "
                   "counters, found ")
        << op.getParity() << " (" << agent.where().str() << ")";
    return Progress::Failed;
  }
  bool passed = false;
  Finding found = order.tryWait(agent.actor, *mbarrier, *number, passed);
  Member &member = memberOf(agent);
  member.waitsAt = passed ? Member::Nothing : Member::MBarrier;
  member.waitsFor = *mbarrier;
  if (!found && !passed)
    return Progress::Blocked;
  // A load after these waits, and before this one, was about them.
  if (std::exchange(member.signalled, std::nullopt))
    member.waits.clear();
  if (!llvm::is_contained(member.waits, *mbarrier))
    member.waits.push_back(*mbarrier);
  return concludeMBarrier(found, op, agent, *mbarrier);
}

Progress SmAsyncRules::arrive(Agent &agent, ArriveOp op) {
  std::optional<unsigned> mbarrier =
      mbarrierOf(agent, op, op.getBarrier(), op.getStage());
  if (!mbarrier || isReadLater(agent, op, *mbarrier))
    return Progress::Failed;
  if (op.getPerWarp() && memberOf(agent).hasOwnWrites) {
    op.emitOpError("expects sm.warp_sync between the writes of the warp's "
                   "threads and the arrival of one for all, found none (")
        << agent.where().str() << ")";
    return Progress::Failed;
  }
  unsigned arrivals = op.getPerWarp() && !agent.isOneThread()
                          ? memberOf(agent).warps
                          : threadsOf(agent);
  return concludeMBarrier(
      order.arriveMBarrier(agent.actor, *mbarrier, arrivals), op, agent,
      *mbarrier);
}

Progress SmAsyncRules::expect(Agent &agent, ExpectOp op) {
  std::optional<unsigned> mbarrier =
      mbarrierOf(agent, op, op.getBarrier(), op.getStage());
  if (!mbarrier || !isOneThread(agent, op))
    return Progress::Failed;
  Finding found = order.expectBytes(agent.actor, *mbarrier, op.getBytes());
  if (!found)
    found = order.arriveMBarrier(agent.actor, *mbarrier);
  return concludeMBarrier(found, op, agent, *mbarrier);
}

Progress SmAsyncRules::proxyFence(Agent &agent, ProxyFenceOp op) {
  order.fenceAsync(agent.actor);
  memberOf(agent).areReadsFenced = true;
  return Progress::Advanced;
}

/// The threads of a warp, or more.
void SmAsyncRules::meetInWarp(Agent &agent) {
  Member &member = memberOf(agent);
  member.hasOwnWrites = false;
  member.areReadsMet = member.areReadsFenced;
}

Progress SmAsyncRules::warpSync(Agent &agent, WarpSyncOp op) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  meetInWarp(agent);
  return Progress::Advanced;
}

Progress SmAsyncRules::inOrder(Agent &agent, InOrderOp op) {
  Tracked number = agent.values.lookup(op.getNumber());
  std::optional<int64_t> known;
  if (number.kind == Tracked::Kind::Integer)
    known = integers.known(number.id);
  if (!known || *known == 0) {
    op.emitOpError("expects a number that is not 0, found ")
        << (known ? "0" : "an unknown one") << " (" << agent.where().str()
        << ")";
    return Progress::Failed;
  }
  if (!op.getInFlight() && !memberOf(agent).products.empty()) {
    op.emitOpError("expects no product in flight: the assembler would await "
                   "it here (")
        << agent.where().str() << ")";
    return Progress::Failed;
  }
  return Progress::Advanced;
}

Progress SmAsyncRules::namedBarrier(Agent &agent, NamedBarrierOp op) {
  Member &member = memberOf(agent);
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  Tracked tracked = agent.values.lookup(op.getId());
  std::optional<int64_t> id;
  if (tracked.kind == Tracked::Kind::Integer &&
      tracked.spread == Spread::Uniform)
    id = integers.known(tracked.id);
  // Number 0 is the barrier of the whole block.
  if (!id || *id < 1 || *id > 15) {
    op.emitOpError("expects barrier 1 to 15, found ")
        << (id ? std::to_string(*id) : "an unknown number") << " ("
        << agent.where().str() << ")";
    return Progress::Failed;
  }
  auto [named, isNew] = namedBarriers.try_emplace(*id);
  auto threads = static_cast<int64_t>(op.getThreads());
  if (isNew)
    named->second = {order.addBarrier(threads), threads};
  auto [barrier, expected] = named->second;
  if (threads != expected) {
    op.emitOpError("expects ") << expected << " threads at barrier " << *id
                               << ", as elsewhere, found " << threads;
    return Progress::Failed;
  }
  if (member.waitsAt == Member::Nothing &&
      conclude(order.arrive(agent.actor, barrier), op, agent, barrier) ==
          Progress::Failed)
    return Progress::Failed;
  bool passed = op.getArrive() || order.tryPass(agent.actor, barrier);
  member.waitsAt = passed ? Member::Nothing : Member::Barrier;
  member.waitsFor = barrier;
  if (passed && !op.getArrive())
    meetInWarp(agent);
  return passed ? Progress::Advanced : Progress::Blocked;
}

} // namespace selvedge::verify
