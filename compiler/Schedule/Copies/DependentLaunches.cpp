// sm-dependent-launches: launches that begin while the one before ends.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/SmScheduler.h"
#include "dialect/Tile/Decisions.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMDEPENDENTLAUNCHES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmDependentLaunchesPass
    : impl::SmDependentLaunchesBase<SmDependentLaunchesPass> {
  /// The kernel waits before anything else.
  static void await(KernelOp kernel, KernelOp before) {
    if (!kernel.getBody().getOps<AwaitLaunchOp>().empty())
      return;
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    AwaitLaunchOp::create(b, tile::withoutDecisions(kernel.getLoc()));
    tile::noteDecision(
        kernel, {"start", "while '" + before.getSymName().str() + "' ends",
                 "it waits before it touches memory, so only its start runs "
                 "beside that kernel"});
  }

  /// The kernel lets the next one begin, behind its own wait: it is the one
  /// that others wait for.
  static void admit(KernelOp kernel) {
    if (!kernel.getBody().getOps<AdmitLaunchOp>().empty())
      return;
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    for (auto wait : kernel.getBody().getOps<AwaitLaunchOp>())
      b.setInsertionPointAfter(wait);
    AdmitLaunchOp::create(b, tile::withoutDecisions(kernel.getLoc()));
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](VariantOp variant) {
      KernelOp before;
      for (auto launch : variant.getBody().getOps<LaunchOp>()) {
        auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
        if (before) {
          await(kernel, before);
          launch.setDependent(true);
          admit(before);
        }
        before = kernel;
      }
    });
  }
};

} // namespace
} // namespace selvedge::schedule
