// Flags that loops carry and that no step ever sets, in a branch.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_NEVERSET_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_NEVERSET_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

/// Whether a branch on a flag is never taken: a loop around it carries the
/// flag, it is false at first, and no step sets it whose branches, on what no
/// step changes, or that go the same way in all of them (`isSame`), go the way
/// that leads here. A tile without keys, where all tiles have as many, is
/// behind none that has left a product to come.
///
///     scf.while (%pending = %false) { ... }
///       scf.if %hasKeys { ... yield %true }
///       else { scf.if %pending { ... }  yield %pending }
bool isNeverSet(mlir::scf::IfOp branch,
                llvm::function_ref<bool(mlir::scf::IfOp)> isSame);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_NEVERSET_H
