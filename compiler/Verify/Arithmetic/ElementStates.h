// What elementwise operations do to the contents of absent lanes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ELEMENTSTATES_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ELEMENTSTATES_H

#include "compiler/Verify/Arithmetic/Facts.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace selvedge::verify {

/// Facts of each operand of an operation.
using FactsOf = llvm::function_ref<const Facts &(mlir::Value)>;

/// Facts of the result of an elementwise operation: a lane is absent where an
/// operand's is, and holds what the operation makes of the operands' states,
/// Garbage where that is not known.
Facts elementwiseFacts(mlir::Operation *op, FactsOf factsOf);

/// Facts of `condition ? a : b`.
Facts selectFacts(mlir::Value condition, mlir::Value a, mlir::Value b,
                  FactsOf factsOf);

/// What `value` holds where `predicate` is false, as far as its operands tell;
/// none where nothing is known of it: data, or a value of which there are no
/// facts because constants made it.
std::optional<State> derivedState(mlir::Value value, mlir::Value predicate,
                                  FactsOf factsOf);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ELEMENTSTATES_H
