// Which passes run, in which order.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Pipeline.h"

#include "compiler/Safety/Passes.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Target/Lanes/Passes.h"
#include "compiler/Target/SM90/Passes.h"
#include "compiler/Target/TargetInfo.h"
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
void addSafety(OpPassManager &pm, MaskMode masks) {
  pm.addPass(createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(safety::createTileExactCompares());
  pm.addPass(createCSEPass());
  pm.addNestedPass<tile::ProgramOp>(safety::createTileClampWeights());
  pm.addNestedPass<tile::ProgramOp>(
      safety::createTileObligations({masks == MaskMode::Exact}));
  pm.addNestedPass<tile::ProgramOp>(safety::createTileOutputInit());
  pm.addPass(createCSEPass());
  pm.addPass(verify::createStripAttributes());
  pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
      verify::createVerifyTilePadding());
  pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
      verify::createVerifyTileBounds());
  pm.addNestedPass<tile::ProgramOp>(verify::createVerifyTileCoverage());
}

/// Parts of loops, softmax steps and versions: what does not depend on plans.
void addVersions(OpPassManager &pm, StringRef arch) {
  pm.addPass(schedule::createTileSplitVariants({arch.str()}));
  pm.addPass(verify::createVerifyTileParts(schedule::createTileLoopParts()));
  OpPassManager softmax(ModuleOp::getOperationName());
  softmax.addPass(schedule::createTileExpandSoftmax());
  pm.addPass(verify::createVerifyTileGuards(std::move(softmax)));
  pm.addPass(createCSEPass());
  pm.addPass(schedule::createTileRowClasses({arch.str()}));
  pm.addPass(
      verify::createVerifyTileParts(schedule::createTileInteriorParts()));
}

/// Sizes, still on tile.
void addBound(OpPassManager &pm, StringRef arch, const ChosenPlans &plans,
              MaskMode masks) {
  pm.addPass(schedule::createTileBindBlocks(
      {arch.str(), schedule::printChoice(plans.choice), plans.origin}));
  pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
      verify::createVerifyTileKnown());
  if (masks == MaskMode::Exact)
    pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
        safety::createTileExactMasks());
  pm.addPass(safety::createTileSimplifyPresence());
  addCleanUp(pm);
}

/// With `bounds` accesses to memory are checked: of kernels without roles that
/// is done once more in form async.
void addSeq(OpPassManager &pm, bool bounds) {
  pm.addPass(schedule::createTileToSm());
  addCleanUp(pm);
  pm.addPass(verify::createStripAttributes());
  pm.addNestedPass<sm::KernelOp>(verify::createVerifySmPadding());
  if (bounds)
    pm.addPass(verify::createVerifySmBounds());
}

/// Copies that run ahead, and roles where the target has them.
void addAsync(OpPassManager &pm, StringRef arch, const ChosenPlans &plans) {
  if (targetInfo(arch)->hasWarpgroups) {
    schedule::SmWarpRolesOptions options;
    if (plans.choice.rings)
      options.slots = plans.choice.rings;
    options.drop = !plans.choice.bulk;
    llvm::append_range(options.without, plans.withoutRoles);
    options.strict = plans.isStrict;
    OpPassManager roles(ModuleOp::getOperationName());
    roles.addPass(schedule::createSmWarpRoles(options));
    pm.addPass(verify::createVerifySmOrder(std::move(roles)));
  }
  pm.addNestedPass<sm::KernelOp>(schedule::createSmSingleSteps());
  schedule::SmAsyncCopiesOptions options;
  if (plans.choice.stages)
    options.stages = plans.choice.stages;
  pm.addNestedPass<sm::KernelOp>(schedule::createSmAsyncCopies(options));
  pm.addNestedPass<sm::KernelOp>(schedule::createSmReduceScratch());
  pm.addPass(createCSEPass());
  pm.addNestedPass<sm::KernelOp>(verify::createVerifySmPadding());
  pm.addNestedPass<sm::KernelOp>(verify::createVerifySmAsync());
  pm.addPass(verify::createVerifySmBounds());
  pm.addPass(verify::createVerifySmAlignment());
}

} // namespace

void buildProgramPipeline(OpPassManager &pm, Emit stage, StringRef arch,
                          MaskMode masks) {
  if (stage == Emit::Tile)
    return;
  pm.addPass(schedule::createTileExpandProducts());
  pm.addPass(schedule::createTilePackRows());
  addSafety(pm, masks);
  addVersions(pm, arch);
}

void buildKernelPipeline(OpPassManager &pm, Emit stage, StringRef arch,
                         const ChosenPlans &plans, MaskMode masks,
                         ModuleOp written) {
  if (stage == Emit::Tile)
    return;
  OpPassManager bound(ModuleOp::getOperationName());
  addBound(bound, arch, plans, masks);
  pm.addPass(verify::createVerifyTileGuards(std::move(bound)));
  if (stage == Emit::TileBound)
    return;
  OpPassManager lowering(ModuleOp::getOperationName());
  bool hasRoles = targetInfo(arch)->hasWarpgroups;
  addSeq(lowering, stage == Emit::SmSeq || hasRoles);
  if (stage != Emit::SmSeq)
    addAsync(lowering, arch, plans);
  auto demands = verify::createVerifySmDemands(std::move(lowering));
  if (stage == Emit::SmSeq)
    return pm.addPass(std::move(demands));
  OpPassManager emitted(ModuleOp::getOperationName());
  emitted.addPass(std::move(demands));
  pm.addPass(verify::createVerifySmOutputs(std::move(emitted), written));
  pm.addNestedPass<sm::KernelOp>(schedule::createSmDropPresence());
  if (stage != Emit::SmAsync)
    pm.addNestedPass<sm::KernelOp>(schedule::createSmKeepInfinity());
}

void buildLanePipeline(OpPassManager &pm) {
  pm.addPass(sm90::createSmRolesToLanes());
  pm.addPass(lanes::createSmToLanes());
}

/// Upstream's search for equal loop-carried
/// values compares all of them, hundreds here, whenever a loop is visited:
/// three quarters of the time of all passes, and the lowering makes no such
/// values. Nor does it make blocks to be merged.
void addLaneCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass(
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled),
      {"(anonymous namespace)::RemoveDuplicateSuccessorInputUses"}));
  pm.addPass(createCSEPass());
}

} // namespace selvedge::driver
