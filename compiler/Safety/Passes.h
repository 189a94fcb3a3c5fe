// Passes that make the contract true.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_PASSES_H
#define SELVEDGE_COMPILER_SAFETY_PASSES_H

#include "dialect/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace selvedge::safety {

#define GEN_PASS_DECL
#include "compiler/Safety/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Safety/Passes.h.inc"

/// Appends the passes that decide what absent lanes hold; with `exact` masks
/// are proved exact.
void addObligations(mlir::OpPassManager &pm, bool exact = false);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_PASSES_H
