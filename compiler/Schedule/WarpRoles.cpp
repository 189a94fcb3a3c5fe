// sm-warp-roles: kernels of form seq to form roles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/WarpRoles.h"

#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/SinkPresence.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMWARPROLES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmWarpRolesPass : impl::SmWarpRolesBase<SmWarpRolesPass> {
  using SmWarpRolesBase::SmWarpRolesBase;

  void runOnOperation() override {
    for (auto plan : getOperation().getOps<PlanOp>())
      for (auto variant : plan.getBody().getOps<VariantOp>())
        if (variant.getAlign() != 0)
          for (auto launch : variant.getBody().getOps<LaunchOp>())
            if (failed(rewrite(plan, variant, launch)))
              return signalPassFailure();
  }

  LogicalResult rewrite(PlanOp plan, VariantOp variant, LaunchOp launch) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    std::string why;
    std::optional<RolePlan> roles =
        planRoles(kernel, plan.getTensors(), plan.getDims(), why);
    if (!roles) {
      if (report)
        kernel.emitRemark("runs without roles: ") << why;
      return success();
    }
    dropSinkPresence(kernel);
    FailureOr<KernelOp> emitted = emitRoles(kernel, launch, *roles);
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
