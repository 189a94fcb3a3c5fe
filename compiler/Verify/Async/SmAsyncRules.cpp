// What each operation of sm, form async, does to shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/SmAsyncRules.h"

#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

SmAsyncRules::SmAsyncRules(Integers &integers, ValueNumbers &numbers,
                           KernelOp kernel, const Trial &trial,
                           GlobalMemory *memory, SinkMatches *sinks)
    : integers(integers), numbers(numbers), kernel(kernel), trial(trial),
      memory(memory), sinks(sinks),
      places(sinks ? sinks->getPlaces() : ownPlaces), expressions(integers) {
  addAgents(kernel);
  if (memory)
    findHeldTensors();
  if (sinks)
    sinks->startBlock();
  unsigned threads = 0;
  for (Member &member : members)
    threads += member.threads;
  blockBarrier = order.addBarrier(threads);
  for (Agent &agent : agents)
    for (ArrayRef<std::pair<Value, int64_t>> known :
         {ArrayRef(trial.dims), ArrayRef(trial.scalars)})
      for (auto [value, number] : known)
        agent.values[value] = {Tracked::Kind::Integer,
                               integers.constant(value.getType(), number)};
}

Progress SmAsyncRules::apply(Agent &agent, Instruction &code) {
  Progress progress =
      code.isShared ? applyShared(agent, code) : Progress::Ignored;
  if (progress == Progress::Ignored)
    code.isShared = code.readsInFlight;
  if (!memory || progress == Progress::Failed || progress == Progress::Blocked)
    return progress;
  // Arithmetic of scalars.
  if (!code.accessesTensors && !code.hasPlaces)
    return progress;
  // What is initialised depends on all ends of segments.
  if (auto reduce = dyn_cast<ReduceOp>(code.op);
      reduce && memory->isInitialising())
    foldLanes(agent, reduce);
  // The warps of a group do the same, each for its lanes.
  Member &member = memberOf(agent);
  bool isAlone = member.role && member.role.getSingle();
  if (isAlone || member.warp == 0) {
    memory->startAccess([&](InFlightDiagnostic &error) {
      error << " (" << agent.where().str() << ")";
      error.attachNote(kernel.getLoc()) << "with " << trial.str(kernel);
    });
    if ((code.accessesTensors && failed(accessTensors(agent, code.op))) ||
        (code.hasPlaces && failed(follow(agent, code.op))))
      return Progress::Failed;
  }
  return Progress::Advanced;
}

Progress SmAsyncRules::applyShared(Agent &agent, const Instruction &code) {
  Operation &op = *code.op;
  if (code.readsInFlight && areInFlight(agent, op))
    return Progress::Failed;
  // Most of what is executed is arithmetic.
  if (op.getDialect() == kernel->getDialect())
    if (std::optional<Progress> progress = applyRole(agent, op))
      return *progress;
  return llvm::TypeSwitch<Operation *, Progress>(&op)
      .Case([&](AllocOp alloc) {
        return addRing(agent, alloc, alloc.getType().getStages());
      })
      .Case([&](SlotOp slotOp) { return slot(agent, slotOp); })
      .Case([&](CopyAsyncOp copy) { return copyAsync(agent, copy); })
      .Case([&](CopyOp copy) {
        fill(agent, copy.getBuffer(), copy.getIndices(), copy.getPresence(),
             copy.getGarbage(), copy);
        return write(agent, agent.actor, memberOf(agent).parts, copy,
                     copy.getBuffer(), newSite(agent, copy));
      })
      .Case<StageOp, StageFragmentOp>([&](auto stageOp) {
        return stage(agent, stageOp, stageOp.getBuffer());
      })
      .Case([&](ClearOp clearOp) {
        memberOf(agent).hasOwnWrites = true;
        clear(agent, clearOp);
        return write(agent, agent.actor, memberOf(agent).parts, clearOp,
                     clearOp.getBuffer(), newSite(agent, clearOp));
      })
      .Case([&](MmaOp mma) {
        for (Value operand : {mma.getLhs(), mma.getRhs()})
          if (isa<BufferType>(operand.getType()) &&
              (read(agent, agent.actor, mma, operand, newSite(agent, mma)) ==
                   Progress::Failed ||
               checkContents(agent, mma, operand) == Progress::Failed))
            return Progress::Failed;
        return Progress::Advanced;
      })
      .Case([&](ExchangeOpInterface other) {
        return code.exchanges ? exchange(agent, other) : Progress::Ignored;
      })
      .Case([&](AwaitOp awaitOp) { return await(agent, awaitOp); })
      .Case([&](BarrierOp barrierOp) { return barrier(agent, barrierOp); })
      .Default([&](Operation *other) {
        auto isShared = [](Type type) {
          return isa<BufferType, TokenType, MBarrierType, MailboxType>(type);
        };
        if (other->getNumRegions() == 0 &&
            llvm::none_of(other->getOperandTypes(), isShared) &&
            llvm::none_of(other->getResultTypes(), isShared))
          return Progress::Ignored;
        other->emitOpError("has no rule in this verifier");
        return Progress::Failed;
      });
}

