// verify-sm-outputs: what is emitted writes every output element once.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/MixedLaunches.h"
#include "compiler/Verify/Memory/VariantRuns.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/WrapsPasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMOUTPUTS
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Launches that are made together.
using Sequence = MixedLaunches::Sequence;

/// What kernels are made of: the kernels of programs.
class Programs {
public:
  /// With `hasParts` their loops have been split.
  Programs(ModuleOp module, bool hasParts) {
    for (auto program : module.getOps<tile::ProgramOp>())
      for (auto kernel : program.getBody().getOps<tile::KernelOp>())
        known.emplace_back(kernel, hasParts);
  }

  /// Those of the version that the kernel is of, whatever device that is for,
  /// or of the program where that version has not been written; null where
  /// there is none.
  const ProgramSinks *of(KernelOp kernel) const {
    std::optional<tile::SourceAttr> wanted = kernel.getSource();
    const ProgramSinks *general = nullptr;
    for (const auto &[source, sinks] : known) {
      if (wanted && source.forAnyDevice() == wanted->forAnyDevice())
        return &sinks;
      if (wanted && source.getKernel() == wanted->getKernel() &&
          source.getVersion().getKind() == tile::VersionKind::Program)
        general = &sinks;
    }
    return general;
  }

  /// A kernel of the program, or of its version for single parts, that no
  /// launch is of; empty for none.
  StringRef missingIn(ArrayRef<std::pair<LaunchOp, KernelOp>> launches,
                      bool isOfSingleParts) const {
    tile::VersionKind kind = isOfSingleParts ? tile::VersionKind::Single
                                             : tile::VersionKind::Program;
    for (const auto &[source, sinks] : known)
      if (sinks.isWhole() && source.getVersion().getKind() == kind &&
          llvm::none_of(launches, [&](const auto &launched) {
            KernelOp kernel = launched.second;
            std::optional<tile::SourceAttr> of = kernel.getSource();
            return of && of->getKernel() == source.getKernel();
          }))
        return source.getKernel().getLeafReference().getValue();
    return "";
  }

  /// A launch of a kernel of the program behind one of a kernel that the
  /// program has later, of which it may use or replace what that one stores;
  /// null for none. Those that initialise are executed in their places.
  LaunchOp misplacedIn(const Sequence &launches) const {
    size_t latest = 0;
    for (auto [launch, kernel] : launches) {
      std::optional<size_t> place = placeOf(kernel);
      if (place && *place < latest)
        return launch;
      latest = std::max(latest, place.value_or(0));
    }
    return {};
  }

  /// Those of launches, in their order.
  SmallVector<const ProgramSinks *> of(const Sequence &launches) const {
    return llvm::map_to_vector(
        launches, [&](const auto &launched) { return of(launched.second); });
  }

private:
  struct Known {
    Known(tile::KernelOp kernel, bool hasParts)
        : source(kernel.getSource()), sinks(kernel, hasParts) {}

    tile::SourceAttr source;
    ProgramSinks sinks;
  };
  std::deque<Known> known;

  /// How many kernels the program has before the one that `kernel` is made of;
  /// none for those that initialise, and without a program.
  std::optional<size_t> placeOf(KernelOp kernel) const {
    std::optional<tile::SourceAttr> wanted = kernel.getSource();
    if (!wanted || !initialisedBy(kernel).empty())
      return std::nullopt;
    for (auto [place, each] : llvm::enumerate(known))
      if (each.source.getVersion().getKind() == tile::VersionKind::Program &&
          each.source.getKernel() == wanted->getKernel())
        return place;
    return std::nullopt;
  }
};

struct VerifySmOutputsPass
    : WrapsPasses<impl::VerifySmOutputsBase<VerifySmOutputsPass>> {
  VerifySmOutputsPass(OpPassManager pipeline, ModuleOp written)
      : WrapsPasses(std::move(pipeline)), written(written) {}

  void runOnOperation() override {
    // A copy that the passes do not see.
    OwningOpRef<ModuleOp> copy(getOperation().clone());
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    Programs programs(written ? written : *copy, /*hasParts=*/!written);
    SymbolTable symbols(getOperation());
    SmallVector<VariantOp> variants;
    getOperation().walk(
        [&](VariantOp variant) { variants.push_back(variant); });
    std::vector<SmallVector<VariantRuns::Remark>> remarks(variants.size());
    auto checkAt = [&](size_t i) {
      return check(variants[i], symbols, programs, remarks[i]);
    };
    if (failed(failableParallelForEach(
            &getContext(), llvm::seq<size_t>(0, variants.size()), checkAt)))
      return signalPassFailure();
    for (const auto &list : remarks)
      for (const auto &[loc, words] : list)
        emitRemark(loc) << getArgument() << ": " << words;
    for (auto plan : getOperation().getOps<PlanOp>())
      if (failed(checkMixed(plan, symbols, programs)))
        return signalPassFailure();
  }

  /// Launches of several variants, where each is chosen by itself.
  LogicalResult checkMixed(PlanOp plan, const SymbolTable &symbols,
                           const Programs &programs) {
    FailureOr<std::vector<MixedLaunches>> mixes = mixedLaunches(plan, symbols);
    if (failed(mixes))
      return failure();
    return failableParallelForEach(
        &getContext(), *mixes, [&](MixedLaunches &mix) -> LogicalResult {
          VariantRuns runs(mix.variant, mix.launches,
                           programs.of(mix.launches));
          if (succeeded(runs.runTogether()))
            return success();
          return mix.variant.emitError("launches some kernels of this variant "
                                       "and some of variant '")
                 << mix.last.getName() << "', which do not go together";
        });
  }

  /// A launch has the threads of its kernel.
  static LogicalResult checkThreads(LaunchOp launch, KernelOp kernel) {
    constexpr uint64_t warpThreads = 32;
    if (launch.getBlock() != kernel.getWarps() * warpThreads)
      return launch.emitOpError("expects ")
             << kernel.getWarps() * warpThreads
             << " threads, as its kernel has warps, found "
             << launch.getBlock();
    return success();
  }

  static LogicalResult check(VariantOp variant, const SymbolTable &symbols,
                             const Programs &programs,
                             SmallVectorImpl<VariantRuns::Remark> &remarks) {
    FailureOr<Sequence> found = launchesOf(variant, symbols);
    if (failed(found))
      return failure();
    const Sequence &launches = *found;
    for (auto [launch, kernel] : launches)
      if (failed(checkThreads(launch, kernel)))
        return failure();
    if (StringRef missing =
            programs.missingIn(launches, variant.isOfSingleParts());
        !missing.empty())
      return variant.emitOpError("expects a launch of each kernel of the "
                                 "program, found none of '")
             << missing << "'";
    if (LaunchOp launch = programs.misplacedIn(launches))
      return launch.emitOpError(
                 "expects the launches to be in the order of the "
                 "program's kernels, found a later one before '")
             << launch.getKernel() << "'";
    VariantRuns runs(variant, launches, programs.of(launches));
    LogicalResult result = runs.run();
    llvm::append_range(remarks, runs.getRemarks());
    return result;
  }

  ModuleOp written;
};

} // namespace

std::unique_ptr<Pass> createVerifySmOutputs(OpPassManager pipeline,
                                            ModuleOp written) {
  return std::make_unique<VerifySmOutputsPass>(std::move(pipeline), written);
}

} // namespace selvedge::verify
