// Shared memory of a thread block with roles, in the worst order allowed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H
#define SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H

#include "compiler/Physical/Poison.h"
#include "compiler/Verify/Async/VectorClock.h"
#include "dialect/Sm/Sm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::physical {

/// A stage of a ring of buffers, mbarriers or words.
using StageId = std::pair<mlir::Value, int64_t>;

/// For each warp how much of what it did, and for each barrier how many phases,
/// are known to be over.
using Clock = verify::VectorClock;

/// What is over for a warp, and of that what a fence has ordered before its
/// accesses through the async proxy.
struct View {
  Clock seen, fenced;
};

/// A warp of a warpgroup, or the thread of a `single` role.
struct Warp {
  unsigned index;
  View view;
};
using Warps = llvm::MutableArrayRef<Warp>;

/// Which way an access takes: products and bulk copies the second.
enum class Proxy { Generic, Async };

/// Who reads, and how many reads it began before: the same in every run of a
/// block until one of them gives something else.
using ReadId = std::pair<unsigned, int64_t>;
/// Reads that some order allows to happen beside a write.
using Races = llvm::DenseSet<ReadId>;

/// Buffers, mailboxes and barriers that the roles of a block share, as they are
/// in whatever order of its warps, copies and products is the worst for who
/// reads: data is found only by who knows that its write is over, through
/// barriers and what was known to those who arrived there; who reads what may
/// be overwritten meanwhile gets poison.
///
/// That a write may come before the end of an earlier read shows when it is
/// made: `races` collects these reads, and the block has to run again.
class RoleMemory {
public:
  RoleMemory(PoisonSource &poison, Races &races)
      : poison(poison), races(races) {}

  Warp addWarp();

  /// What a stage holds for warps; the read lasts until finishRead().
  reference::TileRef startRead(Warps warps, StageId stage, Proxy proxy,
                               ReadId id);
  void finishRead(Warps warps, StageId stage, ReadId id);
  /// What was written last, whoever may see it; at first poison.
  reference::TileRef lastWritten(StageId stage);
  /// Each warp writes its part.
  void write(Warps warps, StageId stage, reference::TileRef data);
  /// Orders what the warps have seen before their next asynchronous accesses.
  static void fence(Warps warps);

  /// What is wrong with arriving at a barrier or waiting for one; empty:
  /// nothing.
  using Problem = llvm::StringRef;

  /// Adds to the arrivals of an mbarrier's phase, and to its missing bytes.
  Problem arrive(Warps warps, StageId mbarrier, int64_t arrivals,
                 int64_t bytes);
  /// A bulk copy of `bytes` that is over with the mbarrier's phase.
  Problem copy(Warps warps, StageId stage, reference::TileRef data,
               StageId mbarrier, int64_t bytes);
  /// Waits for the phase of a parity: the current one as far as the warps know,
  /// or the one before.
  Problem wait(Warps warps, StageId mbarrier, int64_t parity, bool &isOver);

  /// Arrives at a named barrier for `expected` threads.
  Problem meet(Warps warps, int64_t id, int64_t threads, int64_t expected,
               int64_t &round);
  /// Whether a round of a named barrier is complete, which is then known.
  bool isComplete(Warps warps, int64_t id, int64_t round);

  /// Whether `races` has more than it had before.
  bool hasNewRaces() const { return isNews; }

private:
  /// What is over when the time of a warp or barrier has come.
  struct Stamp {
    unsigned index;
    uint32_t time;
  };
  using Stamps = llvm::SmallVector<Stamp, 4>;
  struct Read {
    ReadId id;
    Proxy proxy;
    bool isOver = false;
    Stamps ends = {};
  };
  struct Contents {
    reference::TileRef data;
    Proxy proxy = Proxy::Generic;
    Stamps written = {};
    std::vector<Read> reads = {};
  };
  struct Barrier {
    unsigned index;
    int64_t arrived = 0, bytes = 0;
    View gathering = {};
    std::vector<View> released = {}; // by phase that is over

    /// Who has gone on after a phase, and when.
    struct Passage {
      Stamp by;
      int64_t phase;
    };
    std::vector<Passage> passages = {};
    uint32_t phases() const { return static_cast<uint32_t>(released.size()); }
  };

  template <typename Id>
  Barrier &barrier(llvm::DenseMap<Id, Barrier> &all, Id id) {
    auto [it, isNew] = all.try_emplace(id);
    if (isNew)
      it->second.index = indices++;
    return it->second;
  }
  Problem arriveAt(Barrier &barrier, Warps warps, int64_t arrivals,
                   int64_t bytes, int64_t expected);
  /// Joins the views of who ends a phase to those of warps.
  static void learn(Warps warps, const Barrier &barrier, int64_t phase);
  static Stamps stampsOf(Warps warps);
  /// Whether warps know that `stamps` are over, for accesses by a proxy to what
  /// was written through another.
  static bool know(Warps warps, llvm::ArrayRef<Stamp> stamps, Proxy written,
                   Proxy proxy);
  void overwrite(Warps warps, StageId stage, reference::TileRef data,
                 Proxy proxy, Stamps written);
  reference::TileRef poisoned(StageId stage);

  PoisonSource &poison;
  Races &races;
  bool isNews = false;
  unsigned indices = 0; // of warps and barriers in clocks
  llvm::DenseMap<StageId, Contents> contents;
  llvm::DenseMap<StageId, Barrier> mbarriers;
  llvm::DenseMap<int64_t, Barrier> named;
};

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H