Progress SmAsyncRules::addRing(Agent &agent, Operation *op, int64_t stages) {
  auto [buffer, isNew] = buffers.try_emplace(op, rings.size());
  if (isNew) {
    rings.push_back(op);
    order.addBuffer(stages);
  }
  agent.values[op->getResult(0)] = {Tracked::Kind::Buffer, buffer->second,
                                    stages == 1 ? 0 : -1};
  return Progress::Advanced;
}

std::optional<int64_t> SmAsyncRules::stageOf(Agent &agent, Operation *op,
                                             Value stage, int64_t stages) {
  Tracked tracked = agent.values.lookup(stage);
  std::optional<int64_t> number;
  if (tracked.kind == Tracked::Kind::Integer &&
      tracked.spread == Spread::Uniform)
    number = integers.known(tracked.id);
  if (!number)
    op->emitOpError("expects a stage that follows from loop counters, found ")
        << stage << " (" << agent.where().str() << ")";
  else if (*number < 0 || *number >= stages)
    op->emitOpError("expects a stage of 0 to ")
        << stages - 1 << ", found " << *number << " (" << agent.where().str()
        << ")";
  else
    return number;
  return {};
}

Progress SmAsyncRules::slot(Agent &agent, SlotOp op) {
  Tracked ring = agent.values.lookup(op.getRing());
  if (ring.kind != Tracked::Kind::Buffer) {
    op.emitOpError("expects a ring from sm.alloc, found ") << op.getRing();
    return Progress::Failed;
  }
  std::optional<int64_t> number =
      stageOf(agent, op, op.getStage(), op.getRing().getType().getStages());
  if (!number)
    return Progress::Failed;
  agent.values[op] = {Tracked::Kind::Buffer, ring.id, *number};
  claim(agent, op);
  // What passes behind this verifier read of a vector they read behind this.
  bool isRead = op.getType().isVector() && !op.getIndices().empty() &&
                llvm::any_of(op->getUsers(), llvm::IsaPred<ReadOp>);
  return isRead ? readByLanes(agent, op, op) : Progress::Advanced;
}

Progress SmAsyncRules::copyAsync(Agent &agent, CopyAsyncOp op) {
  Site site = newSite(agent, op);
  Actor operation = order.launch(agent.actor, Engine::Copy, site);
  agent.values[op.getToken()] = {Tracked::Kind::Token, operation};
  memberOf(agent).copies.push_back(operation);
  fill(agent, op.getBuffer(), op.getIndices(), op.getPresence(),
       op.getGarbage(), op);
  return write(agent, operation, memberOf(agent).parts, op, op.getBuffer(),
               site);
}

Progress SmAsyncRules::await(Agent &agent, AwaitOp op) {
  Tracked token = agent.values.lookup(op.getToken());
  if (token.kind != Tracked::Kind::Token) {
    op.emitOpError("expects a token of sm.copy_async");
    return Progress::Failed;
  }
  ArrayRef<Actor> copies = memberOf(agent).copies;
  if (llvm::is_contained(copies.take_back(op.getPending()), token.id)) {
    op.emitOpError("expects to wait for its copy, found that it may be one of "
                   "the ")
        << op.getPending() << " that are left (" << agent.where().str() << ")";
    return Progress::Failed;
  }
  return conclude(order.await(agent.actor, token.id), op, agent);
}

