// What numbers and conditions are loaded from memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_LOADS_H
#define SELVEDGE_COMPILER_ANALYSIS_LOADS_H

#include "dialect/Tile/Tile.h"

#include "llvm/ADT/DenseSet.h"

namespace selvedge::analysis {

/// The loads that a value is computed from, and not what they in turn are.
void loadsOf(mlir::Value v, llvm::DenseSet<mlir::Operation *> &loads);

/// Whether a value depends on memory. A condition that does may be left
/// untested (tile-obligations); others keep accesses inside of tensors.
bool isOfData(mlir::Value v);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_LOADS_H
