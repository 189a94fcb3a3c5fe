// tile-split-variants: a second version of a program for any strides.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/CountedPairs.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Limits.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILESPLITVARIANTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Where pairs may be more than 32 bits count, since no tensor has so many
/// elements along one dimension: that they are not. Null where they never are.
AffineMap pairsAreCounted(ProgramOp program) {
  MLIRContext *ctx = program.getContext();
  SmallVector<AffineExpr> conditions;
  for (auto kernel : program.getBody().getOps<KernelOp>())
    for (auto range : kernel.getRanges().getAsRange<IterAttr>()) {
      AffineExpr extent = range.getExtent().getResult(0),
                 rest = maxExtent - extent;
      if (extent.getKind() == AffineExprKind::Mul &&
          !analysis::countsPairs(program, extent) &&
          !llvm::is_contained(conditions, rest))
        conditions.push_back(rest);
    }
  return conditions.empty()
             ? AffineMap()
             : AffineMap::get(0, program.getDims().size(), conditions, ctx);
}

struct TileSplitVariantsPass
    : impl::TileSplitVariantsBase<TileSplitVariantsPass> {
  using TileSplitVariantsBase::TileSplitVariantsBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = knownTarget(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs) {
      // For the dims of a packed program the other one has such a version.
      if (program.getKind() == VersionKind::Packed)
        continue;
      bool useWarpgroups = false;
      for (auto kernel : program.getBody().getOps<KernelOp>()) {
        useWarpgroups |=
            usesWarpgroups(KernelLayouts(kernel, *target), *target);
      }
      if (!useWarpgroups)
        continue;
      auto universal = cast<ProgramOp>(program->clone());
      universal.makeVersion(
          program, VersionAttr::get(&getContext(), VersionKind::Universal, 0));
      getOperation().insert(std::next(program->getIterator()), universal);
      if (AffineMap conditions = pairsAreCounted(program))
        program.setConditions(conditions);
    }
  }
};

} // namespace
} // namespace selvedge::schedule
