// Demands that needed no operation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_PROOFS_H
#define SELVEDGE_COMPILER_EXPLAIN_PROOFS_H

#include "compiler/Explain/Words.h"

namespace selvedge::explain {

/// Index bounds of an access that no predicate tests: the kernel's ranges keep
/// them. `indices` belong to `tensor`; `tested` are the predicates' texts.
std::vector<Predicate> rangeProofs(tile::KernelOp kernel, mlir::Value tensor,
                                   mlir::OperandRange indices,
                                   const std::vector<Predicate> &tested);

/// Why each operand of the program's products holds zeros, or data of other
/// rows, where a contracted lane is absent.
std::vector<Proof> productProofs(tile::ProgramOp program,
                                 const SourceText &source);

/// How each output becomes total.
std::vector<Output> outputs(tile::ProgramOp program);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_PROOFS_H
