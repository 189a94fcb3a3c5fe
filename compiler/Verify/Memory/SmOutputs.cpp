// verify-sm-outputs: what is emitted writes every output element once.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/LaunchTrials.h"
#include "compiler/Verify/Async/SmAsyncRules.h"
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

/// Operations of one thread block, which only a huge constant loop exceeds.
constexpr uint64_t maxSteps = 1 << 21;

/// Executes the thread blocks of a kernel, where data decide by the first of
/// the ways.
class Blocks {
public:
  Blocks(KernelOp kernel, const ProgramSinks *program)
      : kernel(kernel), program(program),
        skeleton(integers, paths, /*stages=*/1) {}

  LogicalResult run(const Trial &trial, GlobalMemory &memory) {
    skeleton.readFrom(
        [&](Agent &agent, LoadOp load) { return read(agent, load, memory); });
    integers.startPath();
    skeleton.startPath(trial.samples, /*alternate=*/false, trial.callers);
    paths = {};
    SmAsyncRules rules(integers, skeleton.getNumbers(), kernel, trial, &memory,
                       program);
    MutableArrayRef<Agent> agents = rules.getAgents();
    for (Agent &agent : agents)
      skeleton.start(agent, kernel.getBody().front());
    auto apply = [&](Agent &agent, const Instruction &code) {
      return rules.apply(agent, code);
    };
    uint64_t before = skeleton.numSteps();
    Ending ending = runRoundRobin(agents.size(), [&](unsigned agent) {
      if (skeleton.numSteps() - before > maxSteps) {
        kernel.emitOpError("expects a thread block that executes at most ")
            << maxSteps << " operations with " << trial.str(kernel);
        return Progress::Failed;
      }
      return skeleton.step(agents[agent], apply);
    });
    if (ending == Ending::Failed)
      return failure();
    return ending == Ending::Deadlock ? rules.reportDeadlock() : rules.finish();
  }

private:
  std::optional<int64_t> read(Agent &agent, LoadOp load,
                              const GlobalMemory &memory) {
    auto known = [&](Value value) -> std::optional<int64_t> {
      Tracked tracked = agent.values.lookup(value);
      return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                    : std::nullopt;
    };
    for (Value p : load.getPresence())
      if (known(p) == 0)
        return 0;
    SmallVector<int64_t> indices;
    for (Value index : load.getIndices()) {
      std::optional<int64_t> number = known(index);
      if (!number)
        return std::nullopt;
      indices.push_back(*number);
    }
    return memory.elementOf(tensorName(load.getTensor()), indices);
  }

  KernelOp kernel;
  const ProgramSinks *program;
  Integers integers;
  Paths paths;
  Skeleton skeleton;
};

/// What kernels are made of, by name: the kernels of programs.
class Programs {
public:
  /// The programs as the front end has written them, if they are given, and as
  /// they were before they were lowered.
  Programs(ModuleOp written, ModuleOp bound) {
    if (written)
      add(written);
    numWritten = known.size();
    add(bound);
  }

  /// Null where there is none.
  const ProgramSinks *of(KernelOp kernel) const {
    const ProgramSinks *general = nullptr;
    for (auto [i, source] : llvm::enumerate(known)) {
      StringRef variant = kernel.getSymName();
      if (!variant.consume_front(source.prefix) || variant.contains('_'))
        continue;
      // Packed rows are axes that nobody has written.
      if (source.version == variant && (source.isPacked || numWritten == 0))
        return &source.sinks;
      if (source.version.empty() && !general)
        general = &source.sinks;
    }
    return general;
  }

private:
  struct Source {
    std::string prefix, version;
    bool isPacked;
    ProgramSinks sinks;
  };
  void add(ModuleOp module) {
    for (auto program : module.getOps<tile::ProgramOp>())
      for (auto kernel : program.getBody().getOps<tile::KernelOp>())
        known.push_back(
            {(program.getBaseName() + "_" + kernel.getSymName() + "_").str(),
             program.getVersion().str(), program.getPackedOf().has_value(),
             ProgramSinks(kernel)});
  }

  std::vector<Source> known;
  size_t numWritten = 0;
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
    Programs programs(written, *copy);
    SymbolTable symbols(getOperation());
    SmallVector<VariantOp> variants;
    getOperation().walk(
        [&](VariantOp variant) { variants.push_back(variant); });
    if (failed(failableParallelForEach(
            &getContext(), variants, [&](VariantOp variant) {
              return check(variant, symbols, programs);
            })))
      signalPassFailure();
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
                             const Programs &programs) {
    auto plan = variant->getParentOfType<PlanOp>();
    SmallVector<std::pair<LaunchOp, KernelOp>> launches;
    for (auto launch : variant.getBody().getOps<LaunchOp>()) {
      auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
      if (!kernel)
        return launch.emitOpError("expects a kernel of this module, but got '")
               << launch.getKernel() << "'";
      if (failed(checkThreads(launch, kernel)))
        return failure();
      launches.push_back({launch, kernel});
    }
    std::deque<Blocks> blocks;
    for (auto [launch, kernel] : launches)
      blocks.emplace_back(kernel, programs.of(kernel));
    for (const LaunchTrial &trial : makeLaunchTrials(variant, launches)) {
      GlobalMemory memory(plan, trial.sizes, trial.samples);
      for (auto [i, launched] : llvm::enumerate(launches)) {
        auto [launch, kernel] = launched;
        memory.startLaunch(kernel);
        for (int64_t block = 0; block < trial.numBlocks(launch); ++block)
          if (failed(blocks[i].run(trial.of(launch, kernel, block), memory)))
            return failure();
      }
      if (failed(memory.finish(variant)))
        return failure();
    }
    return success();
  }

  ModuleOp written;
};

} // namespace

std::unique_ptr<Pass> createVerifySmOutputs(OpPassManager pipeline,
                                            ModuleOp written) {
  return std::make_unique<VerifySmOutputsPass>(std::move(pipeline), written);
}

} // namespace selvedge::verify
