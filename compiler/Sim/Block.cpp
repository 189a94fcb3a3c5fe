// A thread block while it is executed: schedule and control.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <numeric>

namespace selvedge::sim {

/// Registers of a multiprocessor, and the most that a thread can have.
static constexpr uint32_t fileRegisters = 65536, mostRegisters = 248;

Block::Block(const Program &program, const Launch &launch, uint32_t number,
             GlobalMemory &global, const Schedule &schedule)
    : program(program), launch(launch), number(number), global(global),
      schedule(schedule), random(schedule.seed * 1000003 + number),
      shared(launch.sharedBytes, program.granule, launch.threads),
      workers(launch.threads), knowledge(launch.threads),
      warps(launch.threads / warpLanes), issued((warps.size() + 3) / 4),
      numIssued(warps.size()) {
  uint32_t perThread =
      std::min(mostRegisters, fileRegisters / launch.threads / 8 * 8);
  freeRegisters = fileRegisters - perThread * launch.threads;
  for (size_t i = 0; i < warps.size(); ++i) {
    Warp &w = warps[i];
    w.number = static_cast<uint32_t>(i);
    w.registers = perThread;
    w.fragments.emplace_back();
    w.words.resize(size_t(program.numSlots) * warpLanes);
    w.shadows.resize(w.words.size());
    w.isDirty.resize(program.numSlots);
    for (const Preset &preset : program.presets) {
      uint64_t value = preset.value;
      if (preset.isArgument) {
        const Argument &argument = launch.arguments[preset.value];
        value = argument.map ? mapSpace + TensorMap::bytes * preset.value
                             : argument.value;
      }
      for (unsigned lane = 0; lane < warpLanes; ++lane)
        if (preset.wide)
          w.wide(preset.slot)[lane] = value;
        else
          w.word(preset.slot)[lane] = static_cast<uint32_t>(value);
    }
  }
}

uint64_t Block::executed() const {
  uint64_t sum = 0;
  for (const Warp &w : warps)
    sum += w.executed;
  return sum;
}

int64_t Block::maxPhases() const {
  int64_t most = 0;
  for (const auto &[offset, barrier] : mbarriers)
    most = std::max<int64_t>(most, barrier.phase);
  return most;
}

//===-- Schedule ----------------------------------------------------------===//

bool Block::turn() {
  hasProgress = false;
  std::vector<size_t> order(warps.size());
  std::iota(order.begin(), order.end(), 0);
  if (schedule.isRandom)
    std::shuffle(order.begin(), order.end(), random);
  else if (schedule.isDescending)
    std::reverse(order.begin(), order.end());
  bool isAnyLeft = false;
  for (size_t i : order) {
    isAnyLeft |= runWarp(warps[i]);
    if (!fault.empty())
      return false;
    // Bulk loads may be over at any time.
    if (schedule.isRandom && !loads.empty() && random() % 4 == 0) {
      std::swap(loads[random() % loads.size()], loads.back());
      BulkLoad load = loads.back();
      loads.pop_back();
      if (!finishLoad(load))
        return false;
    }
  }
  if (!isAnyLeft) {
    finish();
    return false;
  }
  if (hasProgress)
    return true;
  // All wait: now the engines have to go on.
  if (!loads.empty()) {
    BulkLoad load = loads.back();
    loads.pop_back();
    return finishLoad(load);
  }
  fault = "kernel '" + program.name + "', block " + std::to_string(number) +
          ": deadlock: " + describeWaits();
  return false;
}

/// Runs until all its lanes wait or have ended, or a random time is over;
/// whether any is left.
bool Block::runWarp(Warp &w) {
  uint64_t budget = schedule.isRandom ? 1 + random() % 500 : ~uint64_t(0);
  bool parts = schedule.isRandom ? random() % 2 : schedule.parts;
  while (fault.empty()) {
    size_t best = w.fragments.size();
    for (size_t i = 0; i < w.fragments.size(); ++i) {
      if (!isReady(w, w.fragments[i]))
        continue;
      if (best == w.fragments.size() ||
          (w.fragments[i].pc < w.fragments[best].pc) != parts)
        best = i;
    }
    if (best == w.fragments.size())
      break;
    uint64_t before = w.executed;
    runFragment(w, best, budget);
    uint64_t used = w.executed - before;
    if (used >= budget)
      break;
    budget -= used;
  }
  return !w.fragments.empty();
}

bool Block::isReady(const Warp &w, const Fragment &f) const {
  switch (f.wait) {
  case Fragment::Wait::Nothing:
    return true;
  case Fragment::Wait::Lanes: {
    uint32_t here = 0;
    for (const Fragment &other : w.fragments)
      if (other.pc == f.pc && other.wait == Fragment::Wait::Lanes)
        here |= other.lanes;
    return (here | w.exited) == allLanes;
  }
  case Fragment::Wait::Barrier:
    return *f.passed != nullptr;
  case Fragment::Wait::Phase:
  case Fragment::Wait::Registers:
    return f.number != changes;
  }
  return true;
}

void Block::runFragment(Warp &w, size_t index, uint64_t budget) {
  while (budget-- && fault.empty()) {
    Fragment &f = w.fragments[index];
    const Instr &in = program.code[f.pc];
    uint32_t lanes = in.guard == noSlot ? f.lanes : guarded(w, f, in);
    ++w.executed;
    program.isReached[f.pc] = true;
    switch (execute(w, f, in, lanes)) {
    case Flow::Next:
      ++f.pc;
      hasProgress = true;
      break;
    case Flow::Moved:
      hasProgress = true;
      break;
    case Flow::Stop:
      return;
    }
  }
}

//===-- Control -----------------------------------------------------------===//

uint32_t Block::guarded(Warp &w, const Fragment &f, const Instr &in) {
  if (!needs(w, in.guard, f.lanes, in, "whether it is executed"))
    return 0;
  const uint32_t *guard = w.word(in.guard);
  uint32_t lanes = 0;
  forLanes(f.lanes, [&](unsigned lane) {
    lanes |= uint32_t((guard[lane] & 1) != in.negated) << lane;
  });
  return lanes;
}

Block::Flow Block::branch(Warp &w, Fragment &f, const Instr &in) {
  if (!needs(w, in.a, f.lanes, in, "a branch"))
    return Flow::Stop;
  const uint32_t *condition = w.word(in.a);
  uint32_t taken = 0;
  forLanes(f.lanes, [&](unsigned lane) {
    taken |= uint32_t(condition[lane] & 1) << lane;
  });
  if (taken == f.lanes)
    return Flow::Next;
  hasProgress = true;
  if (taken == 0) {
    f.pc = in.target;
    return Flow::Moved;
  }
  Fragment other = f;
  other.pc = in.target;
  other.lanes &= ~taken;
  f.lanes = taken;
  ++f.pc;
  w.fragments.push_back(other);
  return Flow::Stop;
}

/// Lanes that are here become one fragment; where lanes meet again soon those
/// that are ahead wait for the others.
Block::Flow Block::join(Warp &w, Fragment &f) {
  if (w.fragments.size() == 1)
    return Flow::Next;
  hasProgress = true;
  uint32_t pc = f.pc, lanes = f.lanes;
  bool isBehind = false;
  for (size_t i = w.fragments.size(); i-- > 0;) {
    Fragment &other = w.fragments[i];
    if (&other == &f || other.wait != Fragment::Wait::Nothing)
      continue;
    if (other.pc == pc)
      lanes |= other.lanes;
    isBehind |= other.pc < pc;
  }
  f.lanes = lanes;
  std::erase_if(w.fragments, [&](const Fragment &other) {
    return other.pc == pc && other.wait == Fragment::Wait::Nothing &&
           other.lanes != lanes;
  });
  bool parts = schedule.isRandom ? random() % 2 : schedule.parts;
  // The vector has moved: whoever is here goes on, later.
  for (Fragment &other : w.fragments)
    if (other.pc == pc && other.lanes == lanes && (parts || !isBehind))
      ++other.pc;
  return Flow::Stop;
}

Block::Flow Block::exit(Warp &w, Fragment &f, uint32_t lanes) {
  if (lanes == 0)
    return Flow::Next;
  hasProgress = true;
  w.exited |= lanes;
  f.lanes &= ~lanes;
  ++f.pc;
  std::erase_if(w.fragments,
                [](const Fragment &other) { return other.lanes == 0; });
  return Flow::Stop;
}

bool Block::gather(Warp &w, Fragment &f) {
  if ((f.lanes | w.exited) == allLanes)
    return true;
  f.wait = Fragment::Wait::Lanes;
  uint32_t pc = f.pc, lanes = 0;
  auto isHere = [&](const Fragment &other) {
    return other.pc == pc && other.wait == Fragment::Wait::Lanes;
  };
  for (const Fragment &other : w.fragments)
    if (isHere(other))
      lanes |= other.lanes;
  hasProgress = true;
  if ((lanes | w.exited) != allLanes)
    return false;
  // One fragment is left, and goes on when it is its turn.
  std::erase_if(w.fragments, isHere);
  Fragment whole;
  whole.pc = pc;
  whole.lanes = lanes;
  w.fragments.push_back(whole);
  return false;
}

Block::Flow Block::execute(Warp &w, Fragment &f, const Instr &in,
                           uint32_t lanes) {
  switch (in.op) {
  case Op::Jump:
    f.pc = in.target;
    return Flow::Moved;
  case Op::BranchIfNot:
    return branch(w, f, in);
  case Op::Join:
    return join(w, f);
  case Op::Exit:
    return exit(w, f, lanes);
  case Op::Trap:
    if (lanes)
      fail(w, static_cast<unsigned>(__builtin_ctz(lanes)), in,
           "executes a trap");
    return Flow::Next;
  case Op::AwaitLaunch:
    w.awaited |= lanes;
    return Flow::Next;
  case Op::Move:
  case Op::MoveWide:
  case Op::Undefine:
    executeMove(w, in, lanes);
    return Flow::Next;
  case Op::IntBinary:
    if (in.width == 64)
      executeIntWide(w, in, lanes);
    else
      executeInt(w, in, lanes);
    return Flow::Next;
  case Op::IntCompare:
    executeCompare(w, in, lanes);
    return Flow::Next;
  case Op::Select:
  case Op::SelectWide:
    executeSelect(w, in, lanes);
    return Flow::Next;
  case Op::ZeroExtend:
  case Op::SignExtend:
  case Op::Truncate:
  case Op::ToWide:
  case Op::ToWideSigned:
  case Op::FromWide:
  case Op::AddWideConstant:
  case Op::ThreadId:
  case Op::BlockId:
  case Op::BlockCount:
  case Op::LaneId:
    executeConversion(w, in, lanes);
    return Flow::Next;
  case Op::ExtractBits:
  case Op::InsertBits:
    executeBits(w, in, lanes);
    return Flow::Next;
  case Op::FloatBinary:
  case Op::FloatUnary:
  case Op::FloatFma:
  case Op::FloatCompare:
  case Op::FloatConvert:
  case Op::IntToFloat:
  case Op::FloatToInt:
  case Op::Pair:
  case Op::PairFma:
    executeFloat(w, in, lanes);
    return Flow::Next;
  case Op::LoadGlobal:
    loadGlobal(w, in, lanes);
    return Flow::Next;
  case Op::StoreGlobal:
    storeGlobal(w, in, lanes);
    return Flow::Next;
  case Op::LoadShared:
    loadShared(w, in, lanes);
    return Flow::Next;
  case Op::StoreShared:
    storeShared(w, in, lanes);
    return Flow::Next;
  case Op::AddGlobal:
    addGlobal(w, in, lanes);
    return Flow::Next;
  case Op::Atomic:
    atomic(w, in, lanes);
    return Flow::Next;
  case Op::CopyAsync:
    copyAsync(w, in, lanes);
    return Flow::Next;
  case Op::CommitCopies:
    forLanes(lanes, [&](unsigned lane) {
      CopyQueue &queue = w.copies[lane];
      ++queue.committed;
      queue.groups.push_back(std::move(queue.open));
      queue.open.clear();
    });
    return Flow::Next;
  case Op::AwaitCopies:
    awaitCopies(w, in, lanes);
    return Flow::Next;
  case Op::AdmitLaunch:
  case Op::Prefetch:
    return Flow::Next;
  case Op::MBarrierInit:
    initMBarrier(w, in, lanes);
    return Flow::Next;
  case Op::MBarrierArrive:
    arrive(w, in, lanes);
    return Flow::Next;
  case Op::MBarrierTryWait:
    return tryWait(w, f, in, lanes);
  case Op::FenceMBarrierInit:
  case Op::FenceProxy:
    fence(w, in, lanes);
    return Flow::Next;
  case Op::TensorLoad:
  case Op::BulkLoad:
    startLoad(w, in, lanes);
    return Flow::Next;
  case Op::TensorStore:
  case Op::TensorAdd:
  case Op::BulkReduce:
    startStore(w, in, lanes);
    return Flow::Next;
  case Op::CommitBulk:
    commitBulk(w, lanes);
    return Flow::Next;
  case Op::AwaitBulk:
    awaitBulk(w, in, lanes);
    return Flow::Next;
  default:
    break;
  }
  // The rest needs all lanes of the warp.
  if (!gather(w, f))
    return Flow::Stop;
  if (f.wait == Fragment::Wait::Lanes)
    f.wait = Fragment::Wait::Nothing;
  switch (in.op) {
  case Op::Shuffle:
    shuffle(w, in, lanes);
    break;
  case Op::VoteAny:
    vote(w, in, lanes);
    break;
  case Op::WarpSync:
    warpSync(w, lanes);
    break;
  case Op::LoadMatrix:
    loadMatrix(w, in, lanes);
    break;
  case Op::StoreMatrix:
    storeMatrix(w, in, lanes);
    break;
  case Op::Mma:
    mma(w, in);
    break;
  case Op::BarrierSync:
  case Op::BarrierArrive:
    return barrier(w, f, in, lanes);
  case Op::WgmmaFence:
    w.isFenced = true;
    break;
  case Op::Wgmma:
    wgmma(w, in);
    break;
  case Op::CommitWgmma:
    ++w.productsCommitted;
    w.hasOpenProducts = w.isFenced = false;
    break;
  case Op::AwaitWgmma: {
    Time done =
        w.productsCommitted - std::min<Time>(w.productsCommitted, Time(in.imm));
    w.productsDone = std::max(w.productsDone, done);
    Worker products = workers.of(Engine::Products, w.number);
    forLanes(lanes, [&](unsigned lane) {
      Knowledge::raise(knowledge[w.number * warpLanes + lane].all, products,
                       w.productsDone);
    });
    break;
  }
  case Op::SetRegisters:
    return setRegisters(w, f, in);
  default:
    fail(w, 0, in, "is no instruction that is known");
  }
  return Flow::Next;
}

} // namespace selvedge::sim
