// tile-split-variants: a second version of a program for any strides.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILESPLITVARIANTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

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
    }
  }
};

} // namespace
} // namespace selvedge::schedule
