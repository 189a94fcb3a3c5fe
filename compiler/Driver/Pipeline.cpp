// Which passes run, in which order.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Pipeline.h"

#include "compiler/Driver/LostRoles.h"
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

/// Appends what `add` appends, where proofs are made inside of a verifier that
/// runs it.
void addVerified(OpPassManager &pm, bool isProved,
                 function_ref<void(OpPassManager &)> add,
                 std::unique_ptr<Pass> (*verifier)(OpPassManager)) {
  if (!isProved)
    return add(pm);
  OpPassManager passes(ModuleOp::getOperationName());
  add(passes);
  pm.addPass(verifier(std::move(passes)));
}

/// The same of a pass on the kernels of programs.
void addVerifiedOnKernels(OpPassManager &pm, bool isProved,
                          std::unique_ptr<Pass> (*pass)(),
                          std::unique_ptr<Pass> (*verifier)(OpPassManager)) {
  addVerified(
      pm, isProved,
      [&](OpPassManager &passes) {
        passes.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(pass());
      },
      verifier);
}

/// Appends the passes; where proofs are made elsewhere, without verifiers.
class Builder {
public:
  Builder(StringRef arch, MaskMode masks, Proofs proofs, IsFutile isTooLarge)
      : arch(arch), masks(masks), isProved(proofs == Proofs::Made),
        isTooLarge(std::move(isTooLarge)) {}

  /// Safety on tile: what every path inherits, whatever is scheduled later.
  void addSafety(OpPassManager &pm) {
    safety::addObligations(pm, masks == MaskMode::Exact);
    pm.addNestedPass<tile::ProgramOp>(safety::createTileOutputInit());
    pm.addPass(createCSEPass());
    pm.addPass(verify::createStripAttributes());
    if (!isProved)
      return;
    pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
        verify::createVerifyTilePadding());
    pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
        verify::createVerifyTileBounds());
    pm.addNestedPass<tile::ProgramOp>(verify::createVerifyTileCoverage());
  }

  /// Parts of loops, softmax steps and versions: what does not depend on plans.
  void addVersions(OpPassManager &pm, const ChosenPlans &plans) {
    bool haveParts = plans.keepsLoops.empty();
    if (haveParts && plans.keepsNests.empty())
      addVerifiedOnKernels(pm, isProved, schedule::createTileFlattenNests,
                           verify::createVerifyTileNests);
    pm.addPass(schedule::createTileSplitVariants({arch.str()}));
    if (haveParts)
      addSplit(pm, schedule::createTileLoopParts());
    addVerified(
        pm,
        [&](OpPassManager &softmax) {
          addWithLoops(softmax, schedule::createTileExpandSoftmax());
        },
        verify::createVerifyTileGuards);
    pm.addPass(createCSEPass());
    pm.addPass(schedule::createTileRowClasses({arch.str()}));
    if (haveParts)
      addSplit(pm, schedule::createTileInteriorParts());
  }

  /// Sizes, still on tile.
  void addBound(OpPassManager &guarded, const ChosenPlans &plans) {
    OpPassManager bound(ModuleOp::getOperationName());
    OpPassManager &pm = isProved ? bound : guarded;
    addVerified(
        pm,
        [&](OpPassManager &blocks) {
          blocks.addPass(schedule::createTileBindBlocks(
              {arch.str(), schedule::printChoice(plans.choice), plans.origin}));
        },
        verify::createVerifyTileBlocks);
    if (isProved)
      pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
          verify::createVerifyTileKnown());
    if (masks == MaskMode::Exact)
      pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
          safety::createTileExactMasks());
    pm.addPass(safety::createTileSimplifyPresence());
    addCleanUp(pm);
    if (isProved)
      pm.addPass(verify::createVerifyTileIndices(
          schedule::createTileUniformIndices()));
    else
      pm.nest<tile::ProgramOp>().addNestedPass<tile::KernelOp>(
          schedule::createTileUniformIndices());
    addCleanUp(pm);
    if (isProved)
      guarded.addPass(verify::createVerifyTileGuards(std::move(bound)));
  }

  /// From there at most to form async.
  /// Kernels are compared with `written`, the programs before all passes but
  /// those that fold.
  void addLowering(OpPassManager &pm, Emit stage, const ChosenPlans &plans,
                   ModuleOp written) {
    OpPassManager lowering(ModuleOp::getOperationName());
    OpPassManager &passes = isProved ? lowering : pm;
    bool hasRoles = targetInfo(arch)->hasWarpgroups;
    addSeq(passes, stage == Emit::SmSeq || hasRoles);
    if (stage != Emit::SmSeq)
      addAsync(passes, plans);
    if (!isProved)
      return;
    auto demands = verify::createVerifySmDemands(std::move(lowering));
    if (stage == Emit::SmSeq)
      return pm.addPass(std::move(demands));
    OpPassManager emitted(ModuleOp::getOperationName());
    emitted.addPass(std::move(demands));
    pm.addPass(verify::createVerifySmOutputs(std::move(emitted), written));
  }

