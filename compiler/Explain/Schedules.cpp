// How the kernels run: what the plan chose, and why.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Schedules.h"

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/AffineWords.h"
#include "dialect/Tile/Decisions.h"

#include "llvm/ADT/StringExtras.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::sm;

static std::string listOf(ArrayAttr names) {
  return llvm::join(llvm::map_range(names.getAsValueRange<StringAttr>(),
                                    [](StringRef name) { return name.str(); }),
                    ", ");
}

/// When a launch takes the variant.
static Choice conditionOf(VariantOp variant) {
  if (variant.getWhen().empty())
    return {"when", "always",
            "it takes any strides and alignment; variants "
            "before it go first where they apply"};
  std::string tensors = listOf(variant.getWhen());
  std::string bytes = std::to_string(variant.getAlign());
  bool isBulk = false;
  for (auto launch : variant.getBody().getOps<LaunchOp>())
    isBulk |= llvm::any_of(launch.getArgs(), [](Attribute arg) {
      return isa<TensorMapArgAttr>(arg);
    });
  std::string dims;
  if (std::optional<AffineMap> conditions = variant.getConditions())
    for (AffineExpr condition : conditions->getResults())
      dims += (dims.empty() ? "; at least 0: " : ", ") +
              tile::wordsOf(condition,
                            variant->getParentOfType<PlanOp>().getDims());
  return {"when",
          tensors + " contiguous in the last dimension, aligned to " + bytes +
              " bytes" + dims,
          isBulk ? "tensor maps describe no other tensors"
                 : "every access moves " + bytes + " bytes"};
}

/// When a launch takes the kernel, whatever others of the variant need; none
/// where that is no less.
static std::optional<Choice> ownConditionOf(VariantOp variant,
                                            LaunchOp launch) {
  std::optional<ArrayAttr> when = launch.getWhen();
  if (!when || when->size() == variant.getWhen().size())
    return std::nullopt;
  return Choice{"alone",
                when->empty() ? "for any strides"
                              : "for " + listOf(*when) + " alone",
                "where tensors that only other kernels of the variant need "
                "are not aligned those are replaced, and this one is not"};
}

std::vector<Schedule> schedules(ModuleOp module) {
  std::vector<Schedule> result;
  for (auto plan : module.getOps<PlanOp>())
    for (auto variant : plan.getBody().getOps<VariantOp>())
      for (auto launch : variant.getBody().getOps<LaunchOp>()) {
        auto kernel = module.lookupSymbol<KernelOp>(launch.getKernel());
        Schedule schedule{variant.getName(),
                          kernel.getSymName().str(),
                          {conditionOf(variant)}};
        if (std::optional<Choice> own = ownConditionOf(variant, launch))
          schedule.choices.push_back(std::move(*own));
        for (const tile::Decision &d : tile::decisionsOf(kernel.getLoc()))
          schedule.choices.push_back({d.what, d.choice, d.why});
        result.push_back(std::move(schedule));
      }
  return result;
}

} // namespace selvedge::explain
