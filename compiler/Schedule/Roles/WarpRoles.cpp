// sm-warp-roles: kernels of form seq to form roles.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/WarpRoles.h"

#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/LaunchSizes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

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
      SmallVector<VariantOp> variants(plan.getBody().getOps<VariantOp>());
      // The last variant takes any tensors.
      if (drop)
        while (variants.size() > 1) {
          erase(variants.front());
          variants.erase(variants.begin());
        }
      for (VariantOp variant : variants) {
        SmallVector<KernelOp> replaced;
        for (auto launch : variant.getBody().getOps<LaunchOp>())
          if (failed(rewrite(plan, variant, launch, replaced)))
            return signalPassFailure();
        for (KernelOp kernel : replaced)
          kernel.erase();
        // Without roles fewer reads are no gain over a variant with roles.
        if (variant.getVersion().getKind() == tile::VersionKind::Packed &&
            !variant.getBulk())
          erase(variant);
      }
    }
  }

  static void erase(VariantOp variant) {
    for (auto launch : variant.getBody().getOps<LaunchOp>())
      SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr())
          ->erase();
    variant.erase();
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

  void refuse(KernelOp kernel, StringRef why) {
    tile::noteDecision(
        kernel, {"roles", "none: every warp copies and computes", why.str()});
  }

  /// A kernel with roles beside its source; if there can be none, null and why:
  /// it may have no plan, or one for which some operation has no place.
  KernelOp emit(PlanOp plan, VariantOp variant, KernelOp kernel,
                LaunchOp launch, std::string &why, bool &isPlanned) {
    std::optional<RolePlan> roles =
        planRoles(kernel, plan.getTensors(), plan.getDims(), why);
    isPlanned = roles.has_value();
    if (!roles)
      return {};
    if (!tile::getLaunchSizes(plan).empty() ||
        variant.getVersion().getKind() == tile::VersionKind::Packed)
      roles->expectFewRows();
    ScopedDiagnosticHandler errors(
        kernel.getContext(), [&](Diagnostic &diagnostic) {
          if (why.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            why = diagnostic.str();
        });
    FailureOr<KernelOp> emitted = emitRoles(kernel, launch, *roles, slots);
    if (failed(emitted))
      return {};
    if (succeeded(verify(*emitted)))
      return *emitted;
    why = "the code of its roles would be invalid: " + why;
    emitted->erase();
    return {};
  }

  /// The same where copies bring what steps load, and where masked loops are
  /// one with the loop between them: both, or else one of these. Null where
  /// there is nothing to change, or no place for it.
  KernelOp emitChanged(PlanOp plan, VariantOp variant, KernelOp kernel,
                       LaunchOp launch) {
    std::string name = planName(kernel);
    OpBuilder b(kernel);
    for (auto [reads, joins] :
         {std::pair(true, true), {true, false}, {false, true}}) {
      if ((reads && llvm::is_contained(loads, name)) ||
          (joins && llvm::is_contained(apart, name)))
        continue;
      auto changed = cast<KernelOp>(b.clone(*kernel));
      bool isChanged =
          (!reads || stageLoads(changed, plan.getTensors(), joins)) &&
          (!joins || joinLoops(changed));
      std::string why;
      bool isPlanned = false;
      KernelOp emitted =
          isChanged ? emit(plan, variant, changed, launch, why, isPlanned)
                    : KernelOp();
      changed.erase();
      if (emitted && joins)
        noteJoinedLoops(emitted);
      if (emitted)
        return emitted;
    }
    return {};
  }

  /// Adds a kernel that one with roles stands for now to `replaced`.
  LogicalResult rewrite(PlanOp plan, VariantOp variant, LaunchOp launch,
                        SmallVectorImpl<KernelOp> &replaced) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    if (variant.getAlign() == 0) {
      refuse(kernel, "no tensor map describes tensors of any strides and "
                     "alignment");
      return success();
    }
    // Its location says why.
    if (llvm::is_contained(without, planName(kernel)))
      return success();
    std::string why;
    bool isPlanned = false;
    KernelOp emitted = emitChanged(plan, variant, kernel, launch);
    if (!emitted)
      emitted = emit(plan, variant, kernel, launch, why, isPlanned);
    if (!emitted) {
      if (strict && isPlanned)
        return kernel.emitOpError("cannot run with warp roles: ") << why;
      if (report)
        kernel.emitRemark("runs without roles: ") << why;
      refuse(kernel, why);
      return success();
    }
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
} // namespace selvedge::schedule
