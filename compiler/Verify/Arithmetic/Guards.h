// What would make NaN of a row that nothing contributes to.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_GUARDS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_GUARDS_H

#include "mlir/IR/Operation.h"

namespace selvedge::verify {

/// What may give NaN where no term is left: an exponential against a maximum,
/// which is -inf then, and the inverse of a sum, which is 0. Guarded are the
/// maximum by `m == -inf ? 0 : m`, and what is made of either by
/// `sum == 0 ? 0 : x`.
enum class Unguarded { Exponential, Quotient };

/// "exponential against a maximum that may be -inf"
llvm::StringRef nameOf(Unguarded kind);

/// Calls `visit` for each such operation without its guard, in a kernel of
/// either dialect.
void visitUnguarded(
    mlir::Operation *kernel,
    llvm::function_ref<void(mlir::Operation *, Unguarded)> visit);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_GUARDS_H
