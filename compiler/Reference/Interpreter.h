// Runs kernels over their iterations.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_INTERPRETER_H
#define SELVEDGE_COMPILER_REFERENCE_INTERPRETER_H

#include "compiler/Reference/Memory.h"

namespace selvedge::reference {

/// Runs all iterations of `kernel`, in parallel, on the tensors of `arguments`.
llvm::Error runKernel(tile::KernelOp kernel, Arguments &arguments,
                      const ReferenceOptions &options);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_INTERPRETER_H
