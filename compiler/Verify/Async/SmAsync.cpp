// verify-sm-async: barriers and tokens order shared memory (V3).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Async/BulkStores.h"
#include "compiler/Verify/Async/SmAsyncRules.h"
#include "compiler/Verify/Passes.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMASYNC
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Operations executed before no further path is begun, a tenth of a
/// second; and those of one path, which only a huge constant loop exceeds. With
/// roles each takes two kilobytes, and paths are 50000 long at most where sizes
/// are chosen well.
constexpr uint64_t maxSteps = 1 << 19, maxPathSteps = 1 << 24,
                   maxRoleSteps = 1 << 18, maxRolePathSteps = 1 << 18;

class Checker {
public:
  Checker(KernelOp kernel, bool nonempty)
      : kernel(kernel), nonempty(nonempty),
        skeleton(integers, paths, largestRing(kernel)) {}

  LogicalResult run() {
    int64_t longCount = 2 * largestRing(kernel) + 1;
    std::vector<Trial> trials = makeTrials(kernel, longCount, nonempty);
    if (trials.empty())
      return kernel.emitOpError("expects conditions that dims of a few blocks "
                                "meet, so that it can be executed");
    uint64_t budget =
        (kernel.hasRoles() ? maxRoleSteps : maxSteps) / trials.size();
    for (Trial &trial : trials)
      if (failed(runFitting(trial, budget)))
        return failure();
    // What is left is never executed, or for other sizes.
    if (hasReachedAll())
      return success();
    std::vector<Trial> further = makeFurtherTrials(kernel);
    for (Trial &trial : further) {
      if (failed(runFitting(trial, budget)))
        return failure();
      if (hasReachedAll())
        break;
    }
    return success();
  }

private:
  /// The paths of a trial, with as many more thread blocks as make them short
  /// enough: a dimension may count tiles, and steps in each.
  LogicalResult runFitting(Trial &trial, uint64_t budget) {
    auto tilesOfBlock = [&]() -> int64_t {
      return trial.tiles && trial.blocks
                 ? llvm::divideCeil(*trial.tiles, *trial.blocks)
                 : 1;
    };
    auto share = [&] {
      if (tilesOfBlock() > mostTiles)
        trial.blocks = llvm::divideCeil(*trial.tiles, mostTiles);
    };
    constexpr int64_t fewer = 4;
    share();
    while (failed(runTrial(trial, budget))) {
      if (!isTooLong)
        return failure();
      isTooLong = false;
      int64_t tiles = tilesOfBlock();
      if (tiles == 1)
        return kernel.emitOpError("expects paths of at most ")
               << maxStepsOfPath() << " operations to verify, found a longer "
               << "one with " << trial.str(kernel);
      mostTiles = std::max<int64_t>(1, tiles / fewer);
      share();
    }
    return success();
  }

  uint64_t maxStepsOfPath() {
    return kernel.hasRoles() ? maxRolePathSteps : maxPathSteps;
  }

  /// All paths of a trial, but none is begun after `budget` operations; the
  /// first one alone where another trial's was the same, operation by
  /// operation.
  LogicalResult runTrial(const Trial &trial, uint64_t budget) {
    if (hasSameFirstPath(trial))
      return success();
    uint64_t before = skeleton.numSteps();
    bool isNew = true;
    do {
      bool isFirst = numStepsSince(before) == 0;
      integers.startPath();
      bool isRepeated = failed(tryPath(trial));
      if (isTooLong || (isRepeated && failed(startAndRun(trial)))) {
        paths = {};
        return failure();
      }
      if (isFirst)
        isNew = firstPaths.insert(trace).second;
      // What a path that was run again had learned is not among its choices.
      if (isFirst && !isRepeated)
        begun.push_back({&trial, skeleton.getChoices().vec()});
    } while (isNew && paths.advance() && numStepsSince(before) < budget);
    paths = {};
    return success();
  }

