// An explanation in numbers.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Summary.h"

#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace selvedge::explain {

static void countOperation(const Record &record, KernelCounts &counts) {
  counts.loads += record.kind == "load";
  counts.fills += record.kind == "load" && record.fill == "zero";
  counts.masks += record.kind == "mask";
  counts.guards += record.kind == "guard";
  counts.stores += record.kind == "store";
  counts.inits += record.kind == "init";
}

static void countConditions(const Record &record, Summary &summary) {
  for (const Predicate &p : record.predicates) {
    if (p.proved)
      ++summary.proved;
    else if (p.untested)
      ++summary.untested;
    else
      ++(p.partialOnly ? summary.partialOnly : summary.tested);
  }
}

/// The costliest loop of the kernel whose operations run this often: rare
/// cases, such as a speculation that fails, are no cost of a step.
static std::optional<int64_t> stepCost(const Explanation &explanation,
                                       const std::string &kernel,
                                       const char *frequency) {
  std::map<int64_t, int64_t> costs;
  for (const Record &record : explanation.records)
    for (const Instance &instance : record.instances)
      if (instance.kernel == kernel && instance.frequency == frequency)
        costs[instance.loop] += instance.instructions;
  std::optional<int64_t> most;
  for (auto [loop, cost] : costs)
    most = std::max(most.value_or(0), cost);
  return most;
}

static int64_t tileCost(const Explanation &explanation,
                        const std::string &kernel) {
  int64_t cost = 0;
  for (const Record &record : explanation.records)
    for (const InstanceGroup &group : groupInstances(record))
      if (llvm::is_contained(group.kernels, kernel) &&
          llvm::StringRef(group.first.frequency).starts_with("once per tile"))
        cost += group.first.instructions;
  return cost;
}

Summary summarise(const Explanation &explanation) {
  Summary summary;
  for (const std::string &kernel : explanation.kernels)
    summary.kernels.push_back({kernel});
  for (const Record &record : explanation.records) {
    summary.operationsProved += record.status == "proved";
    summary.operationsMerged += record.status == "merged";
    summary.operationsUnused += record.status == "unused";
    if (record.status != "inserted")
      continue;
    countConditions(record, summary);
    for (KernelCounts &counts : summary.kernels)
      if (counts.kernel == record.kernel)
        countOperation(record, counts);
  }
  for (const Schedule &schedule : explanation.schedules)
    summary.costs.push_back(
        {schedule.variant, schedule.kernel,
         stepCost(explanation, schedule.kernel, "per whole iteration"),
         stepCost(explanation, schedule.kernel, "per partial iteration"),
         stepCost(explanation, schedule.kernel, "per loop iteration"),
         tileCost(explanation, schedule.kernel)});
  return summary;
}

} // namespace selvedge::explain
