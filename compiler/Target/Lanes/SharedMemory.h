// The dynamic shared memory of kernels.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H
#define SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace selvedge::lanes {

/// Declares the symbol that all kernels address, once per module.
void declareSharedMemory(mlir::ModuleOp module);

/// Tells the launches of `kernel` how many bytes it needs.
void setSharedBytes(mlir::ModuleOp module, llvm::StringRef kernel,
                    int64_t bytes);

} // namespace selvedge::lanes

#endif // SELVEDGE_COMPILER_TARGET_LANES_SHAREDMEMORY_H
