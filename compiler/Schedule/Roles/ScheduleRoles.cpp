// sm-schedule-roles: how warps with roles are to execute kernels of form seq.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/RoleSchedule.h"
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMSCHEDULEROLES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmScheduleRolesPass : impl::SmScheduleRolesBase<SmScheduleRolesPass> {
  using SmScheduleRolesBase::SmScheduleRolesBase;

  void runOnOperation() override {
    for (auto plan : getOperation().getOps<PlanOp>()) {
      SmallVector<VariantOp> variants(plan.getBody().getOps<VariantOp>());
      // The last variant takes any tensors.
      if (drop)
        while (variants.size() > 1) {
          eraseVariant(variants.front());
          variants.erase(variants.begin());
        }
      for (VariantOp variant : variants)
        for (auto launch : variant.getBody().getOps<LaunchOp>())
          if (failed(decide(variant, launch)))
            return signalPassFailure();
    }
  }

  void refuse(KernelOp kernel, StringRef why) {
    tile::noteDecision(
        kernel, {"roles", "none: every warp copies and computes", why.str()});
  }

  /// Without what the options leave out, and what needs that.
  RoleScheduleAttr leaveOut(RoleScheduleAttr decided) const {
    auto has = [&](StringRef aspect) {
      return !llvm::is_contained(off, aspect);
    };
    bool lags = has("lag") || decided.getOverlap() != Overlap::Lagged,
         speculates = decided.getSpeculates() && lags && has("speculation");
    StepOrder order = decided.getOrder();
    if (!speculates || (order == StepOrder::Backward && !has("backward")))
      order = StepOrder::Forward;
    return RoleScheduleAttr::get(
        decided.getContext(), lags ? decided.getOverlap() : Overlap::Apart,
        order, decided.getSlots(), decided.getTileSlots(),
        decided.getStoreParts(), decided.getHost(), speculates,
        decided.getJoined() && speculates,
        decided.getPipelined() && lags && has("pipeline"),
        decided.getInTurn() && lags && has("turns"), decided.getLate());
  }

  /// Gives the kernel a schedule that code can be emitted for; if there is
  /// none, false and why: it may have no plan, or one for which some operation
  /// has no place.
  bool schedule(VariantOp variant, KernelOp kernel, LaunchOp launch,
                std::string &why, bool &isPlanned) {
    std::optional<RolePlan> plan = planRoles(variant, kernel, why);
    isPlanned = plan.has_value();
    if (!plan)
      return false;
    ScopedDiagnosticHandler errors(
        kernel.getContext(), [&](Diagnostic &diagnostic) {
          if (why.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            why = diagnostic.str();
        });
    RoleSchedule decided(kernel, *plan, slots);
    if (!decided.isFit) {
      why = RoleSchedule::misfit;
      return false;
    }
    kernel.setScheduleAttr(leaveOut(decided.asAttr()));
    FailureOr<KernelOp> emitted = emitRoles(kernel, launch, *plan, slots);
    bool isValid = succeeded(emitted) && succeeded(verify(*emitted));
    if (succeeded(emitted)) {
      if (!isValid)
        why = "the code of its roles would be invalid: " + why;
      emitted->erase();
    }
    if (!isValid)
      kernel.removeScheduleAttr();
    return isValid;
  }

  /// The same where copies bring what steps load, and where masked loops are
  /// one with the loop between them: both, or else one of these. Null where
  /// there is nothing to change, or no place for it.
  KernelOp scheduleChanged(VariantOp variant, KernelOp kernel,
                           LaunchOp launch) {
    std::string name = planName(kernel);
    ArrayAttr tensors = variant->getParentOfType<PlanOp>().getTensors();
    OpBuilder b(kernel);
    for (auto [reads, joins] :
         {std::pair(true, true), {true, false}, {false, true}}) {
      if ((reads && llvm::is_contained(loads, name)) ||
          (joins && llvm::is_contained(apart, name)))
        continue;
      auto changed = cast<KernelOp>(b.clone(*kernel));
      std::string why;
      bool isPlanned = false;
      if ((!reads || stageLoads(changed, tensors, joins)) &&
          (!joins || joinLoops(changed)) &&
          schedule(variant, changed, launch, why, isPlanned)) {
        if (joins)
          noteJoinedLoops(changed);
        return changed;
      }
      changed.erase();
    }
    return {};
  }

  LogicalResult decide(VariantOp variant, LaunchOp launch) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
        launch, launch.getKernelAttr());
    if (variant.getAlign() == 0) {
      refuse(kernel, "no tensor map describes tensors of any strides and "
                     "alignment");
      return success();
    }
    // Its location says why.
    if (llvm::is_contained(without, planName(kernel)) ||
        kernel.getScheduleAttr())
      return success();
    if (scheduleChanged(variant, kernel, launch)) {
      kernel.erase();
      return success();
    }
    std::string why;
    bool isPlanned = false;
    if (schedule(variant, kernel, launch, why, isPlanned))
      return success();
    if (strict && isPlanned)
      return kernel.emitOpError("cannot run with warp roles: ") << why;
    if (report)
      kernel.emitRemark("runs without roles: ") << why;
    refuse(kernel, why);
    return success();
  }
};

} // namespace
} // namespace selvedge::schedule
