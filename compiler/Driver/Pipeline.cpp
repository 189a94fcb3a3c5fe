// Which passes run, in which order.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Pipeline.h"

#include "compiler/Safety/Passes.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Target/SM80/Passes.h"
#include "compiler/Verify/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace selvedge::driver {

using namespace mlir;

namespace {

void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Safety on tile: what every path inherits, whatever is scheduled later.
void addSafety(OpPassManager &pm) {
  pm.addPass(createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(safety::createTileObligations());
  pm.addNestedPass<tile::ProgramOp>(safety::createTileOutputInit());
  pm.addPass(createCSEPass());
  pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
      verify::createVerifyTilePadding());
}

/// Sizes and softmax steps, still on tile.
void addBound(OpPassManager &pm, StringRef arch) {
  pm.addPass(schedule::createTileExpandSoftmax());
  pm.addPass(createCSEPass());
  pm.addPass(schedule::createTileBindBlocks({arch.str()}));
  pm.addPass(safety::createTileSimplifyPresence());
  addCleanUp(pm);
}

} // namespace

void buildPipeline(OpPassManager &pm, Emit stage, StringRef arch) {
  if (stage == Emit::Tile)
    return;
  addSafety(pm);
  addBound(pm, arch);
  if (stage == Emit::TileBound)
    return;
  pm.addPass(schedule::createTileToSm());
  addCleanUp(pm);
  if (stage == Emit::SmSeq)
    return;
  pm.addNestedPass<sm::KernelOp>(schedule::createSmAsyncCopies());
  pm.addPass(createCSEPass());
  if (stage == Emit::SmAsync)
    return;
  pm.addPass(sm80::createSmToLanes());
  addCleanUp(pm);
}

} // namespace selvedge::driver
