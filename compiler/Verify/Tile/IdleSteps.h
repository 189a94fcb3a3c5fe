// Steps of a loop that change nothing.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_IDLESTEPS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_IDLESTEPS_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

/// Whether a presence is false in all lanes.
using IsAbsent = llvm::function_ref<bool(mlir::ValueRange presence)>;

/// Whether a step of `loop` stores nothing and every value that it carries
/// keeps its value. For `tile` before softmax is expanded.
bool isIdle(mlir::scf::ForOp loop, IsAbsent isAbsent);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_IDLESTEPS_H
