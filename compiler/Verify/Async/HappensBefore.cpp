// Accesses and asynchronous operations of the happens-before engine.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/HappensBefore.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::verify {

Actor HappensBefore::addAgent(unsigned threads) {
  Actor agent = actors.size();
  actors.emplace_back().threads = threads;
  actors.back().view.seen.set(agent, 1);
  actors.back().issuer = agent;
  return agent;
}

unsigned HappensBefore::addBuffer(int64_t stages) {
  buffers.emplace_back(stages);
  return buffers.size() - 1;
}

Actor HappensBefore::launch(Actor agent, Engine engine, Site site) {
  Actor operation = actors.size();
  ActorState state;
  state.engine = engine;
  state.issuer = agent;
  state.site = site;
  release(agent, state.view);
  state.view.seen.set(operation, 1);
  actors.push_back(std::move(state));
  if (engine != Engine::Bulk)
    actors[agent].launched.push_back(operation);
  return operation;
}

bool HappensBefore::usesAsyncProxy(Actor actor) const {
  const std::optional<Engine> &engine = actors[actor].engine;
  return engine && *engine != Engine::Copy;
}

Finding HappensBefore::check(Actor actor, const Access &earlier,
                             Slot slot) const {
  const View &view = actors[actor].view;
  if (view.seen.at(earlier.by) < earlier.time) {
    // Its issuer has not waited for it, or nothing orders the wait before this.
    Actor issuer = actors[earlier.by].issuer;
    bool inFlight = issuer != earlier.by &&
                    actors[issuer].view.seen.at(earlier.by) < earlier.time;
    return Violation{inFlight ? Fault::InFlight : Fault::Unordered, slot,
                     earlier.site};
  }
  // Of reads, too: a copy may overtake what an agent is still reading.
  if (usesAsyncProxy(actor) && !usesAsyncProxy(earlier.by) &&
      view.fenced.at(earlier.by) < earlier.time)
    return Violation{Fault::Unfenced, slot, earlier.site};
  return {};
}

HappensBefore::Access HappensBefore::record(Actor actor, Site site) const {
  return {actor, actors[actor].view.seen.at(actor), site};
}

Finding HappensBefore::read(Actor actor, Slot slot, Site site) {
  std::vector<SlotState> &ring = buffers[slot.buffer];
  if (slot.stage < 0 || slot.stage >= static_cast<int64_t>(ring.size()))
    return Violation{Fault::OutsideRing, slot};
  SlotState &state = ring[slot.stage];
  if (!state.part)
    return Violation{Fault::NeverWritten, slot};
  for (const Access &written : state.writes)
    if (Finding found = check(actor, written, slot))
      return found;
  if (state.writes.size() < state.part->parts)
    return Violation{Fault::PartMissing, slot, state.writes.front().site};
  state.reads.push_back(record(actor, site));
  return {};
}

Finding HappensBefore::write(Actor actor, Slot slot, Part part, Site site) {
  std::vector<SlotState> &ring = buffers[slot.buffer];
  if (slot.stage < 0 || slot.stage >= static_cast<int64_t>(ring.size()))
    return Violation{Fault::OutsideRing, slot};
  SlotState &state = ring[slot.stage];
  if (!state.part || state.part->instance != part.instance) {
    state.before.clear();
    llvm::append_range(state.before, state.writes);
    llvm::append_range(state.before, state.reads);
    state.writes.clear();
    state.reads.clear();
    state.part = part;
  }
  for (const Access &earlier : state.before)
    if (Finding found = check(actor, earlier, slot))
      return found;
  for (const Access &earlier : state.reads)
    if (Finding found = check(actor, earlier, slot))
      return found;
  state.writes.push_back(record(actor, site));
  return {};
}

Finding HappensBefore::await(Actor agent, Actor operation) {
  ActorState &awaited = actors[operation];
  if (awaited.issuer != agent)
    return Violation{Fault::NotOwn, {}, awaited.site};
  if (awaited.awaited)
    return Violation{Fault::AwaitedBefore, {}, awaited.site};
  awaited.awaited = true;
  actors[agent].view.seen.set(operation, 1);
  if (awaited.engine == Engine::Bulk)
    return {};
  ActorState &state = actors[agent];
  llvm::erase_if(state.launched, [&](Actor earlier) {
    bool isOver =
        earlier <= operation && actors[earlier].engine == awaited.engine;
    if (isOver)
      state.view.seen.set(earlier, 1);
    return isOver;
  });
  return {};
}

Finding HappensBefore::finish() {
  for (Actor operation = 0; operation < actors.size(); ++operation) {
    const ActorState &state = actors[operation];
    bool seen =
        !state.engine || llvm::any_of(actors, [&](const ActorState &agent) {
          return !agent.engine && agent.view.seen.at(operation) != 0;
        });
    if (!seen)
      return Violation{Fault::LeftInFlight, {}, state.site};
  }
  return {};
}

} // namespace selvedge::verify
