// Barriers, fences and registers that warpgroups hand to each other.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

namespace selvedge::sim {

/// Later accesses are told from those that others may know of now.
void Block::release(Warp &w, uint32_t lanes) {
  forLanes(lanes, [&](unsigned lane) {
    uint32_t thread = w.number * warpLanes + lane;
    Knowledge::raise(knowledge[thread].all, thread, w.now);
  });
  ++w.now;
}

void Block::warpSync(Warp &w, uint32_t lanes) {
  release(w, lanes);
  Knowledge known;
  forLanes(lanes, [&](unsigned lane) {
    known.join(knowledge[w.number * warpLanes + lane]);
  });
  forLanes(lanes, [&](unsigned lane) {
    knowledge[w.number * warpLanes + lane].join(known);
  });
}

//===-- Named barriers ----------------------------------------------------===//

std::shared_ptr<const std::unique_ptr<Knowledge>>
Block::arriveAtBarrier(Warp &w, const Instr &in, uint32_t id, uint32_t count,
                       uint32_t lanes) {
  NamedBarrier &barrier = named[id];
  if (barrier.arrived == 0) {
    barrier.expected = count;
    barrier.passed = std::make_shared<std::unique_ptr<Knowledge>>();
  } else if (barrier.expected != count) {
    fail(w, 0, in,
         "arrives at barrier " + std::to_string(id) + " for " +
             std::to_string(count) + " threads, others for " +
             std::to_string(barrier.expected));
    return nullptr;
  }
  release(w, lanes);
  forLanes(lanes, [&](unsigned lane) {
    barrier.known.join(knowledge[w.number * warpLanes + lane]);
  });
  barrier.arrived += warpLanes;
  auto passed = barrier.passed;
  if (barrier.arrived < barrier.expected)
    return passed;
  *passed = std::make_unique<Knowledge>(std::move(barrier.known));
  barrier = NamedBarrier();
  ++changes;
  return passed;
}

Block::Flow Block::barrier(Warp &w, Fragment &f, const Instr &in,
                           uint32_t lanes) {
  auto join = [&](const Knowledge &known) {
    forLanes(lanes, [&](unsigned lane) {
      knowledge[w.number * warpLanes + lane].join(known);
    });
  };
  if (f.wait == Fragment::Wait::Barrier) {
    if (!*f.passed)
      return Flow::Stop;
    join(**f.passed);
    f.wait = Fragment::Wait::Nothing;
    f.passed = nullptr;
    return Flow::Next;
  }
  if ((in.a != noSlot && !needs(w, in.a, lanes, in, "a barrier")) ||
      (in.b != noSlot && !needs(w, in.b, lanes, in, "a barrier")))
    return Flow::Stop;
  auto first = static_cast<unsigned>(__builtin_ctz(lanes));
  uint32_t id = in.a == noSlot ? 0 : w.word(in.a)[first];
  uint32_t count = in.b == noSlot ? launch.threads : w.word(in.b)[first];
  bool isSame = true;
  forLanes(lanes, [&](unsigned lane) {
    isSame &= (in.a == noSlot || w.word(in.a)[lane] == id) &&
              (in.b == noSlot || w.word(in.b)[lane] == count);
  });
  if (!isSame || id >= named.size() || count == 0 || count % warpLanes != 0 ||
      count > launch.threads) {
    fail(w, first, in,
         "names barrier " + std::to_string(id) + " for " +
             std::to_string(count) +
             " threads: expected the same of 16 in all lanes, for whole warps "
             "of the block");
    return Flow::Stop;
  }
  if (in.op == Op::BarrierArrive) {
    arriveAtBarrier(w, in, id, count, lanes);
    return Flow::Next;
  }
  f.wait = Fragment::Wait::Barrier;
  f.number = id;
  f.passed = arriveAtBarrier(w, in, id, count, lanes);
  hasProgress = true;
  return Flow::Stop;
}

//===-- Barriers in memory ------------------------------------------------===//

MBarrier *Block::findMBarrier(Warp &w, unsigned lane, const Instr &in,
                              uint64_t address) {
  auto it = mbarriers.find(static_cast<uint32_t>(address - sharedStart));
  if (it == mbarriers.end()) {
    fail(w, lane, in,
         "names byte " +
             std::to_string(static_cast<int64_t>(address) -
                            int64_t(sharedStart)) +
             " of shared memory, where no mbarrier is");
    return nullptr;
  }
  MBarrier &barrier = it->second;
  uint32_t thread = w.number * warpLanes + lane;
  if (barrier.madeBy != thread &&
      Knowledge::at(knowledge[thread].all, barrier.madeBy) < barrier.madeAt) {
    fail(w, lane, in,
         "uses the mbarrier at byte " + std::to_string(it->first) +
             ", which thread " + std::to_string(barrier.madeBy) +
             " makes: nothing orders the two");
    return nullptr;
  }
  return &barrier;
}

void Block::initMBarrier(Warp &w, const Instr &in, uint32_t lanes) {
  constexpr uint32_t size = 8, mostArrivals = (1U << 20) - 1;
  if (!needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "a barrier"))
    return;
  forLanes(lanes, [&](unsigned lane) {
    auto offset = findShared(w, lane, in, addressOf(w, in, lane), size, size);
    if (!offset ||
        !noteWrite(threadAccess(w, lane, in), w, lane, in, *offset, size))
      return;
    uint32_t count = w.word(in.b)[lane];
    if (mbarriers.count(*offset) || count < 1 || count > mostArrivals)
      return fail(w, lane, in,
                  "makes an mbarrier for " + std::to_string(count) +
                      " arrivals at byte " + std::to_string(*offset) +
                      (mbarriers.count(*offset) ? ", where one is" : ""));
    MBarrier &barrier = mbarriers[*offset];
    barrier.expected = barrier.pending = count;
    barrier.madeBy = w.number * warpLanes + lane;
    barrier.madeAt = w.now;
  });
}

