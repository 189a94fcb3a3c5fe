// Kernels of sm that load what they store, or add to what is there.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_SM_SMINPLACE_H
#define SELVEDGE_COMPILER_VERIFY_SM_SMINPLACE_H

#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// Proves of what a kernel loads and stores that each element is loaded into
/// registers by whoever needs it before anybody stores it: the store stands
/// behind the load, with a barrier of the block between them, or each thread
/// stores what it alone has loaded.
mlir::LogicalResult checkInPlaceUses(sm::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_SM_SMINPLACE_H
