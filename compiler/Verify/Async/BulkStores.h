// Which rows bulk stores may write.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_BULKSTORES_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_BULKSTORES_H

#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// Whether each bulk store of a kernel writes rows of whole words only: by the
/// tensor's shape, or by a branch on the dimension that its rows have. Tried
/// sizes are multiples of blocks, so that execution would not tell. Also
/// whether rows that are pairs have descriptors of every piece.
mlir::LogicalResult checkBulkStores(sm::KernelOp kernel);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_BULKSTORES_H
