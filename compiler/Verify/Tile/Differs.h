// What verifiers say of an operation that a pass has changed.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_DIFFERS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_DIFFERS_H

#include "mlir/IR/Operation.h"

namespace selvedge::verify {

/// Fails with a diagnostic at `after`, which lacks `what` of `before`.
inline llvm::LogicalResult differs(mlir::Operation *before,
                                   mlir::Operation *after,
                                   const llvm::Twine &what) {
  return after->emitOpError("expects ")
             .append(what)
             .attachNote(before->getLoc())
         << "of '" << before->getName() << "' before the pass";
}

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_DIFFERS_H
