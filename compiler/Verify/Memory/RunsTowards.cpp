// Looks for sizes that execute what the usual ones have not.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Memory/VariantRuns.h"
#include "dialect/Tile/Limits.h"

#include <map>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The work of all searches of a variant, and what one execution may take.
constexpr uint64_t maxWorkTowards = 24 << 20, maxWorkThere = 16 << 20;
/// For a block those it begins with and changes.
constexpr unsigned numStarts = 25, numHeeded = 36, numBegun = 12,
                   numChanges = 128;
/// Sizes that lead there and are too large to be executed.
constexpr unsigned mostTooLong = 3;

TrialNeed::Ways VariantRuns::changesFor(const LaunchTrial &trial, size_t launch,
                                        const BranchDistance::Ways &ways,
                                        const GlobalMemory &memory) const {
  KernelOp kernel = launches[launch].second;
  PlanOp plan = variant->getParentOfType<PlanOp>();
  size_t numSizes = trial.sizes.size(), numSamples = trial.samples.size();
  auto shapeOf = [&](StringRef name) {
    auto tensors = plan.getTensors().getAsRange<tile::TensorArgAttr>();
    return (*llvm::find_if(tensors,
                           [&](tile::TensorArgAttr tensor) {
                             return tensor.getName() == name;
                           }))
        .getShape();
  };
  // An integer, and the dims that it is promised not to exceed, or that it
  // numbers.
  auto addLoaded = [&](LoadOp load, const BranchDistance::Wish &wish,
                       auto add) {
    std::string name = tensorName(load.getTensor());
    std::optional<int64_t> element = memory.elementOf(name, wish.indices);
    if (!element)
      return;
    int64_t wanted = *element + wish.by;
    auto raise = [&](auto made, int64_t least) {
      for (size_t dim : llvm::seq(numSizes))
        if (made.isFunctionOfSymbol(dim) && least > trial.sizes[dim])
          add(dim, least - trial.sizes[dim]);
    };
    if (std::optional<size_t> sample = memory.sampleOf(name, wish.indices))
      add(numSizes + *sample, wanted - trial.samples[*sample]);
    for (auto promise : plan.getPromises().getAsRange<tile::RequireAttr>())
      if (promise.getTensor() == name && !promise.getOrdered())
        raise(promise.getHi(), wanted);
    for (const auto &[integers, tensor, dim, size] : numbered)
      if (integers == name) {
        raise(shapeOf(name), GlobalMemory::numWithLast);
        AffineExpr extent = shapeOf(tensor).getResult(dim);
        raise(extent, isa<AffineSymbolExpr>(extent) ? wanted * size : wanted);
      }
  };
  auto addWish = [&](const BranchDistance::Wish &wish, auto add) {
    if (auto load = wish.number.getDefiningOp<LoadOp>())
      return addLoaded(load, wish, add);
    auto argument = cast<BlockArgument>(wish.number);
    if (argument.getOwner() != &kernel.getBody().front())
      return;
    Attribute passed = kernel.getArgs()[argument.getArgNumber()];
    if (auto dim = dyn_cast<DimArgAttr>(passed))
      add(llvm::find(plan.getDims(), dim.getDim()) - plan.getDims().begin(),
          wish.by);
    else if (isa<ScalarArgAttr>(passed))
      add(numSizes + numSamples, wish.by);
  };
  TrialNeed::Ways found;
  for (const BranchDistance::Way &way : ways) {
    std::vector<TrialChange> &changes = found.emplace_back();
    auto add = [&](size_t number, int64_t by) {
      // What several wish for is enough for all.
      auto same = llvm::find_if(changes, [&](const TrialChange &change) {
        return change.number == number;
      });
      if (same == changes.end())
        changes.push_back({number, by});
      else if (std::abs(by) > std::abs(same->by))
        same->by = by;
    };
    for (const BranchDistance::Wish &wish : way)
      addWish(wish, add);
  }
  return found;
}

