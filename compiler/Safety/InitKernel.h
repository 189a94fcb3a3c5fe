// Kernels that store the init of an output or a temp.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_INITKERNEL_H
#define SELVEDGE_COMPILER_SAFETY_INITKERNEL_H

#include "compiler/Safety/StoreCoverage.h"

namespace selvedge::safety {

/// Adds a kernel `init_<tensor>` that stores the tensor's init over its whole
/// shape, before all others. With `rows` it stores these, and all where they
/// rest on a promise that the caller has broken. `reason` is told by `explain`.
void addInitKernel(tile::ProgramOp program, unsigned tensor,
                   const std::string &reason, std::optional<RowSet> rows);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_INITKERNEL_H
