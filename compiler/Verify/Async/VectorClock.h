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
/// keeps a clock: what clocks have in common they share, in pieces.
class VectorClock {
public:
  uint32_t at(unsigned index) const {
    size_t number = index / pieceSize;
    return number < pieces.size() && pieces[number]
               ? pieces[number]->times[index % pieceSize]
               : 0;
  }
  void set(unsigned index, uint32_t time) {
    size_t number = index / pieceSize;
    if (number >= pieces.size())
      pieces.resize(number + 1);
    if (at(index) != time)
      own(pieces[number]).times[index % pieceSize] = time;
  }
  void join(const VectorClock &other) {
    if (other.pieces.size() > pieces.size())
      pieces.resize(other.pieces.size());
    for (auto [mine, theirs] : llvm::zip(pieces, other.pieces))
      join(mine, theirs);
  }

private:
  static constexpr size_t pieceSize = 32;
  using Times = std::array<uint32_t, pieceSize>;
  struct Piece : llvm::RefCountedBase<Piece> {
    Times times{};
  };
  /// Null: all times are 0.
  using Shared = llvm::IntrusiveRefCntPtr<Piece>;

  static Piece &own(Shared &piece) {
    if (!piece)
      piece = llvm::makeIntrusiveRefCnt<Piece>();
    else if (piece->UseCount() > 1)
      piece = llvm::makeIntrusiveRefCnt<Piece>(*piece);
    return *piece;
  }

  static void join(Shared &mine, const Shared &theirs) {
    if (!theirs || mine == theirs)
      return;
    if (!mine) {
      mine = theirs;
      return;
    }
    Times both;
    for (auto [time, a, b] : llvm::zip(both, mine->times, theirs->times))
      time = std::max(a, b);
    if (both == theirs->times)
      mine = theirs;
    else if (both != mine->times)
      own(mine).times = both;
  }

  llvm::SmallVector<Shared, 0> pieces;
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
