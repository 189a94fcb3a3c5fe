// Looks for sizes that reach code which no usual ones do.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/TrialSearch.h"

#include "dialect/Tile/Limits.h"

namespace selvedge::verify {

using llvm::ArrayRef;

namespace {

/// One search.
struct Search {
  LaunchTrial trial;
  TrialDistance distanceOf;
  unsigned attempts;
  uint64_t best = UINT64_MAX;
  TrialNeed::Ways ways = {};

  size_t numNumbers() const {
    return trial.sizes.size() + trial.samples.size() + 1;
  }

  static int64_t &number(LaunchTrial &trial, size_t i) {
    size_t numSizes = trial.sizes.size(), numSamples = trial.samples.size();
    return i < numSizes                ? trial.sizes[i]
           : i < numSizes + numSamples ? trial.samples[i - numSizes]
                                       : trial.callers;
  }

  /// Takes another trial if that is nearer.
  bool take(LaunchTrial other) {
    if (attempts == 0)
      return false;
    --attempts;
    std::optional<TrialNeed> need = distanceOf(other);
    if (!need || need->distance >= best)
      return false;
    best = need->distance;
    ways = std::move(need->ways);
    trial = std::move(other);
    return true;
  }

  /// The trial with other numbers.
  bool change(ArrayRef<TrialChange> all) {
    constexpr int64_t most = tile::maxExtent;
    LaunchTrial other = trial;
    for (auto [i, by] : all) {
      int64_t &changed = number(other, i);
      changed += by;
      bool isSize = i < trial.sizes.size();
      if (changed > most || changed < (isSize ? 0 : -most))
        return false;
    }
    return take(std::move(other));
  }
  bool change(size_t i, int64_t by) { return change(TrialChange{i, by}); }

  /// All that would bring it nearer, and more of it where what it is compared
  /// with moves, too.
  bool heed() {
    for (int64_t times : {1, 2, 4})
      for (std::vector<TrialChange> more : TrialNeed::Ways(ways)) {
        for (TrialChange &change : more)
          change.by *= times;
        if (!more.empty() && change(more))
          return true;
      }
    return false;
  }

  /// That with or without optional tensors, or where data decide otherwise.
  bool flip() {
    for (bool LaunchTrial::*flag :
         {&LaunchTrial::hasOptionals, &LaunchTrial::takesOthers}) {
      LaunchTrial other = trial;
      other.*flag = !(other.*flag);
      if (take(std::move(other)))
        return true;
    }
    return false;
  }

  /// Changes each number a little, as far as that helps.
  bool descend(llvm::function_ref<uint64_t(uint64_t)> lackOf) {
    bool isNearer = false;
    for (size_t i = 0; i < numNumbers() && best > 0; ++i)
      for (int64_t sign : {1, -1}) {
        // A jump to where it may be, or else whole steps towards it.
        int64_t lack = std::min<uint64_t>(lackOf(best), tile::maxExtent);
        if (best > 0 &&
            ((lack > 1 && follow(i, sign * lack)) || follow(i, sign))) {
          isNearer = true;
          break;
        }
      }
    return isNearer;
  }

  /// Makes some number larger by more: what rounds up to whole steps is no
  /// nearer in between.
  bool leap() {
    for (int64_t by : {64, 8, 1024, 128, 16, 256, 32, 512})
      for (size_t i = 0; i < numNumbers(); ++i)
        if (change(i, by))
          return true;
    return false;
  }

  /// Goes one way while that helps.
  bool follow(size_t i, int64_t by) {
    if (!change(i, by))
      return false;
    while (best > 0 && change(i, by *= 2))
      ;
    return true;
  }
};

} // namespace

void heedNeed(LaunchTrial &trial, TrialNeed &need, TrialDistance distanceOf,
              unsigned attempts) {
  Search search{trial, distanceOf, attempts, need.distance,
                std::move(need.ways)};
  while (search.best > 0 && search.heed())
    ;
  trial = std::move(search.trial);
  need = TrialNeed(search.best, std::move(search.ways));
}

bool searchTrials(LaunchTrial trial, TrialDistance distanceOf,
                  llvm::function_ref<uint64_t(uint64_t)> lackOf,
                  unsigned attempts) {
  Search search{std::move(trial), distanceOf, attempts};
  // A number that helps with optional tensors need not help without them.
  for (bool isOther : {false, true}) {
    search.trial.hasOptionals ^= isOther;
    std::optional<TrialNeed> first = distanceOf(search.trial);
    if (!first)
      return false;
    search.best = first->distance;
    search.ways = std::move(first->ways);
    search.attempts = attempts;
    while (search.best > 0 && (search.heed() || search.descend(lackOf) ||
                               search.flip() || search.leap()))
      ;
    if (search.best == 0)
      return true;
  }
  return false;
}

} // namespace selvedge::verify
