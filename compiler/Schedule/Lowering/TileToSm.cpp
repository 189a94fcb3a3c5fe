// tile-to-sm: kernels to sm.seq, the op's host side to sm.plan.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Lowering/KernelLowering.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/BroadcastDims.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/ReducedDims.h"
#include "dialect/Tile/UniqueTensors.h"

#include "mlir/IR/Iterators.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILETOSM
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Erases operations without uses, then the kernel's unused arguments.
void dropDead(sm::KernelOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    bool readsOnly = isa<sm::LoadOp, sm::AllocOp>(op);
    if (op->use_empty() &&
        (readsOnly ||
         (isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
          op->getNumRegions() == 0)))
      op->erase();
  });
  Block &body = kernel.getBody().front();
  SmallVector<Attribute> kept;
  for (unsigned i = 0, old = 0; i < body.getNumArguments(); ++old) {
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      continue;
    }
    kept.push_back(kernel.getArgs()[old]);
    ++i;
  }
  kernel.setArgsAttr(ArrayAttr::get(kernel.getContext(), kept));
}

/// Iterations along each range as a function of the dims.
AffineMap gridOf(KernelOp kernel) {
  MLIRContext *ctx = kernel.getContext();
  SmallVector<AffineExpr> counts;
  for (auto iter : kernel.getRanges().getAsRange<IterAttr>()) {
    AffineExpr count = iter.getExtent().getResult(0);
    if (iter.getBlock()) {
      auto size = cast<IntegerAttr>(kernel.getSizesAttr().get(iter.getName()));
      count = count.ceilDiv(size.getInt());
    }
    counts.push_back(count);
  }
  if (counts.empty())
    counts.push_back(getAffineConstantExpr(1, ctx));
  return AffineMap::get(0, kernel.getProgram().getDims().size(), counts, ctx);
}

struct TileToSmPass : impl::TileToSmBase<TileToSmPass> {
  using TileToSmBase::TileToSmBase;

  /// That of option `arch`.
  std::optional<TargetInfo> target;

  static bool onlyStores(KernelOp kernel) {
    return !kernel.walk([](LoadOp) { return WalkResult::interrupt(); })
                .wasInterrupted();
  }

  /// Lowers a kernel for one class; adds the tensors that it accesses by
  /// vectors.
  FailureOr<sm::KernelOp> lower(OpBuilder &module, KernelOp kernel,
                                VariantClass variant, VersionAttr version,
                                bool forWarpgroups,
                                llvm::SetVector<StringAttr> &vectorTensors) {
    if (!kernel.getSizes())
      return kernel.emitOpError(
          "expects bound sizes: run tile-bind-blocks first");
    KernelLayouts layouts(kernel, *target);
    // Warpgroups keep whole rows (usesWarpgroups()).
    for (LayoutGroup &group : layouts.getGroups())
      group.splitCols &= !forWarpgroups || isKeptFromRoles(kernel);
    shareContiguous(layouts, sizesOf(kernel),
                    rowThreads(kernel).value_or(32 * *kernel.getWarps()) / 32);
    std::string symbol =
        (kernel.getProgram().getBaseName() + "_" + kernel.getSymName() + "_" +
         sm::VariantOp::nameOf(version))
            .str();
    KernelLowering lowering(kernel, layouts, variant);
    FailureOr<sm::KernelOp> result = lowering.run(module, symbol);
    if (failed(result))
      return failure();
    dropDead(*result);
    vectorTensors.insert(lowering.getVectorTensors().begin(),
                         lowering.getVectorTensors().end());
    return result;
  }

