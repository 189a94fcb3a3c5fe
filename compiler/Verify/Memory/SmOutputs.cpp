// verify-sm-outputs: what is emitted writes every output element once.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/SmAsyncRules.h"
#include "compiler/Verify/Passes.h"

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
  explicit Blocks(KernelOp kernel)
      : kernel(kernel), skeleton(integers, paths, /*stages=*/1) {}

  LogicalResult run(const Trial &trial, GlobalMemory &memory) {
    skeleton.readFrom(
        [&](Agent &agent, LoadOp load) { return read(agent, load, memory); });
    integers.startPath();
    skeleton.startPath(trial.samples, /*alternate=*/false, trial.callers);
    paths = {};
    SmAsyncRules rules(integers, skeleton.getNumbers(), kernel, trial, &memory);
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
  Integers integers;
  Paths paths;
  Skeleton skeleton;
};

struct VerifySmOutputsPass : impl::VerifySmOutputsBase<VerifySmOutputsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    SmallVector<VariantOp> variants;
    getOperation().walk(
        [&](VariantOp variant) { variants.push_back(variant); });
    if (failed(failableParallelForEach(
            &getContext(), variants,
            [&](VariantOp variant) { return check(variant, symbols); })))
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

  static LogicalResult check(VariantOp variant, const SymbolTable &symbols) {
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
      blocks.emplace_back(kernel);
    for (const LaunchTrial &trial : makeLaunchTrials(variant, launches)) {
      GlobalMemory memory(plan.getDims(), plan.getTensors(), trial.sizes,
                          trial.samples);
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
};

} // namespace
} // namespace selvedge::verify
