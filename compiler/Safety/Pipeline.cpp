// Which passes decide what absent lanes hold, in which order.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace selvedge::safety {

void addObligations(mlir::OpPassManager &pm, bool exact) {
  pm.addPass(mlir::createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(createTileExactCompares());
  pm.addPass(mlir::createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(createTileClampWeights());
  pm.addNestedPass<tile::ProgramOp>(createTileObligations({exact}));
}

} // namespace selvedge::safety
