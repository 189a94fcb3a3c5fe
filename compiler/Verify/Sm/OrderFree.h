// Loops whose steps may be taken in any order.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_SM_ORDERFREE_H
#define SELVEDGE_COMPILER_VERIFY_SM_ORDERFREE_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

/// Whether the steps of the loops of a kernel of form seq that copy tiles,
/// those of loops that continue each other included, give the same result in
/// any order, up to rounding; else an error at the value, with `why` as what
/// asks for it. Each value that a step carries must be one of these, for x and
/// y that no carried value has a part in:
///
///     top = max(top, x)
///     sum = sum * exp2((top before - r) * c) + y * exp2((x - r) * c), summed
///           over lanes or by a product; r is top, or 0 where that is -inf
///     sum = sum + x
///
/// The first two are sums and a maximum in another scale. A step stores
/// nothing, but may add to memory what no carried value has a part in.
llvm::LogicalResult checkOrderFree(sm::KernelOp kernel, llvm::StringRef why);

/// Whether a kernel with roles may take steps of its loops in another order
/// than from the lowest index to the highest, or leave some out: it has idle
/// steps, or copies tiles at indices of which that cannot be seen.
bool mayReorderSteps(sm::KernelOp roles);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_SM_ORDERFREE_H