Progress SmAsyncRules::exchange(Agent &agent, ExchangeOpInterface op) {
  Value scratch = op.getExchangeScratch();
  if (!scratch) {
    op.emitOpError("expects a buffer for the parts of its warps");
    return Progress::Failed;
  }
  Member &member = memberOf(agent);
  if (member.waitsAt == Member::Nothing &&
      write(agent, agent.actor, member.parts, op, scratch,
            newSite(agent, op)) == Progress::Failed)
    return Progress::Failed;
  Progress met = barrier(agent, op);
  return met == Progress::Advanced
             ? read(agent, agent.actor, op, scratch, newSite(agent, op))
             : met;
}

Progress SmAsyncRules::stage(Agent &agent, Operation *op, Value buffer) {
  if (!isWholeWarp(agent, op))
    return Progress::Failed;
  memberOf(agent).hasOwnWrites = true;
  // A slot holds what it is said to: that this is so verify-sm-padding proves.
  auto slot = buffer.getDefiningOp<SlotOp>();
  if (slot && !slot.getIndices().empty())
    fill(agent, buffer, slot.getIndices(), slot.getPresence(),
         slot.getGarbage(), op);
  else
    overwrite(agent, buffer);
  return write(agent, agent.actor, memberOf(agent).parts, op, buffer,
               newSite(agent, op));
}

Progress SmAsyncRules::barrier(Agent &agent, Operation *op) {
  Member &member = memberOf(agent);
  if (agent.frames.size() > 1 && member.role) {
    op->emitOpError("waits for the threads of other roles: expects "
                    "sm.named_barrier inside a role");
    return Progress::Failed;
  }
  if (member.waitsAt == Member::Nothing &&
      conclude(order.arrive(agent.actor, blockBarrier), op, agent,
               blockBarrier) == Progress::Failed)
    return Progress::Failed;
  bool passed = order.tryPass(agent.actor, blockBarrier);
  member.waitsAt = passed ? Member::Nothing : Member::Barrier;
  member.waitsFor = blockBarrier;
  return passed ? Progress::Advanced : Progress::Blocked;
}

Progress SmAsyncRules::read(Agent &agent, Actor actor, Operation *op,
                            Value buffer, Site site) {
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  return slot ? readSlot(agent, actor, op, *slot, site) : Progress::Failed;
}

Progress SmAsyncRules::readSlot(Agent &agent, Actor actor, Operation *op,
                                Slot slot, Site site) {
  Member &member = memberOf(agent);
  if (auto released = member.released.find(slot);
      released != member.released.end() && released->second == loads[slot]) {
    InFlightDiagnostic error = op->emitOpError("expects to read ")
                               << nameOf(slot)
                               << " before it is released, found its release "
                                  "before this read ("
                               << agent.where().str() << ")";
    attachNotes(error, mbarrierRings[ringOfMBarrier[guards[slot]]].op);
    return Progress::Failed;
  }
  return conclude(order.read(actor, slot, site), op, agent);
}

Progress SmAsyncRules::write(Agent &agent, Actor actor, unsigned parts,
                             Operation *op, Value buffer, Site site) {
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  return slot ? writeSlot(agent, actor, parts, op, *slot, site)
              : Progress::Failed;
}

Progress SmAsyncRules::writeSlot(Agent &agent, Actor actor, unsigned parts,
                                 Operation *op, Slot slot, Site site) {
  // Agents that write alone are groups of their own.
  unsigned group = parts > 1 ? agent.group : agents.size() + agent.actor;
  unsigned instance =
      instances.try_emplace({op, {group, ++agent.counts[op]}}, instances.size())
          .first->second;
  return conclude(order.write(actor, slot, {instance, parts}, site), op, agent);
}

Site SmAsyncRules::newSite(Agent &agent, Operation *op) {
  sites.push_back({op, agent.where()});
  return sites.size() - 1;
}

std::optional<Slot> SmAsyncRules::slotOf(Agent &agent, Operation *op,
                                         Value buffer) {
  Tracked tracked = agent.values.lookup(buffer);
  if (tracked.kind == Tracked::Kind::Buffer && tracked.stage >= 0)
    return Slot{tracked.id, tracked.stage};
  op->emitOpError("expects one stage of a buffer from sm.alloc, found ")
      << buffer.getType();
  return {};
}

} // namespace selvedge::verify
