// Which choices of plans are worth measuring.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PLANCANDIDATES_H
#define SELVEDGE_COMPILER_DRIVER_PLANCANDIDATES_H

#include "compiler/Driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace selvedge::driver {

/// The model's choice first; then one kernel at a time with each of its other
/// plans; then the first with an aspect of its schedule fewer; then other
/// depths of rings or pipelines. The version for any strides keeps its plans:
/// aligned tensors never run it.
std::vector<PlanCandidate> listCandidates(mlir::ModuleOp unbound,
                                          llvm::StringRef arch);

} // namespace selvedge::driver

#endif // SELVEDGE_COMPILER_DRIVER_PLANCANDIDATES_H