VariantRuns::Scanned VariantRuns::scan(const LaunchTrial &trial, size_t launch,
                                       BranchDistance &distance) {
  auto [op, kernel] = launches[launch];
  Scanned nearest;
  GlobalMemory memory = makeMemory(trial, /*bySome=*/true);
  // What would not be executed.
  if (trial.numTiles(op) > tile::maxExtent || !memory.canBePassed() ||
      memory.getWork() > maxWorkThere)
    return nearest;
  // Nothing is written.
  uint64_t begin = memory.getWork();
  llvm::SmallSetVector<int64_t, 16> blocks;
  blocks.insert_range(trial.someBlocks(op));
  blocks.insert_range(trial.cornerBlocks(op));
  for (int64_t block : blocks) {
    uint64_t far =
        kernels[launch].scan(trial.ofSome(op, kernel, block), memory, distance);
    if (far < nearest.need.distance)
      nearest = {
          TrialNeed(far, changesFor(trial, launch, distance.getWays(), memory)),
          block};
  }
  work += memory.getWork() - begin;
  return nearest;
}

std::optional<TrialNeed> VariantRuns::approach(const LaunchTrial &trial,
                                               size_t launch,
                                               BranchDistance &distance,
                                               uint64_t limit,
                                               Outcome &outcome) {
  if (work >= maxWork || !isTaken(variant, trial))
    return std::nullopt;
  KernelRuns &runs = kernels[launch];
  Alone alone{launch, /*bySome=*/true};
  if (!runs.hasRoles()) {
    Scanned scanned = scan(trial, launch, distance);
    if (scanned.need.distance > 0)
      return scanned.need;
    alone.block = scanned.block;
    limit = maxWorkThere;
    // What was found is executed, whatever it took to find it.
    maxWork = std::max(maxWork, work + limit);
  }
  outcome = execute(trial, limit, alone);
  if (outcome == Outcome::Refused)
    return std::nullopt;
  uint64_t least = runs.hasRoles() ? distance.takeLeast() : 1;
  if (runs.hasReached(distance.getTarget()))
    return 0;
  return TrialNeed(std::max<uint64_t>(least, 1),
                   changesFor(trial, launch, distance.getWays(),
                              makeMemory(trial, /*bySome=*/true)));
}

LogicalResult VariantRuns::runTowards() {
  // Thorough proofs that fail take longer than most searches that succeed.
  for (Effort effort : {Effort::Usual, Effort::Thorough, Effort::BySizes}) {
    maxWork = work + maxWorkTowards / 2;
    for (auto [i, runs] : llvm::enumerate(kernels)) {
      if (!runs.findUnreached())
        continue;
      runs.prove(effort);
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
  auto distanceOf = [&](const LaunchTrial &trial) -> std::optional<TrialNeed> {
    if (isRefused || numTooLong == mostTooLong)
      return std::nullopt;
    Outcome outcome = Outcome::Accepted;
    std::optional<TrialNeed> need =
        approach(trial, launch, distance, limit, outcome);
    isRefused = outcome == Outcome::Refused;
    if (outcome == Outcome::TooLong && !runs.hasRoles())
      ++numTooLong;
    return need;
  };
  // The nearest ones first.
  struct Start {
    LaunchTrial trial;
    TrialNeed need;
  };
  std::multimap<uint64_t, Start> starts;
  auto beginWith = [&](std::optional<LaunchTrial> trial) {
    if (!trial)
      return;
    if (std::optional<TrialNeed> need = distanceOf(*trial))
      starts.emplace(need->distance, Start{std::move(*trial), *need});
  };
  for (unsigned number = 0; number < numStarts && !runs.hasReached(block);
       ++number)
    for (Further kind : {Further::ByAll, Further::BySome})
      beginWith(makeTrial(kind, launch, number));
  // Those of roles are executed to know what they lack.
  for (unsigned number = 0;
       number < numDeepTrials && !runs.hasRoles() && !runs.hasReached(block);
       ++number)
    beginWith(makeDeepTrial(variant, launches[launch], number));
  limit = maxWorkThere;
  // What they lack is little work; one number after the other is more.
  std::multimap<uint64_t, LaunchTrial> nearer;
  for (auto &[far, start] : starts) {
    if (far > 0 && !isRefused)
      heedNeed(start.trial, start.need, distanceOf, numHeeded);
    nearer.emplace(start.need.distance, std::move(start.trial));
    if (start.need.distance == 0)
      break;
  }
  unsigned numLeft = numBegun;
  for (auto &[far, trial] : nearer)
    if (isRefused || far == 0 || numLeft-- == 0 ||
        searchTrials(trial, distanceOf, BranchDistance::lackOf, numChanges))
      break;
  runs.watch(nullptr);
  return failure(isRefused);
}

} // namespace selvedge::verify
