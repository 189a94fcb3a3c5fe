// Passes between the target's operations and the LLVM dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_PASSES_H
#define SELVEDGE_COMPILER_TARGET_PTX_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace selvedge::ptx {

#define GEN_PASS_DECL
#include "compiler/Target/PTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Target/PTX/Passes.h.inc"

/// Appends the passes that bring kernels (`llvm.func` with bodies in arith,
/// math, scf, cf, llvm and nvvm) to the LLVM dialect.
void addLowerToLLVMPasses(mlir::OpPassManager &pm);

/// Registers `selvedge-lower-to-llvm`.
void registerPipelines();

} // namespace selvedge::ptx

#endif // SELVEDGE_COMPILER_TARGET_PTX_PASSES_H
