// sm-warp-roles: kernels of form seq to form roles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/WarpRoles.h"

#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "dialect/Tile/LaunchSizes.h"

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
      for (VariantOp variant :
           llvm::to_vector(plan.getBody().getOps<VariantOp>())) {
        SmallVector<KernelOp> replaced;
        for (auto launch : variant.getBody().getOps<LaunchOp>())
          if (failed(rewrite(variant, launch, replaced)))
            return signalPassFailure();
        for (KernelOp kernel : replaced)
          kernel.erase();
        // Without roles fewer reads are no gain over a variant with roles.
        if (variant.getVersion().getKind() == tile::VersionKind::Packed &&
            !variant.getBulk())
          eraseVariant(variant);
      }
  }

  /// What has a tensor map is aligned wherever the variant is taken, or the
  /// launch where each is chosen by itself: sums that lanes would add one by
  /// one are not among the conditions yet.
  static void addMapped(VariantOp variant, LaunchOp launch, KernelOp kernel) {
    auto add = [&](ArrayAttr when) {
      SmallVector<Attribute> tensors(when.getValue());
      for (auto arg : kernel.getArgs())
        if (auto map = dyn_cast<TensorMapArgAttr>(arg);
            map && !llvm::is_contained(tensors, Attribute(map.getTensor())))
          tensors.push_back(map.getTensor());
      return ArrayAttr::get(kernel.getContext(), tensors);
    };
    variant.setWhenAttr(add(variant.getWhen()));
    if (std::optional<ArrayAttr> when = launch.getWhen())
      launch.setWhenAttr(add(*when));
  }

  /// Adds a kernel that one with roles stands for now to `replaced`.
  LogicalResult rewrite(VariantOp variant, LaunchOp launch,
                        SmallVectorImpl<KernelOp> &replaced) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    if (!kernel.getScheduleAttr())
      return success();
    std::string why;
    std::optional<RolePlan> plan = planRoles(variant, kernel, why);
    if (!plan)
      return kernel.emitOpError("has a schedule of roles and no plan: ") << why;
    FailureOr<KernelOp> emittedKernel = emitRoles(kernel, launch, *plan, slots);
    if (failed(emittedKernel))
      return failure();
    KernelOp emitted = *emittedKernel;
    if (hasJoinedLoops(kernel))
      noteJoinedLoops(emitted);
    addMapped(variant, launch, emitted);
    launch.setKernelAttr(FlatSymbolRefAttr::get(emitted.getSymNameAttr()));
    launch.setBlock(32 * emitted.getWarps());
    launch.setPersistent(true);
    launch.setArgsAttr(launchArgs(emitted));
    variant.setBulk(true);
    if (variant.getVersion().getKind() == tile::VersionKind::Program) {
      replaced.push_back(kernel);
      return success();
    }
    // Named after its variant.
    std::string name = kernel.getSymName().str();
    kernel.erase();
    emitted.setSymName(name);
    launch.setKernel(name);
    return success();
  }
};

} // namespace

void eraseVariant(VariantOp variant) {
  for (auto launch : variant.getBody().getOps<LaunchOp>())
    SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr())
        ->erase();
  variant.erase();
}

std::optional<RolePlan> planRoles(VariantOp variant, KernelOp kernel,
                                  std::string &why) {
  auto plan = variant->getParentOfType<PlanOp>();
  std::optional<RolePlan> roles =
      planRoles(kernel, plan.getTensors(), plan.getDims(), why);
  if (roles && (!tile::getLaunchSizes(plan).empty() ||
                variant.getVersion().getKind() == tile::VersionKind::Packed))
    roles->expectFewRows();
  return roles;
}

} // namespace selvedge::schedule
