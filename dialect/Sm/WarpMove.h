// How the lanes of a warp give each other a tile that changes its layout.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_WARPMOVE_H
#define SELVEDGE_DIALECT_SM_WARPMOVE_H

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace selvedge::sm {

class LayoutAttr;

/// A move of a tile from one layout to another in which every warp keeps its
/// elements: registers are chosen, offered to other lanes, and chosen again.
struct WarpMove {
  static constexpr int64_t numLanes = 32;
  /// A number for each lane.
  using PerLane = std::array<int64_t, numLanes>;

  /// One step: each lane offers a register and reads what some lane offers.
  struct Round {
    /// The register of the source that a lane offers.
    PerLane offers;
    /// The lane that it reads.
    PerLane reads;

    /// Whether every lane reads what it offers itself, so that nothing moves.
    bool isOwn() const;
  };
  /// `reads` as a function of a lane's number: each bit of that may set one of
  /// the result, whose bits in `flips` are then inverted.
  struct LaneMap {
    std::array<int64_t, 5> bits = {};
    int64_t flips = 0;

    /// Whether bits keep their places.
    bool isButterfly() const;
    /// The bits that keep their places, where all others are the same for all
    /// lanes: those of `flips`.
    std::optional<int32_t> keptBits() const;
  };

  /// Elements side by side that registers of the move hold: two of 16 bits, if
  /// they stay together.
  int64_t perRegister = 1;
  std::vector<Round> rounds;
  /// By register of the result: the round in which a lane receives it.
  std::vector<PerLane> received;

  /// The move between two layouts of one tile; none where a warp needs what
  /// another one holds, or where lanes would read each other in a way that no
  /// LaneMap describes.
  static std::optional<WarpMove> find(LayoutAttr from, LayoutAttr to);
  /// The same, by pairs where they stay together; none where shared memory is
  /// cheaper, for elements of so many bytes.
  static std::optional<WarpMove> findCheap(LayoutAttr from, LayoutAttr to,
                                           int64_t bytes);

  /// How lanes read in a round.
  static std::optional<LaneMap> mapOf(const PerLane &reads);
  /// Where each lane takes a register of the result from: a register of the
  /// source, which has its number, or a round in which it reads others, which
  /// has a number behind those of `numSources` registers.
  PerLane takenFrom(int64_t result, int64_t numSources) const;
  /// Instructions of a warp: those that move data, and those that choose.
  int64_t countShuffles() const;
  int64_t countSelects() const;
};

/// Values of `numbers`, each once, in the order of the lanes.
llvm::SmallVector<int64_t> distinct(const WarpMove::PerLane &numbers);

} // namespace selvedge::sm

#endif // SELVEDGE_DIALECT_SM_WARPMOVE_H
