// verify-sm-async: barriers and tokens order shared memory (V3).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/BulkStores.h"
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/SmAsyncRules.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMASYNC
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Operations executed before no further path is begun, some tenths of a
/// second; and those of one path, which only a huge constant loop exceeds.
constexpr uint64_t maxSteps = 1 << 20, maxPathSteps = 1 << 24;

class Checker {
public:
  Checker(KernelOp kernel, bool nonempty)
      : kernel(kernel), nonempty(nonempty),
        skeleton(integers, paths, largestRing(kernel)) {}

  LogicalResult run() {
    std::vector<Trial> trials =
        makeTrials(kernel, 2 * largestRing(kernel) + 1, nonempty);
    if (trials.empty())
      return kernel.emitOpError("expects conditions that dims of a few blocks "
                                "meet, so that it can be executed");
    for (const Trial &trial : trials) {
      uint64_t before = skeleton.numSteps();
      do {
        integers.startPath();
        skeleton.startPath(trial.samples, trial.alternates);
        if (failed(runPath(trial)))
          return failure();
      } while (paths.advance() &&
               numStepsSince(before) * trials.size() < maxSteps);
      paths = {};
    }
    return success();
  }

private:
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
    auto apply = [&](Agent &agent, const Instruction &code) {
      return rules.apply(agent, code);
    };
    uint64_t before = skeleton.numSteps();
    Ending ending = runRoundRobin(agents.size(), [&](unsigned agent) {
      if (numStepsSince(before) > maxPathSteps) {
        kernel.emitOpError("expects paths of at most ")
            << maxPathSteps << " operations to verify, found a longer one";
        return Progress::Failed;
      }
      return skeleton.step(agents[agent], apply);
    });
    if (ending == Ending::Failed)
      return failure();
    if (ending == Ending::Deadlock)
      return rules.reportDeadlock();
    return rules.finish();
  }

  KernelOp kernel;
  bool nonempty;
  Integers integers;
  Paths paths;
  Skeleton skeleton;
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
