// Happens-before among agents, asynchronous operations and barriers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_HAPPENSBEFORE_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_HAPPENSBEFORE_H

#include "compiler/Verify/Async/VectorClock.h"
#include <compare>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace selvedge::verify {

/// Where the caller's program stands: a number of the caller's.
using Site = unsigned;

/// One stage of a ring of buffers in shared memory.
struct Slot {
  unsigned buffer = 0;
  int64_t stage = 0;

  friend auto operator<=>(const Slot &, const Slot &) = default;
};

/// A write that `parts` agents share, each writing a part of the slot; the
/// parts of one instance do not overlap.
struct Part {
  uint64_t instance = 0;
  unsigned parts = 1;
};

/// What carries out an asynchronous operation. Bulk copies and MMAs access
/// shared memory through the async proxy; operations of one agent on Copy or
/// on Mma complete in order, bulk copies in any order.
enum class Engine { Copy, Bulk, Mma };

/// What is wrong with an access or a synchronisation.
enum class Fault {
  OutsideRing,     ///< the stage is not one of the ring's
  NeverWritten,    ///< nothing was written to the slot
  PartMissing,     ///< an agent has not begun to write its part
  InFlight,        ///< the issuing agent itself has not awaited it
  Unordered,       ///< complete for its agent, not ordered for this one
  Unfenced,        ///< ordered, but not for the async proxy
  AwaitedBefore,   ///< the token was awaited already
  NotOwn,          ///< the token belongs to another agent
  TooManyArrivals, ///< the barrier's phase has all of its arrivals
  TooManyBytes,    ///< more bytes than the mbarrier's phase expects
  EarlyArrival,    ///< may count for a phase before the one it is meant for
  PhaseOverrun, ///< the phase may be over, and the next, before a wait sees it
  LeftInFlight, ///< nobody awaits it before the end
};

/// A fault and the earlier operation in conflict, if there is one.
struct Violation {
  Fault fault;
  Slot slot = {};
  std::optional<Site> earlier = {};
};

/// Nothing, or what is wrong.
using Finding = std::optional<Violation>;

/// The state of one execution: for each actor what happens before its next
/// access, for each slot its last write and the reads since. Any one schedule
/// shows every race, because arrivals and waits are refused whose phase another
/// schedule could change.
class HappensBefore {
public:
  /// Adds an agent of `threads` threads that run together.
  Actor addAgent(unsigned threads);
  /// Adds a ring of `stages` slots, never written.
  unsigned addBuffer(int64_t stages);
  /// Adds a barrier that `threads` arriving threads complete.
  unsigned addBarrier(unsigned threads);
  /// Adds an mbarrier with `arrivals` arrivals per phase.
  unsigned addMBarrier(unsigned arrivals);

  /// Starts an asynchronous operation of `agent`; its accesses are made with
  /// the actor that is returned.
  Actor launch(Actor agent, Engine engine, Site site);
  /// An access by an agent or an asynchronous operation.
  Finding read(Actor actor, Slot slot, Site site);
  Finding write(Actor actor, Slot slot, Part part, Site site);

  /// `agent` waits for its operation and those that complete before it.
  Finding await(Actor agent, Actor operation);

  /// Arrival at a barrier; an agent that waits repeats `tryPass` until true.
  Finding arrive(Actor agent, unsigned barrier);
  bool tryPass(Actor agent, unsigned barrier);

  /// Arrivals at an mbarrier; bytes added to, and completed in, its phase.
  Finding arriveMBarrier(Actor agent, unsigned mbarrier, unsigned arrivals = 1);
  Finding expectBytes(Actor agent, unsigned mbarrier, int64_t bytes);
  Finding completeBytes(Actor operation, unsigned mbarrier, int64_t bytes);
  /// Waits for the end of a phase of `parity`: the current one as far as
  /// `agent` knows, or else the one before, which it knows to be over.
  /// `passed` is false where it must wait.
  Finding tryWait(Actor agent, unsigned mbarrier, unsigned parity,
                  bool &passed);

  /// fence.proxy.async: what `agent` has seen, and done so far, is ordered
  /// before its later operations of the async proxy.
  void fenceAsync(Actor agent);

  /// No operation may be left that no agent has waited for.
  Finding finish();

  /// What a barrier or mbarrier lacks, for a deadlock's message.
  std::string describeBarrier(unsigned barrier) const;
  std::string describeMBarrier(unsigned mbarrier) const;

private:
  struct ActorState {
    unsigned threads = 0;
    std::optional<Engine> engine; // none: an agent
    Actor issuer = 0;
    Site site = 0;
    bool awaited = false; // by name, or as an mbarrier's bytes
    /// Of an agent, not awaited: operations that complete in order.
    llvm::SmallVector<Actor, 0> launched = {};
    View view;
  };
  struct Access {
    Actor by;
    uint32_t time;
    Site site;
  };
  struct SlotState {
    std::optional<Part> part; // none: never written
    llvm::SmallVector<Access, 2> writes, reads;
    llvm::SmallVector<Access, 4> before; // of the write in place
  };
  struct Barrier {
    unsigned index; // in View::phases
    unsigned threads = 0, arrived = 0;
    View gathering;
    std::deque<View> released;             // one per phase that is over
    llvm::SmallVector<unsigned> waitingIn; // phase, by agent
  };
  /// An agent's passage through a wait; the phase after `phase` must not end
  /// before it, or the parity would mean another phase.
  struct Passage {
    Actor agent;
    uint32_t time;
    int64_t phase;
  };
  struct MBarrier {
    unsigned index; // in View::phases
    unsigned arrivals = 0, arrived = 0;
    int64_t missingBytes = 0;
    View gathering;
    std::deque<View> released; // one per phase that is over
    llvm::SmallVector<Passage> passages;
  };

  bool usesAsyncProxy(Actor actor) const;
  /// The fault of an access that must follow `earlier`, if it does not.
  Finding check(Actor actor, const Access &earlier, Slot slot) const;
  Access record(Actor actor, Site site) const;
  void release(Actor actor, View &into);
  /// Whether `actor` knows that all phases before the current one are over.
  template <typename B>
  bool knowsPhase(Actor actor, const B &barrier) const {
    return actors[actor].view.phases.at(barrier.index) ==
           barrier.released.size();
  }
  /// Ends the current phase.
  template <typename B>
  void endPhase(B &barrier);
  Finding tryComplete(MBarrier &barrier);

  std::deque<ActorState> actors; // they are many, and not moved
  std::vector<std::vector<SlotState>> buffers;
  std::vector<Barrier> barriers;
  std::vector<MBarrier> mbarriers;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_HAPPENSBEFORE_H
