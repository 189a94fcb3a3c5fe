// How the kernels run: what the plan chose, and why.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_SCHEDULES_H
#define SELVEDGE_COMPILER_EXPLAIN_SCHEDULES_H

#include "compiler/Explain/Explanation.h"

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::explain {

/// The kernels that the host plan of `module` launches, in the order of its
/// variants.
std::vector<Schedule> schedules(mlir::ModuleOp module);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_SCHEDULES_H
