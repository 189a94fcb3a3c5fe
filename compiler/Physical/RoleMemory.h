// Shared memory of a thread block with roles, in the worst order allowed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H
#define SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H

#include "compiler/Physical/Poison.h"
#include "dialect/Sm/Sm.h"

#include "llvm/ADT/DenseMap.h"

namespace selvedge::physical {

/// A stage of a ring of buffers, mbarriers or words.
using StageId = std::pair<mlir::Value, int64_t>;

/// A write that shows later; it has destroyed what was there.
struct LateWrite {
  StageId stage;
  reference::TileRef data;
  bool isFenced = false;
};

/// Phases of mbarriers that someone has seen complete.
using Seen = llvm::DenseMap<StageId, int64_t>;

/// Buffers, mailboxes and barriers that the roles of a block share. A bulk copy
/// or a word is there for whoever has waited for its mbarrier, what threads
/// write for all when they meet at a barrier behind their proxy fence.
class RoleMemory {
public:
  explicit RoleMemory(PoisonSource &poison) : poison(poison) {}

  /// What a stage holds for someone; at first poison.
  reference::TileRef read(StageId stage, const Seen &seen);
  /// Makes a stage poison until a write to it lands.
  void destroy(StageId stage);

  /// Adds to the arrivals and to the missing bytes of an mbarrier's phase, and
  /// to what comes with it.
  void signal(StageId mbarrier, int64_t arrivals, int64_t bytes,
              llvm::ArrayRef<LateWrite> writes);
  /// Whether the phase of a parity is complete, which is noted then.
  bool passes(StageId mbarrier, int64_t parity, Seen &seen);

  /// Arrives at a named barrier; returns the round that it belongs to.
  int64_t arrive(int64_t id, int64_t threads, int64_t expected,
                 llvm::ArrayRef<LateWrite> writes);
  /// Whether a round of a named barrier is complete.
  bool isComplete(int64_t id, int64_t round) { return named[id].round > round; }

private:
  struct Contents {
    reference::TileRef data;
    /// Phase of an mbarrier that one has to wait for; none: null.
    StageId mbarrier = {};
    int64_t phase = 0;
  };
  struct MBarrier {
    int64_t arrived = 0, bytes = 0, phases = 0;
    std::vector<LateWrite> coming;
  };
  struct NamedBarrier {
    int64_t arrived = 0, round = 0;
    std::vector<LateWrite> coming;
  };

  reference::TileRef poisoned(StageId stage);

  PoisonSource &poison;
  llvm::DenseMap<StageId, Contents> contents;
  llvm::DenseMap<StageId, MBarrier> mbarriers;
  llvm::DenseMap<int64_t, NamedBarrier> named;
};

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_ROLEMEMORY_H