void Block::settle(uint32_t offset, MBarrier &barrier) {
  Time before = barrier.phase;
  barrier.settle(workers.of(Engine::Barrier, offset));
  changes += barrier.phase != before;
}

/// One arrival; with an operand `b` bytes are expected, too. Who does not know
/// that the phase before is over may come too early, and count for it.
void Block::arrive(Warp &w, const Instr &in, uint32_t lanes) {
  if (lanes == 0 || !needs(w, in.a, lanes, in, "an address") ||
      (in.b != noSlot && !needs(w, in.b, lanes, in, "a barrier")))
    return;
  release(w, lanes);
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = addressOf(w, in, lane);
    MBarrier *barrier = findMBarrier(w, lane, in, address);
    if (!barrier)
      return;
    if (barrier->pending == 0)
      return fail(w, lane, in,
                  "is one arrival more than the mbarrier at byte " +
                      std::to_string(address - sharedStart) + " takes");
    auto offset = static_cast<uint32_t>(address - sharedStart);
    uint32_t thread = w.number * warpLanes + lane;
    Time known = Knowledge::at(knowledge[thread].all,
                               workers.of(Engine::Barrier, offset));
    if (known < barrier->phase)
      return fail(w, lane, in,
                  "arrives for phase " + std::to_string(barrier->phase) +
                      " of the mbarrier at byte " + std::to_string(offset) +
                      ", and may come in phase " + std::to_string(known));
    if (in.b != noSlot)
      barrier->bytes += w.word(in.b)[lane];
    --barrier->pending;
    barrier->arriving.join(knowledge[thread]);
    settle(offset, *barrier);
  });
}

