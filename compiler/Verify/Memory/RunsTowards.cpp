// Looks for sizes that execute what the usual ones have not.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/TrialSearch.h"
#include "compiler/Verify/Memory/VariantRuns.h"
#include "dialect/Tile/Limits.h"

#include <map>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The work of all searches of a variant, and what one execution may take.
constexpr uint64_t maxWorkTowards = 24 << 20, maxWorkThere = 16 << 20;
/// For a block those it begins with and changes.
constexpr unsigned numStarts = 24, numBegun = 12, numChanges = 128;
/// Sizes that lead there and are too large to be executed.
constexpr unsigned mostTooLong = 3;

std::pair<uint64_t, int64_t> VariantRuns::scan(const LaunchTrial &trial,
                                               size_t launch,
                                               BranchDistance &distance) {
  auto [op, kernel] = launches[launch];
  std::pair<uint64_t, int64_t> nearest{BranchDistance::unknown, 0};
  GlobalMemory memory = makeMemory(trial, /*bySome=*/true);
  // What would not be executed.
  if (trial.numTiles(op) > tile::maxExtent || memory.getWork() > maxWorkThere)
    return nearest;
  // Nothing is written.
  uint64_t begin = memory.getWork();
  for (int64_t block : trial.someBlocks(op))
    nearest =
        std::min(nearest, {kernels[launch].scan(trial.ofSome(op, kernel, block),
                                                memory, distance),
                           block});
  work += memory.getWork() - begin;
  return nearest;
}

std::optional<uint64_t> VariantRuns::approach(const LaunchTrial &trial,
                                              size_t launch,
                                              BranchDistance &distance,
                                              uint64_t limit,
                                              Outcome &outcome) {
  if (work >= maxWork || !isTaken(variant, trial))
    return std::nullopt;
  KernelRuns &runs = kernels[launch];
  Alone alone{launch, /*bySome=*/true};
  if (!runs.hasRoles()) {
    auto [least, block] = scan(trial, launch, distance);
    if (least > 0)
      return least;
    alone.block = block;
    limit = maxWorkThere;
    // What was found is executed, whatever it took to find it.
    maxWork = std::max(maxWork, work + limit);
  }
  outcome = execute(trial, limit, alone);
  if (outcome == Outcome::Refused)
    return std::nullopt;
  uint64_t least = runs.hasRoles() ? distance.takeLeast() : 1;
  return runs.hasReached(distance.getTarget()) ? 0
                                               : std::max<uint64_t>(least, 1);
}

LogicalResult VariantRuns::runTowards() {
  // Thorough proofs that fail take longer than most searches that succeed.
  for (bool isThorough : {false, true}) {
    maxWork = work + maxWorkTowards / 2;
    for (auto [i, runs] : llvm::enumerate(kernels)) {
      if (!runs.findUnreached())
        continue;
      if (isThorough)
        runs.prove(Effort::Thorough);
      for (Block *block : runs.unreachedBlocks(/*all=*/true))
        if (work < maxWork && !runs.hasReached(block) &&
            failed(runTowards(i, block)))
          return failure();
    }
  }
  return success();
}

LogicalResult VariantRuns::runTowards(size_t launch, Block *block) {
  KernelRuns &runs = kernels[launch];
  BranchDistance distance(block);
  if (runs.hasRoles())
    runs.watch(&distance);
  bool isRefused = false;
  unsigned numTooLong = 0;
  uint64_t limit = maxWorkTowards / 32;
  auto distanceOf = [&](const LaunchTrial &trial) -> std::optional<uint64_t> {
    if (isRefused || numTooLong == mostTooLong)
      return std::nullopt;
    Outcome outcome = Outcome::Accepted;
    std::optional<uint64_t> far =
        approach(trial, launch, distance, limit, outcome);
    isRefused = outcome == Outcome::Refused;
    if (outcome == Outcome::TooLong && !runs.hasRoles())
      ++numTooLong;
    return far;
  };
  // The nearest ones first.
  std::multimap<uint64_t, LaunchTrial> starts;
  for (unsigned number = 0; number < numStarts && !runs.hasReached(block);
       ++number)
    for (Further kind : {Further::ByAll, Further::BySome})
      if (std::optional<LaunchTrial> trial = makeTrial(kind, launch, number))
        if (std::optional<uint64_t> far = distanceOf(*trial))
          starts.emplace(*far, std::move(*trial));
  limit = maxWorkThere;
  unsigned numLeft = numBegun;
  for (auto &[far, trial] : starts)
    if (isRefused || far == 0 || numLeft-- == 0 ||
        searchTrials(trial, distanceOf, BranchDistance::lackOf, numChanges))
      break;
  runs.watch(nullptr);
  return failure(isRefused);
}

} // namespace selvedge::verify
