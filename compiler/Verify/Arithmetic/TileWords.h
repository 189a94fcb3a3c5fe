// What the numbers are that a role takes a tile by.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_TILEWORDS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_TILEWORDS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

#include <vector>

namespace selvedge::verify {

/// Arguments of the loop over tiles, and the values that another role posts for
/// them, all in one place of its code.
using TileWords = llvm::MapVector<mlir::Value, mlir::Value>;

/// The words by which the loops over tiles around `op` take a tile, for each
/// place where they are posted together; empty where there are none. An
/// argument has words where each tile's is received, the first one's before the
/// loop: all from their mailboxes at the same stage.
///
///     sm.post %first to %6[%s]   sm.post %end to %7[%s]      // "order"
///     %a = sm.receive %6[%t]     %b = sm.receive %7[%t]      // "copy"
///     scf.while (%from = %a, %to = %b, ...) { ... }
std::vector<TileWords> tileWordsAt(mlir::Operation *op);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_TILEWORDS_H
