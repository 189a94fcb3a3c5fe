// Kernels that were planned for warpgroups and have no roles.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/LostRoles.h"

#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Decisions.h"

#include "llvm/ADT/STLExtras.h"

namespace selvedge::driver {

using namespace mlir;

std::map<std::string, sm::KernelOp> scheduledKernels(ModuleOp module) {
  std::map<std::string, sm::KernelOp> kernels;
  for (auto plan : module.getOps<sm::PlanOp>())
    for (auto variant : plan.getBody().getOps<sm::VariantOp>())
      for (auto launch : variant.getBody().getOps<sm::LaunchOp>()) {
        auto kernel = module.lookupSymbol<sm::KernelOp>(launch.getKernel());
        if (!kernel ||
            variant.getVersion().getKind() == tile::VersionKind::Universal)
          continue;
        bool multiplies = kernel
                              .walk([](Operation *op) {
                                return isa<sm::MmaOp, sm::RoleOp>(op)
                                           ? WalkResult::interrupt()
                                           : WalkResult::advance();
                              })
                              .wasInterrupted();
        if (multiplies)
          kernels[schedule::planName(kernel)] = kernel;
      }
  return kernels;
}

std::vector<LostRoles> findLostRoles(ModuleOp module,
                                     ArrayRef<std::string> planned) {
  std::vector<LostRoles> lost;
  for (auto [name, kernel] : scheduledKernels(module)) {
    if (kernel.hasRoles() || !llvm::is_contained(planned, name))
      continue;
    for (const tile::Decision &decision : tile::decisionsOf(kernel.getLoc()))
      if (decision.what == "roles")
        lost.push_back({name, decision.why});
  }
  return lost;
}

} // namespace selvedge::driver