private:
  void addVerified(OpPassManager &pm, function_ref<void(OpPassManager &)> add,
                   std::unique_ptr<Pass> (*verifier)(OpPassManager)) {
    driver::addVerified(pm, isProved, add, verifier);
  }

  static void addCleanUp(OpPassManager &pm) {
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
  }

  void addSplit(OpPassManager &pm, std::unique_ptr<Pass> pass) {
    pm.addPass(isProved ? verify::createVerifyTileParts(std::move(pass))
                        : std::move(pass));
  }

  /// A pass that keeps all loops.
  void addWithLoops(OpPassManager &pm, std::unique_ptr<Pass> pass) {
    addVerified(
        pm, [&](OpPassManager &loops) { loops.addPass(std::move(pass)); },
        verify::createVerifyTileLoops);
  }

  /// With `bounds` accesses to memory are checked: of kernels without roles
  /// that is done once more in form async.
  void addSeq(OpPassManager &pm, bool bounds) {
    addWithLoops(pm, schedule::createTileToSm({arch.str()}));
    addCleanUp(pm);
    pm.addNestedPass<sm::KernelOp>(schedule::createSmMaskWide());
    pm.addPass(verify::createStripAttributes());
    if (!isProved)
      return;
    pm.addNestedPass<sm::KernelOp>(verify::createVerifySmPadding());
    if (bounds)
      pm.addPass(verify::createVerifySmBounds());
  }

  void addRoles(OpPassManager &pm, const ChosenPlans &plans) {
    schedule::SmScheduleRolesOptions options;
    if (plans.rings())
      options.slots = plans.rings();
    options.drop = !plans.choice.bulk;
    llvm::append_range(options.without, plans.withoutRoles);
    llvm::append_range(options.loads, plans.withoutReads);
    llvm::append_range(options.apart, plans.withoutJoins);
    llvm::append_range(options.off, plans.choice.off);
    options.strict = plans.isStrict;
    addVerified(
        pm,
        [&](OpPassManager &roles) {
          roles.addPass(schedule::createSmScheduleRoles(options));
          roles.addPass(schedule::createSmWarpRoles({options.slots}));
        },
        verify::createVerifySmOrder);
    pm.addPass(
        createStop(stopAtLostRoles, [names = plans.mayHaveRoles](ModuleOp m) {
          return !findLostRoles(m, names).empty();
        }));
  }

  /// Copies that run ahead, and roles where the target has them.
  void addAsync(OpPassManager &pm, const ChosenPlans &plans) {
    if (targetInfo(arch)->hasWarpgroups)
      addRoles(pm, plans);
    pm.addNestedPass<sm::KernelOp>(schedule::createSmLongTilesFirst(
        {/*windows=*/!targetInfo(arch)->hasWarpgroups}));
    schedule::SmLazySoftmaxOptions lazy;
    llvm::append_range(lazy.without, plans.withoutLazySoftmax);
    pm.addNestedPass<sm::KernelOp>(schedule::createSmLazySoftmax(lazy));
    pm.addNestedPass<sm::KernelOp>(schedule::createSmSingleSteps());
    pm.addNestedPass<sm::KernelOp>(schedule::createSmSkipEmptyTiles());
    schedule::SmAsyncCopiesOptions options;
    if (plans.stages())
      options.stages = plans.stages();
    options.shared = targetInfo(arch)->smemBytesPerBlock;
    pm.addNestedPass<sm::KernelOp>(schedule::createSmAsyncCopies(options));
    if (targetInfo(arch)->hasWarpgroups) {
      pm.addNestedPass<sm::KernelOp>(schedule::createSmEarlyLoads());
    } else {
      pm.addNestedPass<sm::KernelOp>(schedule::createSmVectorsAhead());
      pm.addNestedPass<sm::KernelOp>(schedule::createSmWideStores());
    }
    pm.addNestedPass<sm::KernelOp>(schedule::createSmReduceScratch());
    if (targetInfo(arch)->hasDependentLaunches)
      pm.addPass(schedule::createSmDependentLaunches());
    pm.addPass(createCSEPass());
    pm.addPass(createStop(stopAtTooLarge, isTooLarge));
    if (!isProved)
      return;
    pm.addNestedPass<sm::KernelOp>(verify::createVerifySmPadding());
    pm.addNestedPass<sm::KernelOp>(verify::createVerifySmAsync());
    pm.addPass(verify::createVerifySmBounds());
    pm.addPass(verify::createVerifySmAlignment());
    pm.addPass(verify::createVerifySmLaunches());
  }

  StringRef arch;
  MaskMode masks;
  bool isProved;
  IsFutile isTooLarge;
};

} // namespace

