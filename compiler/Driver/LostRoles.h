// Kernels that were planned for warpgroups and have no roles.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_LOSTROLES_H
#define SELVEDGE_COMPILER_DRIVER_LOSTROLES_H

#include "dialect/Sm/Sm.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <string>
#include <vector>

namespace selvedge::driver {

/// The kernels of the module, by name in a PlanChoice, that have products and
/// are no version for any strides.
std::map<std::string, sm::KernelOp> scheduledKernels(mlir::ModuleOp module);

/// A kernel, by name in a PlanChoice, and why it has no roles.
struct LostRoles {
  std::string kernel, why;
};

/// The pass that stops at kernels that findLostRoles() finds.
constexpr const char *stopAtLostRoles = "stop-at-lost-roles";

/// Behind `sm-warp-roles`: those of scheduledKernels() that it left as they are
/// although they are `planned` for roles.
std::vector<LostRoles> findLostRoles(mlir::ModuleOp module,
                                     llvm::ArrayRef<std::string> planned);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_LOSTROLES_H
