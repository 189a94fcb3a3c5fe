// Stops passes whose result would be thrown away.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_STOPPASS_H
#define SELVEDGE_COMPILER_DRIVER_STOPPASS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace selvedge::driver {

/// Whether a module, as far as it has been lowered, has to be planned again.
using IsFutile = std::function<bool(mlir::ModuleOp)>;

/// A pass that fails, without a diagnostic, where that is so: what comes next
/// would be for nothing.
std::unique_ptr<mlir::Pass> createStop(const char *name, IsFutile isFutile);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_STOPPASS_H
