// Which elements a program stores.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_MEMORY_STOREDELEMENTS_H
#define SELVEDGE_COMPILER_VERIFY_MEMORY_STOREDELEMENTS_H

#include "compiler/Verify/Memory/GlobalMemory.h"

namespace selvedge::verify {

/// Whether launches have stored what a kernel of the program stores outside of
/// loops and branches, with the sizes and integers of `memory`: each element
/// whose indices and presence follow from these, of long rows the first and the
/// last one. What callers bring, and keep, hides an element that nobody stores.
///
///     tile.store %v, %cache[%b, len[%b] + %t, ...] where(%t < A, ... < N)
///
/// Fails, with an error at `variant`, if not. Of kernels over segments
/// RequiredStores.h tells.
mlir::LogicalResult checkStoredElements(mlir::Operation *variant,
                                        tile::KernelOp kernel,
                                        GlobalMemory &memory, int64_t callers);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_MEMORY_STOREDELEMENTS_H