  /// Whether another trial differs in samples alone, and its first path has
  /// taken those that this one would take: then it is the same path, and no
  /// other would follow.
  bool hasSameFirstPath(const Trial &trial) const {
    SampleOrder order{trial.samples, trial.alternates, trial.callers,
                      trial.hasOptionals};
    return llvm::any_of(begun, [&](const Begun &other) {
      const Trial &tried = *other.trial;
      return tried.dims == trial.dims && tried.block == trial.block &&
             tried.blocks == trial.blocks && tried.tiles == trial.tiles &&
             tried.samples.empty() == trial.samples.empty() &&
             order.beginsWith(other.choices);
    });
  }

  /// A path, as far as it goes without an error. What its decisions say of a
  /// number may be learned after the number was used: it is run again from the
  /// start, knowing what this run has learned, before anything is refused.
  LogicalResult tryPath(const Trial &trial) {
    uint64_t thread = llvm::get_threadid();
    ScopedDiagnosticHandler silence(kernel.getContext(), [&](Diagnostic &) {
      return success(llvm::get_threadid() == thread);
    });
    return startAndRun(trial);
  }

  LogicalResult startAndRun(const Trial &trial) {
    // What optional tensors hold matters more than their absence, and not all
    // paths are tried.
    skeleton.startPath(trial.samples, trial.alternates, trial.callers,
                       trial.hasOptionals);
    return runPath(trial);
  }

  /// Whether some agent has executed each operation on what agents share.
  bool hasReachedAll() {
    return !kernel
                .walk([&](Operation *op) {
                  bool isShared = isa<WaitOp, ArriveOp, NamedBarrierOp,
                                      ProxyFenceOp, TmaLoadOp, TmaStoreOp,
                                      ClearOp, StageOp, ReadOp, WgmmaOp>(op);
                  return isShared && !skeleton.hasReached(op)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  }

  static int64_t largestRing(KernelOp kernel) {
    int64_t stages = 1;
    kernel.walk([&](AllocOp alloc) {
      stages = std::max(stages, alloc.getType().getStages());
    });
    return stages;
  }

  uint64_t numStepsSince(uint64_t before) const {
    return skeleton.numSteps() - before;
  }

  LogicalResult runPath(const Trial &trial) {
    SmAsyncRules rules(integers, skeleton.getNumbers(), kernel, trial);
    MutableArrayRef<Agent> agents = rules.getAgents();
    for (Agent &agent : agents)
      skeleton.start(agent, kernel.getBody().front());
    trace = 0;
    auto apply = [&](Agent &agent, Instruction &code) {
      trace = llvm::hash_combine(trace, &agent - agents.data(), code.op);
      return rules.apply(agent, code);
    };
    uint64_t before = skeleton.numSteps(), limit = maxStepsOfPath();
    Ending ending = runRoundRobin(agents.size(), [&](unsigned agent) {
      if (integers.isContradictory())
        return Progress::Finished;
      if (numStepsSince(before) > limit) {
        isTooLong = true;
        return Progress::Failed;
      }
      return skeleton.step(agents[agent], apply);
    });
    if (ending == Ending::Failed)
      return failure();
    if (integers.isContradictory())
      return success();
    if (ending == Ending::Deadlock)
      return rules.reportDeadlock();
    return rules.finish();
  }

  KernelOp kernel;
  bool nonempty;
  Integers integers;
  Paths paths;
  Skeleton skeleton;
  /// What the agents have done on this path, and on the first one of each
  /// trial.
  size_t trace = 0;
  llvm::DenseSet<size_t> firstPaths;
  /// Trials, and the choices among samples that their first paths have made.
  struct Begun {
    const Trial *trial;
    std::vector<SampleOrder::Choice> choices;
  };
  std::vector<Begun> begun;
  /// Whether a path had to be ended; as many tiles as paths may have.
  bool isTooLong = false;
  int64_t mostTiles = std::numeric_limits<int64_t>::max();
};

struct VerifySmAsyncPass : impl::VerifySmAsyncBase<VerifySmAsyncPass> {
  using VerifySmAsyncBase::VerifySmAsyncBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkBulkStores(getOperation())) ||
        failed(Checker(getOperation(), nonempty).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
