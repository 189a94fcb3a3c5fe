// Outputs of launches in a row, which have to be equal.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TOOLS_SELVEDGE_REPEATEDOUTPUTS_H
#define SELVEDGE_TOOLS_SELVEDGE_REPEATEDOUTPUTS_H

#include "tools/selvedge/PlacedTensors.h"

#include <optional>

namespace selvedge::cli {

/// Outputs for as many launches as memory has room for, in rounds. Those of the
/// first launch stay, and the device compares all bytes of the others with
/// them: the host reads the first ones, and those that differ.
class RepeatedOutputs {
public:
  static Result<RepeatedOutputs> place(const Device &device,
                                       const Images &images, int64_t launches);

  /// The outputs of the next launches, as they were before the first one.
  Result<std::vector<const PlacedTensors *>> nextRound();
  /// Whether the first round was the last that began.
  bool isFirst() const { return round.first == 0; }
  /// Whether every launch has had its round.
  bool isDone() const { return round.first + round.count == launches; }

  /// Checks what the round's launches left: canaries and gaps, and that all
  /// outputs are those of the first launch, which are put into `first`.
  Status check(const Problem &problem, Outputs &first) const;

private:
  /// Launches of a round: their numbers, and where their outputs lie.
  struct Round {
    int64_t first = 0, count = 0;
    size_t slot = 0;
  };

  explicit RepeatedOutputs(Device device) : device(std::move(device)) {}
  Result<std::vector<int32_t>> findDifferent() const;

  Device device;
  int64_t launches = 0;
  std::vector<PlacedTensors> slots;
  /// As the tensors were before a launch; nothing where there is but one.
  PlacedTensors before;
  std::optional<BitCompare> compare;
  Round round;
};

} // namespace selvedge::cli

#endif // SELVEDGE_TOOLS_SELVEDGE_REPEATEDOUTPUTS_H
