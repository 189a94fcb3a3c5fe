// What is wrong with a thread block, in words.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Block.h"

#include <algorithm>

namespace selvedge::sim {

/// What must not be on its way when a block ends.
void Block::finish() {
  auto report = [&](const std::string &what) {
    if (fault.empty())
      fault = "kernel '" + program.name + "', block " + std::to_string(number) +
              " ends " + what;
  };
  if (!loads.empty())
    report("while a bulk copy writes to its shared memory");
  if (launch.isDependent &&
      std::all_of(warps.begin(), warps.end(),
                  [](const Warp &w) { return w.awaited == 0; }))
    report("and has not waited for the launch before");
  for (const Warp &w : warps) {
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      std::string thread =
          " of thread " + std::to_string(w.number * warpLanes + lane);
      const CopyQueue &copies = w.copies[lane];
      for (size_t i = copies.done; i < copies.groups.size(); ++i)
        if (!copies.groups[i].empty())
          report("while a copy" + thread + " writes to its shared memory");
      if (!copies.open.empty())
        report("with a copy" + thread + " that no group has");
      const BulkQueue &bulk = w.bulk[lane];
      if (bulk.read < bulk.committed)
        report("while a bulk store" + thread + " reads its shared memory");
      if (!bulk.open.empty())
        report("with a bulk store" + thread + " that no group has");
    }
    if (w.productsDone < w.productsCommitted || w.hasOpenProducts)
      report("while products of warp " + std::to_string(w.number) +
             " are in flight");
  }
}

void Block::fail(const Warp &w, unsigned lane, const Instr &in,
                 std::string what) {
  if (!fault.empty())
    return;
  fault = "kernel '" + program.name + "', block " + std::to_string(number) +
          ", thread " + std::to_string(w.number * warpLanes + lane) + " " +
          std::move(what) + "\n  " + program.origins[in.origin];
}

std::string Block::nameOf(Worker who) const {
  if (who < launch.threads)
    return "thread " + std::to_string(who);
  auto [engine, owner] = workers.nameOf(who);
  std::string number = std::to_string(owner);
  switch (engine) {
  case Engine::Copies:
    return "a copy of thread " + number;
  case Engine::Products:
    return "a product of warp " + number;
  case Engine::BulkReads:
    return "a bulk store of thread " + number;
  case Engine::Barrier:
    return "a bulk copy with the mbarrier at byte " + number;
  }
  return "";
}

void Block::failRace(const Warp &w, unsigned lane, const Instr &in,
                     const Accessor &by, const Race &race, bool isWrite,
                     uint32_t offset) {
  std::string verb = isWrite ? "writes" : "reads";
  if (by.who >= launch.threads)
    verb = "has " + nameOf(by.who) + (isWrite ? " write" : " read");
  fail(w, lane, in,
       verb + " byte " + std::to_string(offset) + " of shared memory, which " +
           nameOf(race.who) + (race.wasWrite ? " writes" : " reads") +
           (race.lacksFence ? ": there is no proxy fence between them"
                            : ": nothing orders the two"));
  fault += "\n  the other: " + program.origins[race.origin];
}

std::string Block::describe(const Warp &w, const Fragment &f) const {
  uint32_t count = static_cast<uint32_t>(__builtin_popcount(f.lanes));
  uint32_t first =
      w.number * warpLanes + static_cast<uint32_t>(__builtin_ctz(f.lanes));
  std::string text = "thread " + std::to_string(first);
  if (count > 1)
    text += " and " + std::to_string(count - 1) + " more";
  std::string waits = count > 1 ? " wait" : " waits";
  const Instr &in = program.code[f.pc];
  switch (f.wait) {
  case Fragment::Wait::Nothing:
    return text + " can go on";
  case Fragment::Wait::Lanes:
    text += waits + " for the other lanes of warp " + std::to_string(w.number);
    break;
  case Fragment::Wait::Barrier: {
    const NamedBarrier &barrier = named[f.number];
    text += waits + " at barrier " + std::to_string(f.number) + ", where " +
            std::to_string(barrier.arrived) + " of " +
            std::to_string(barrier.expected) + " threads have arrived";
    break;
  }
  case Fragment::Wait::Phase: {
    uint64_t address = w.word(in.a)[__builtin_ctz(f.lanes)];
    auto it = mbarriers.find(static_cast<uint32_t>(address) - sharedStart);
    text += waits + " for parity " +
            std::to_string(w.word(in.b)[__builtin_ctz(f.lanes)]) +
            " of the mbarrier at byte " + std::to_string(address - sharedStart);
    if (it != mbarriers.end())
      text += ", " + it->second.describe();
    break;
  }
  case Fragment::Wait::Registers:
    text += waits + " for registers, of which " +
            std::to_string(freeRegisters) + " are free";
    break;
  }
  return text + "\n  " + program.origins[in.origin];
}

std::string Block::describeWaits() const {
  std::string text;
  for (const Warp &w : warps)
    for (const Fragment &f : w.fragments)
      text += (text.empty() ? "" : "; ") + describe(w, f);
  return text;
}

} // namespace selvedge::sim