  /// Lowers every kernel of `program` for one class; the tensors read by
  /// vectors form the variant's condition.
  LogicalResult lowerVariant(OpBuilder &module, OpBuilder &plan,
                             ProgramOp program, VariantClass variant,
                             VersionAttr version, bool forWarpgroups,
                             bool &differs) {
    llvm::SetVector<StringAttr> vectorTensors;
    // An init asks for no alignment that no other kernel asks for: it comes
    // last.
    auto all = program.getBody().getOps<KernelOp>();
    auto kernels = llvm::filter_to_vector(
        all, [](KernelOp kernel) { return !onlyStores(kernel); });
    size_t others = kernels.size();
    llvm::append_range(kernels, llvm::make_filter_range(all, onlyStores));
    DenseMap<KernelOp, sm::KernelOp> lowered;
    DenseMap<KernelOp, ArrayAttr> conditions;
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      if (i == others && others != 0)
        variant.tensors = &vectorTensors;
      llvm::SetVector<StringAttr> own;
      FailureOr<sm::KernelOp> result =
          lower(module, kernel, variant, version, forWarpgroups, own);
      if (failed(result))
        return failure();
      lowered[kernel] = *result;
      conditions[kernel] =
          plan.getArrayAttr(llvm::to_vector_of<Attribute>(own.getArrayRef()));
      vectorTensors.insert(own.begin(), own.end());
    }
    differs = !vectorTensors.empty();
    if (variant.align && !differs) {
      for (auto &[source, kernel] : lowered)
        kernel.erase();
      return success();
    }
    SmallVector<Attribute> when(vectorTensors.begin(), vectorTensors.end());
    auto variantOp = sm::VariantOp::create(
        plan, program.getLoc(), version, /*bulk=*/nullptr,
        plan.getArrayAttr(when), plan.getI64IntegerAttr(variant.align),
        program.getConditionsAttr());
    OpBuilder launches =
        OpBuilder::atBlockEnd(&variantOp.getBody().emplaceBlock());
    for (KernelOp source : all) {
      sm::KernelOp kernel = lowered[source];
      kernel->moveBefore(module.getInsertionBlock(),
                         module.getInsertionPoint());
      sm::LaunchOp::create(launches, withoutDecisions(source.getLoc()),
                           kernel.getSymName(), gridOf(source),
                           32 * kernel.getWarps(), 0, sm::launchArgs(kernel),
                           conditions[source]);
    }
    return success();
  }

  /// The versions of a program for the same devices.
  struct Versions {
    ProgramOp program, universal;
    /// For some dims, in the order in which they are tried.
    SmallVector<ProgramOp> special;
    SmallVector<ProgramOp> rows;

    void add(ProgramOp version) {
      switch (version.getKind()) {
      case VersionKind::Program:
        program = version;
        break;
      case VersionKind::Universal:
        universal = version;
        break;
      case VersionKind::Packed:
      case VersionKind::Single:
        special.push_back(version);
        break;
      case VersionKind::Rows:
        rows.push_back(version);
        break;
      }
    }
    void erase() {
      for (ProgramOp version : llvm::concat<ProgramOp>(rows, special))
        version.erase();
      for (ProgramOp version : {universal, program})
        if (version)
          version.erase();
    }
  };

  /// Adds the variants of the versions to a plan, in the order in which they
  /// are tried.
  LogicalResult lowerVersions(OpBuilder &module, sm::PlanOp plan,
                              Versions &versions) {
    auto versionOf = [&](VersionKind kind) {
      std::optional<VersionAttr> own = versions.program.getVersion();
      return VersionAttr::get(plan.getContext(), kind, 0,
                              own ? own->getShared() : 0);
    };
    Operation *last = plan.getBody().front().empty()
                          ? nullptr
                          : &plan.getBody().front().back();
    OpBuilder variants = OpBuilder::atBlockEnd(&plan.getBody().front());
    bool differs = false;
    ProgramOp universal =
        versions.universal ? versions.universal : versions.program;
    // The versions of a program for rows of some length take them all.
    for (ProgramOp version : versions.rows)
      if (failed(lowerVariant(module, variants, version, {16},
                              *version.getVersion(), /*forWarpgroups=*/false,
                              differs)))
        return failure();
    if (versions.program) {
      bool forWarpgroups = universal != versions.program;
      if ((versions.rows.empty() &&
           failed(lowerVariant(module, variants, versions.program, {16},
                               versionOf(VersionKind::Program), forWarpgroups,
                               differs))) ||
          failed(lowerVariant(module, variants, universal, {0},
                              versionOf(VersionKind::Universal),
                              /*forWarpgroups=*/false, differs)))
        return failure();
    }
    OpBuilder first = OpBuilder::atBlockBegin(&plan.getBody().front());
    if (last)
      first.setInsertionPointAfter(last);
    for (ProgramOp version : versions.special)
      if (failed(lowerVariant(
              module, first, version, {16}, *version.getVersion(),
              /*forWarpgroups=*/bool(versions.universal), differs)))
        return failure();
    return success();
  }

  /// Launches say what they need, so that each can be chosen by itself, only
  /// where there are several and those of all variants do the same in the same
  /// order. Those of single parts stay together. Temps are laid out by the
  /// plan.
  static void keepChoices(ModuleOp module, sm::PlanOp plan) {
    SymbolTable symbols(module);
    std::optional<SmallVector<Attribute>> sequence;
    bool isSame = true;
    for (auto variant : plan.getBody().getOps<sm::VariantOp>()) {
      if (variant.isOfSingleParts()) {
        variant.walk([](sm::LaunchOp launch) { launch.removeWhenAttr(); });
        continue;
      }
      SmallVector<Attribute> own;
      for (auto launch : variant.getBody().getOps<sm::LaunchOp>())
        own.push_back(symbols.lookup<sm::KernelOp>(launch.getKernel())
                          .getSourceAttr()
                          .getKernel());
      isSame &= own == sequence.value_or(own);
      sequence = std::move(own);
    }
    if (isSame && sequence && sequence->size() > 1)
      return;
    plan.walk([](sm::LaunchOp launch) { launch.removeWhenAttr(); });
  }

  /// Puts each variant for devices with little shared memory behind the one
  /// that it stands in for.
  static void interleave(sm::PlanOp plan) {
    auto rank = [](sm::VariantOp variant) {
      switch (variant.getVersion().getKind()) {
      case VersionKind::Packed:
      case VersionKind::Single:
        return 0;
      case VersionKind::Rows:
      case VersionKind::Program:
        return 1;
      case VersionKind::Universal:
        return 2;
      }
      llvm_unreachable("no other kinds");
    };
    auto variants = llvm::to_vector(plan.getBody().getOps<sm::VariantOp>());
    Block &body = plan.getBody().front();
    for (int next : {0, 1, 2})
      for (sm::VariantOp variant : variants)
        if (rank(variant) == next)
          variant->moveBefore(&body, body.end());
  }

  void runOnOperation() override {
    target = knownTarget(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    // A program's other versions go with it.
    SmallVector<ProgramOp> programs;
    llvm::StringMap<Versions> versions, forSmallDevices;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.isBase())
        programs.push_back(program);
      (program.isForSmallDevices() ? forSmallDevices
                                   : versions)[program.getBaseName()]
          .add(program);
    }
    for (ProgramOp program : programs) {
      OpBuilder module(program);
      auto plan = sm::PlanOp::create(
          module, program.getLoc(), program.getSymName(), program.getDims(),
          program.getTensors(), program.getScalars(), program.getPromises(),
          program.getParams());
      setLaunchSizes(plan, getLaunchSizes(program));
      setBroadcastDims(plan, getBroadcastDims(program));
      setReducedDims(plan, getReducedDims(program));
      setUniqueTensors(plan, getUniqueTensors(program));
      plan.getBody().emplaceBlock();
      std::string name = program.getSymName().str();
      Versions &all = versions[name];
      if (failed(lowerVersions(module, plan, all)))
        return signalPassFailure();
      if (auto small = forSmallDevices.find(name);
          small != forSmallDevices.end()) {
        if (failed(lowerVersions(module, plan, small->second)))
          return signalPassFailure();
        interleave(plan);
        small->second.erase();
      }
      keepChoices(getOperation(), plan);
      all.erase();
    }
  }
};

} // namespace
} // namespace selvedge::schedule
