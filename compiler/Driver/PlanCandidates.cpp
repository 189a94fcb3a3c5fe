// Which choices of plans are worth measuring.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PlanCandidates.h"

#include "compiler/Driver/PlanSearch.h"

namespace selvedge::driver {

using schedule::PlanChoice;

std::vector<PlanCandidate> listCandidates(mlir::ModuleOp unbound,
                                          llvm::StringRef arch) {
  std::vector<KernelPlans> kernels = listKernelPlans(unbound, arch);
  auto isUniversal = [](const KernelPlans &kernel) {
    return kernel.isUniversal;
  };
  bool hasRings = llvm::any_of(kernels, isUniversal);
  llvm::erase_if(kernels, isUniversal);
  std::vector<PlanCandidate> candidates;
  auto add = [&](PlanChoice choice, const std::string &words) {
    candidates.push_back({schedule::printChoice(choice), words});
  };
  // The first plan is named too: what is measured stays what it was.
  PlanChoice first;
  std::string firstWords;
  bool copies = false;
  for (const KernelPlans &kernel : kernels) {
    first.tiles[kernel.name] = kernel.plans.front().key;
    firstWords += (firstWords.empty() ? "" : "; ") + kernel.name + ": " +
                  kernel.plans.front().words;
    copies |= kernel.plans.front().smemBytes != 0;
  }
  add(first, firstWords);
  for (const KernelPlans &kernel : kernels)
    for (const KernelPlans::Entry &plan : llvm::drop_begin(kernel.plans)) {
      PlanChoice choice = first;
      choice.tiles[kernel.name] = plan.key;
      add(choice, kernel.name + ": " + plan.words);
    }
  if (!copies)
    return candidates;
  const std::vector<PlanCandidate> tiles(candidates);
  // Schedules of the first plan with one aspect fewer: code that lacks it
  // anyway is that of another candidate.
  if (hasRings)
    for (llvm::StringRef aspect : schedule::scheduleAspects()) {
      PlanChoice choice = first;
      choice.off.insert(aspect.str());
      add(choice, firstWords + "; without " + aspect.str());
    }
  // Depths of what is pipelined, for every choice of tiles.
  for (const PlanCandidate &plan : tiles)
    for (int64_t depth : {2, 3}) {
      PlanChoice choice = *schedule::parseChoice(plan.plan);
      if (!hasRings && depth == 2)
        continue;
      (hasRings ? choice.rings : choice.stages) = depth;
      add(choice,
          plan.words +
              (hasRings ? "; rings of at most " : "; buffers per copy: ") +
              std::to_string(depth));
    }
  return candidates;
}

} // namespace selvedge::driver
