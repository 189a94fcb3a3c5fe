// sm-warp-roles: kernels of form seq to form roles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/WarpRoles.h"

#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Decisions.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMWARPROLES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmWarpRolesPass : impl::SmWarpRolesBase<SmWarpRolesPass> {
  using SmWarpRolesBase::SmWarpRolesBase;

  void runOnOperation() override {
    for (auto plan : getOperation().getOps<PlanOp>()) {
      if (drop)
        dropVariants(plan);
      for (auto variant : plan.getBody().getOps<VariantOp>())
        for (auto launch : variant.getBody().getOps<LaunchOp>())
          if (failed(rewrite(plan, variant, launch)))
            return signalPassFailure();
    }
  }

  /// Leaves the last variant, which takes any tensors.
  void dropVariants(PlanOp plan) {
    SmallVector<VariantOp> variants(plan.getBody().getOps<VariantOp>());
    for (VariantOp variant : ArrayRef(variants).drop_back()) {
      for (auto launch : variant.getBody().getOps<LaunchOp>())
        SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr())
            ->erase();
      variant.erase();
    }
  }

  void refuse(KernelOp kernel, StringRef why) {
    tile::noteDecision(
        kernel, {"roles", "none: every warp copies and computes", why.str()});
  }

  LogicalResult rewrite(PlanOp plan, VariantOp variant, LaunchOp launch) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    if (variant.getAlign() == 0) {
      refuse(kernel, "no tensor map describes tensors of any strides and "
                     "alignment");
      return success();
    }
    std::string why;
    std::optional<RolePlan> roles =
        planRoles(kernel, plan.getTensors(), plan.getDims(), why);
    if (!roles) {
      if (report)
        kernel.emitRemark("runs without roles: ") << why;
      refuse(kernel, why);
      return success();
    }
    FailureOr<KernelOp> emitted = emitRoles(kernel, launch, *roles, slots);
    if (failed(emitted))
      return failure();
    launch.setKernelAttr(FlatSymbolRefAttr::get(emitted->getSymNameAttr()));
    launch.setBlock(32 * emitted->getWarps());
    launch.setPersistent(true);
    launch.setArgsAttr(launchArgs(*emitted));
    variant.setName("bulk");
    kernel.erase();
    return success();
  }
};

} // namespace
} // namespace selvedge::schedule