std::optional<int64_t> sharedMemoryLimit(const CompileRequest &request) {
  std::optional<TargetInfo> target = targetInfo(request.arch);
  bool isLess = target && request.sharedMemory != 0 &&
                request.sharedMemory < target->smemBytesPerBlock;
  return isLess ? std::optional(request.sharedMemory) : std::nullopt;
}

void buildFoldPipeline(OpPassManager &pm, Proofs proofs) {
  addVerifiedOnKernels(pm, proofs == Proofs::Made,
                       safety::createTileFoldIntegers,
                       verify::createVerifyTileFolds);
}

void buildColumnsPipeline(OpPassManager &pm, Proofs proofs) {
  addVerifiedOnKernels(pm, proofs == Proofs::Made,
                       schedule::createTileSplitColumns,
                       verify::createVerifyTileColumns);
}

void buildPackPipeline(OpPassManager &pm, const ChosenPlans &plans,
                       Proofs proofs) {
  addVerified(
      pm, proofs == Proofs::Made,
      [&](OpPassManager &pack) {
        schedule::TileExpandProductsOptions options;
        for (const auto &[kernel, why] : plans.withoutTensorCores)
          options.in.push_back(kernel);
        pack.addPass(schedule::createTileExpandProducts(std::move(options)));
        if (!plans.keepsKernels.empty())
          return;
        pack.addPass(schedule::createTilePackRows());
        pack.addPass(schedule::createTileSingleParts());
      },
      verify::createVerifyTilePacks);
}

void buildProgramPipeline(OpPassManager &pm, Emit stage, StringRef arch,
                          const ChosenPlans &plans, MaskMode masks,
                          Proofs proofs) {
  Builder builder(arch, masks, proofs, /*isTooLarge=*/{});
  builder.addSafety(pm);
  builder.addVersions(pm, plans);
}

void buildKernelPipeline(OpPassManager &pm, Emit stage, StringRef arch,
                         const ChosenPlans &plans, MaskMode masks,
                         Proofs proofs, IsFutile isTooLarge, ModuleOp written) {
  if (stage == Emit::Tile)
    return;
  Builder builder(arch, masks, proofs, std::move(isTooLarge));
  builder.addBound(pm, plans);
  if (stage == Emit::TileBound)
    return;
  builder.addLowering(pm, stage, plans, written);
  if (stage == Emit::SmSeq)
    return;
  pm.addNestedPass<sm::KernelOp>(schedule::createSmDropPresence());
  if (stage == Emit::SmAsync)
    return;
  pm.addNestedPass<sm::KernelOp>(schedule::createSmFoldWeights());
  pm.addNestedPass<sm::KernelOp>(schedule::createSmKeepInfinity());
}

void buildLanePipeline(OpPassManager &pm) {
  pm.addNestedPass<sm::KernelOp>(lanes::createSmByteFloats());
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
