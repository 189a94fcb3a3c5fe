// Vector clocks: which accesses of which actors come before.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <array>
#include <cstdint>

namespace selvedge::verify {

/// An agent, or one asynchronous operation.
using Actor = unsigned;

/// For each actor the time up to which its accesses have happened; or for each
/// barrier how far it has come. Each asynchronous operation is an actor and
/// keeps a clock: what clocks have in common they share, in pieces and in
/// groups of pieces, so that a copy costs little however many actors there are.
class VectorClock {
public:
  uint32_t at(unsigned index) const {
    size_t number = index / (pieceSize * groupSize);
    if (number >= groups.size() || !groups[number])
      return 0;
    const Shared<Piece> &piece =
        groups[number]->parts[index / pieceSize % groupSize];
    return piece ? piece->parts[index % pieceSize] : 0;
  }
  void set(unsigned index, uint32_t time) {
    if (at(index) == time)
      return;
    size_t number = index / (pieceSize * groupSize);
    if (number >= groups.size())
      groups.resize(number + 1);
    Group &group = own(groups[number]);
    own(group.parts[index / pieceSize % groupSize]).parts[index % pieceSize] =
        time;
  }
  void join(const VectorClock &other) {
    if (other.groups.size() > groups.size())
      groups.resize(other.groups.size());
    for (auto [mine, theirs] : llvm::zip(groups, other.groups))
      join(mine, theirs);
  }

private:
  static constexpr size_t pieceSize = 16, groupSize = 16;
  template <typename Part, size_t size>
  struct Parts : llvm::RefCountedBase<Parts<Part, size>> {
    std::array<Part, size> parts = std::array<Part, size>();
  };
  /// Null: all times are 0.
  template <typename T>
  using Shared = llvm::IntrusiveRefCntPtr<T>;
  using Piece = Parts<uint32_t, pieceSize>;
  using Group = Parts<Shared<Piece>, groupSize>;

  template <typename T>
  static T &own(Shared<T> &shared) {
    if (!shared)
      shared = llvm::makeIntrusiveRefCnt<T>();
    else if (shared->UseCount() > 1)
      shared = llvm::makeIntrusiveRefCnt<T>(*shared);
    return *shared;
  }

  /// One of the two, where it says all that both say. Without a branch per
  /// time: most of a proof of long paths is here.
  static void join(Shared<Piece> &mine, const Shared<Piece> &theirs) {
    if (isOneOf(mine, theirs))
      return;
    Piece both;
    uint32_t lacksMine = 0, lacksTheirs = 0;
    for (size_t i = 0; i < pieceSize; ++i) {
      both.parts[i] = std::max(mine->parts[i], theirs->parts[i]);
      lacksMine |= both.parts[i] ^ mine->parts[i];
      lacksTheirs |= both.parts[i] ^ theirs->parts[i];
    }
    if (!lacksTheirs)
      mine = theirs;
    else if (lacksMine)
      own(mine).parts = both.parts;
  }
  static void join(Shared<Group> &mine, const Shared<Group> &theirs) {
    if (isOneOf(mine, theirs))
      return;
    llvm::SmallVector<std::pair<size_t, Shared<Piece>>, 4> changed;
    bool isTheirs = true;
    for (size_t i = 0; i < groupSize; ++i) {
      if (mine->parts[i] == theirs->parts[i])
        continue;
      Shared<Piece> both = mine->parts[i];
      join(both, theirs->parts[i]);
      isTheirs &= both == theirs->parts[i];
      if (both != mine->parts[i])
        changed.emplace_back(i, std::move(both));
    }
    if (isTheirs) {
      mine = theirs;
      return;
    }
    if (changed.empty())
      return;
    Group &joined = own(mine);
    for (auto &[i, part] : changed)
      joined.parts[i] = std::move(part);
  }
  /// Whether `mine` is already what both say, or is now.
  template <typename T>
  static bool isOneOf(Shared<T> &mine, const Shared<T> &theirs) {
    if (!theirs || mine == theirs)
      return true;
    if (mine)
      return false;
    mine = theirs;
    return true;
  }

  llvm::SmallVector<Shared<Group>, 0> groups;
};

/// What an actor has seen: through ordinary accesses, and of that what a fence
/// has ordered before its accesses through the async proxy; and, by barrier,
/// the number of phases that are over.
struct View {
  VectorClock seen, fenced, phases;

  void join(const View &other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    phases.join(other.phases);
  }
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_VECTORCLOCK_H
