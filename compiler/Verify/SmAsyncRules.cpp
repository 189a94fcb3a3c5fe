// What each operation of sm, form async, does to shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/SmAsyncRules.h"

#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

SmAsyncRules::SmAsyncRules(Integers &integers, MutableArrayRef<Agent> agents)
    : integers(integers), agents(agents) {
  for (auto [i, agent] : llvm::enumerate(agents)) {
    agent.name = ("warp " + Twine(i)).str();
    agent.actor = order.addAgent(/*threads=*/1);
  }
  blockBarrier = order.addBarrier(agents.size());
}

Progress SmAsyncRules::apply(Agent &agent, Operation &op) {
  return llvm::TypeSwitch<Operation *, Progress>(&op)
      .Case([&](AllocOp alloc) {
        auto [buffer, isNew] = buffers.try_emplace(alloc, allocs.size());
        int64_t stages = alloc.getType().getStages();
        if (isNew) {
          allocs.push_back(alloc);
          order.addBuffer(stages);
        }
        agent.values[alloc] = {Tracked::Kind::Buffer, buffer->second,
                               stages == 1 ? 0 : -1};
        return Progress::Advanced;
      })
      .Case([&](SlotOp slotOp) { return slot(agent, slotOp); })
      .Case([&](CopyAsyncOp copy) { return copyAsync(agent, copy); })
      .Case<CopyOp, StageOp>([&](auto writer) {
        return write(agent, agent.actor, writer, writer.getBuffer(),
                     newSite(agent, writer));
      })
      .Case([&](MmaOp mma) {
        for (Value operand : {mma.getLhs(), mma.getRhs()})
          if (isa<BufferType>(operand.getType()) &&
              read(agent, mma, operand) == Progress::Failed)
            return Progress::Failed;
        return Progress::Advanced;
      })
      .Case([&](AwaitOp awaitOp) { return await(agent, awaitOp); })
      .Case([&](BarrierOp barrierOp) { return barrier(agent, barrierOp); })
      .Default([&](Operation *other) {
        auto isShared = [](Type type) {
          return isa<BufferType, TokenType>(type);
        };
        if (other->getNumRegions() == 0 &&
            llvm::none_of(other->getOperandTypes(), isShared) &&
            llvm::none_of(other->getResultTypes(), isShared))
          return Progress::Advanced;
        other->emitOpError("has no rule in this verifier");
        return Progress::Failed;
      });
}

Progress SmAsyncRules::slot(Agent &agent, SlotOp op) {
  Tracked ring = agent.values.lookup(op.getRing());
  Tracked stage = agent.values.lookup(op.getStage());
  std::optional<int64_t> number;
  if (stage.kind == Tracked::Kind::Integer)
    number = integers.known(stage.id);
  if (ring.kind != Tracked::Kind::Buffer || !number) {
    op.emitOpError("expects a ring from sm.alloc and a stage that follows from "
                   "loop counters, found ")
        << op.getStage() << " (" << agent.where().str() << ")";
    return Progress::Failed;
  }
  int64_t stages = op.getRing().getType().getStages();
  if (*number < 0 || *number >= stages) {
    op.emitOpError("expects a stage of 0 to ")
        << stages - 1 << ", found " << *number << " (" << agent.where().str()
        << ")";
    return Progress::Failed;
  }
  agent.values[op] = {Tracked::Kind::Buffer, ring.id, *number};
  return Progress::Advanced;
}

Progress SmAsyncRules::copyAsync(Agent &agent, CopyAsyncOp op) {
  Site site = newSite(agent, op);
  Actor operation = order.launch(agent.actor, Engine::Copy, site);
  agent.values[op.getToken()] = {Tracked::Kind::Token, operation};
  return write(agent, operation, op, op.getBuffer(), site);
}

Progress SmAsyncRules::await(Agent &agent, AwaitOp op) {
  Tracked token = agent.values.lookup(op.getToken());
  if (token.kind != Tracked::Kind::Token) {
    op.emitOpError("expects a token of sm.copy_async");
    return Progress::Failed;
  }
  return conclude(order.await(agent.actor, token.id), op, agent.where());
}

Progress SmAsyncRules::barrier(Agent &agent, BarrierOp op) {
  if (!agent.hasArrived && conclude(order.arrive(agent.actor, blockBarrier), op,
                                    agent.where()) == Progress::Failed)
    return Progress::Failed;
  agent.hasArrived = !order.tryPass(agent.actor, blockBarrier);
  return agent.hasArrived ? Progress::Blocked : Progress::Advanced;
}

Progress SmAsyncRules::read(Agent &agent, Operation *op, Value buffer) {
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  if (!slot)
    return Progress::Failed;
  return conclude(order.read(agent.actor, *slot, newSite(agent, op)), op,
                  agent.where());
}

Progress SmAsyncRules::write(Agent &agent, Actor actor, Operation *op,
                             Value buffer, Site site) {
  std::optional<Slot> slot = slotOf(agent, op, buffer);
  if (!slot)
    return Progress::Failed;
  std::pair<Operation *, unsigned> execution(op, ++agent.counts[op]);
  unsigned instance =
      instances.try_emplace(execution, instances.size()).first->second;
  Part part{instance, static_cast<unsigned>(agents.size())};
  return conclude(order.write(actor, *slot, part, site), op, agent.where());
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