/// True where the phase of this parity is over. Who waits may look as soon as
/// the first phase of this parity ends that it does not know to be over: that
/// is all that it knows behind the wait, whatever has happened meanwhile; and
/// where the next phase may end before it looks it may wait for ever. Where no
/// lane sees its phase they wait; late schedules let a first look end in vain.
Block::Flow Block::tryWait(Warp &w, Fragment &f, const Instr &in,
                           uint32_t lanes) {
  if (!needs(w, in.a, lanes, in, "an address") ||
      !needs(w, in.b, lanes, in, "a barrier"))
    return Flow::Stop;
  uint32_t over = 0;
  // By lane the end of a phase that it learns of; 0: it knew it.
  Time ends[warpLanes] = {};
  forLanes(lanes, [&](unsigned lane) {
    uint64_t address = addressOf(w, in, lane);
    MBarrier *barrier = findMBarrier(w, lane, in, address);
    uint32_t parity = w.word(in.b)[lane];
    if (!barrier)
      return;
    if (parity > 1)
      return fail(w, lane, in, "waits for parity " + std::to_string(parity));
    auto offset = static_cast<uint32_t>(address - sharedStart);
    Time known = Knowledge::at(knowledge[w.number * warpLanes + lane].all,
                               workers.of(Engine::Barrier, offset));
    Time needed = (known & 1) != parity ? known : known + 1;
    ends[lane] = needed == known ? 0 : needed;
    if (barrier->phase > needed)
      return fail(w, lane, in,
                  "waits for the end of phase " + std::to_string(needed) +
                      " of the mbarrier at byte " + std::to_string(offset) +
                      ", of which phase " + std::to_string(barrier->phase) +
                      " may be over before it looks");
    if (barrier->phase == needed)
      over |= 1U << lane;
  });
  if (!fault.empty())
    return Flow::Stop;
  if (over == 0 && lanes != 0 &&
      (f.hasLooked || !(schedule.isLate || schedule.isRandom))) {
    f.wait = Fragment::Wait::Phase;
    f.number = changes;
    return Flow::Stop;
  }
  f.wait = Fragment::Wait::Nothing;
  f.hasLooked = over == 0;
  forLanes(lanes, [&](unsigned lane) {
    w.word(in.dst)[lane] = over >> lane & 1;
    setShadow(w, in.dst, lane, 0);
    if ((over >> lane & 1) && ends[lane])
      knowledge[w.number * warpLanes + lane].join(
          findMBarrier(w, lane, in, addressOf(w, in, lane))
              ->knownAfter(ends[lane] - 1));
  });
  return Flow::Next;
}

/// The engines see what a thread knows to be over; of barriers that are new
/// the weaker fence says it.
void Block::fence(Warp &w, const Instr &in, uint32_t lanes) {
  if (lanes == 0)
    return;
  release(w, lanes);
  forLanes(lanes, [&](unsigned lane) {
    uint32_t thread = w.number * warpLanes + lane;
    Knowledge &known = knowledge[thread];
    if (in.op == Op::FenceProxy)
      Knowledge::join(known.visible, known.all);
    for (auto &[offset, barrier] : mbarriers)
      if (barrier.fencedAt == 0 &&
          (barrier.madeBy == thread ||
           Knowledge::at(known.all, barrier.madeBy) >= barrier.madeAt)) {
        barrier.fencedBy = thread;
        barrier.fencedAt = w.now - 1;
      }
  });
}

//===-- Registers ---------------------------------------------------------===//

/// What a warp gives back another can have (PTX ISA, "setmaxnreg").
Block::Flow Block::setRegisters(Warp &w, Fragment &f, const Instr &in) {
  auto wanted = static_cast<uint32_t>(in.imm);
  bool isMore = in.kind != 0;
  if (wanted < 24 || wanted > 256 || wanted % 8 != 0 ||
      (isMore ? wanted < w.registers : wanted > w.registers)) {
    fail(w, 0, in,
         "asks for " + std::to_string(wanted) + " registers, and has " +
             std::to_string(w.registers));
    return Flow::Stop;
  }
  uint32_t before = w.registers * warpLanes, after = wanted * warpLanes;
  if (after > before + freeRegisters) {
    f.wait = Fragment::Wait::Registers;
    f.number = changes;
    return Flow::Stop;
  }
  freeRegisters = freeRegisters + before - after;
  w.registers = wanted;
  f.wait = Fragment::Wait::Nothing;
  ++changes;
  return Flow::Next;
}

} // namespace selvedge::sim
