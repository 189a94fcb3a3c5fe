// verify-sm-async: barriers and tokens order shared memory (V3).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Passes.h"
#include "compiler/Verify/SmAsyncRules.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMASYNC
#include "compiler/Verify/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Paths and steps after which a kernel is too large to enumerate.
constexpr unsigned maxPaths = 1 << 14;
constexpr unsigned maxSteps = 1 << 24;

class Checker {
public:
  explicit Checker(KernelOp kernel)
      : kernel(kernel), skeleton(integers, paths, largestRing(kernel)) {}

  LogicalResult run() {
    unsigned count = 0;
    do {
      integers.startPath();
      if (++count > maxPaths)
        return tooLarge();
      if (failed(runPath()))
        return failure();
    } while (paths.advance());
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

  LogicalResult tooLarge() {
    return kernel.emitOpError("expects fewer control paths: more than ")
           << maxPaths << " paths or " << maxSteps
           << " operations are needed to verify it";
  }

  LogicalResult runPath() {
    // All warps run one program: two of them show what is missing between any
    // two.
    std::array<Agent, 2> agents;
    SmAsyncRules rules(integers, agents);
    for (Agent &agent : agents)
      skeleton.start(agent, kernel.getBody().front());
    auto apply = [&](Agent &agent, Operation &op) {
      return rules.apply(agent, op);
    };
    Ending ending = runRoundRobin(agents.size(), [&](unsigned agent) {
      if (++steps > maxSteps)
        return Progress::Failed;
      return skeleton.step(agents[agent], apply);
    });
    if (steps > maxSteps)
      return tooLarge();
    if (ending == Ending::Failed)
      return failure();
    if (ending == Ending::Deadlock)
      return rules.reportDeadlock();
    return rules.finish();
  }

  KernelOp kernel;
  Integers integers;
  Paths paths;
  Skeleton skeleton;
  unsigned steps = 0;
};

struct VerifySmAsyncPass : impl::VerifySmAsyncBase<VerifySmAsyncPass> {
  void runOnOperation() override {
    if (failed(Checker(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
