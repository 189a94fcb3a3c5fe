// How the final `sm` form keeps an operation safe, and what it costs.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_MECHANISM_H
#define SELVEDGE_COMPILER_EXPLAIN_MECHANISM_H

#include "compiler/Explain/Explanation.h"
#include "mlir/IR/Operation.h"

namespace selvedge::explain {

/// Describes `op` of an sm.kernel, whose note is of kind `kind`.
Instance describeInstance(mlir::Operation *op, llvm::StringRef kind);

/// Predicates of a copy, load or store.
unsigned numPredicates(mlir::Operation *op);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_MECHANISM_H
