// Launches of two variants that may be made together.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/MixedLaunches.h"

#include "llvm/Support/MathExtras.h"

#include <set>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

using Sequence = MixedLaunches::Sequence;

FailureOr<Sequence> launchesOf(VariantOp variant, const SymbolTable &symbols) {
  Sequence launches;
  for (auto launch : variant.getBody().getOps<LaunchOp>()) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    if (!kernel)
      return launch.emitOpError("expects a kernel of this module, but got '")
             << launch.getKernel() << "'";
    launches.push_back({launch, kernel});
  }
  return launches;
}

/// Whether launches do the same in the same order: each may take the other's
/// place.
static LogicalResult checkPlaces(const Sequence &launches,
                                 const Sequence &first, VariantOp variant) {
  if (launches.size() != first.size())
    return variant.emitOpError("expects as many launches as the first variant "
                               "has, ")
           << first.size() << ", since they are chosen one by one, found "
           << launches.size();
  for (auto [own, other] : llvm::zip(launches, first)) {
    auto [launch, kernel] = own;
    KernelOp inPlaceOf = other.second;
    std::optional<tile::SourceAttr> a = kernel.getSource(),
                                    b = inPlaceOf.getSource();
    if (!a || !b || a->getKernel() != b->getKernel())
      return launch.emitOpError("expects a kernel made of the same one as '")
             << inPlaceOf.getSymName()
             << "', in whose place it may be launched";
  }
  return success();
}

/// Which launches are of the variant for all strides, as bits: each two differ
/// in some element, and its complement has them the other way round.
static std::set<SmallVector<bool>> choices(const Sequence &launches) {
  std::set<SmallVector<bool>> result;
  for (unsigned bit = 0; bit < llvm::Log2_64_Ceil(launches.size()); ++bit)
    for (bool inverted : {false, true}) {
      SmallVector<bool> isOfLast;
      for (size_t i = 0; i < launches.size(); ++i) {
        // What needs nothing is always taken.
        LaunchOp launch = launches[i].first;
        std::optional<ArrayAttr> when = launch.getWhen();
        isOfLast.push_back(!when->empty() && (i >> bit & 1) != inverted);
      }
      if (llvm::is_contained(isOfLast, true) &&
          llvm::is_contained(isOfLast, false))
        result.insert(std::move(isOfLast));
    }
  return result;
}

FailureOr<std::vector<MixedLaunches>>
mixedLaunches(PlanOp plan, const SymbolTable &symbols) {
  std::vector<MixedLaunches> mixes;
  std::vector<std::pair<VariantOp, Sequence>> variants;
  bool isAny = false, isAll = true;
  for (auto variant : plan.getBody().getOps<VariantOp>()) {
    if (variant.isOfSingleParts())
      continue;
    FailureOr<Sequence> launches = launchesOf(variant, symbols);
    if (failed(launches))
      return failure();
    for (auto [launch, kernel] : *launches) {
      isAny |= launch.getWhen().has_value();
      isAll &= launch.getWhen().has_value();
    }
    variants.emplace_back(variant, std::move(*launches));
  }
  if (!isAny)
    return mixes;
  if (!isAll)
    return plan.emitOpError("expects 'when' of all launches or of none");
  for (auto &[variant, launches] : variants)
    if (failed(checkPlaces(launches, variants.front().second, variant)))
      return failure();
  for (size_t v = 0; v < variants.size(); ++v)
    for (size_t l = v + 1; l < variants.size(); ++l) {
      auto &[variant, own] = variants[v];
      auto &[last, others] = variants[l];
      if (!last.getWhen().empty() || last.getConditions())
        continue;
      for (const SmallVector<bool> &isOfLast : choices(own)) {
        MixedLaunches &mix =
            mixes.emplace_back(MixedLaunches{variant, last, own});
        for (size_t i = 0; i < isOfLast.size(); ++i)
          if (isOfLast[i])
            mix.launches[i] = others[i];
      }
    }
  return mixes;
}

} // namespace selvedge::verify
