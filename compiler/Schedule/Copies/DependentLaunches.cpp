// sm-dependent-launches: launches that begin while the ones before them run.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "dialect/Sm/LaunchUses.h"
#include "dialect/Tile/Decisions.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMDEPENDENTLAUNCHES
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmDependentLaunchesPass
    : impl::SmDependentLaunchesBase<SmDependentLaunchesPass> {
  /// The kernel waits before it first uses what an earlier one does: roles each
  /// for themselves, other kernels at one place, at last where they end. Who
  /// waits for this kernel waits for those before it.
  static void await(KernelOp kernel, KernelOp before, SymbolTable &symbols) {
    if (awaitsLaunch(kernel))
      return;
    Block &body = kernel.getBody().front();
    LaunchUses earlier = LaunchUses::before(kernel, symbols);
    Location loc = tile::withoutDecisions(kernel.getLoc());
    bool isFirst = true, isInRole = false;
    for (Operation &op : body) {
      bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
      if (!isEnd && !earlier.conflictsInside(&op)) {
        isFirst &= isMemoryEffectFree(&op);
        continue;
      }
      if (auto role = dyn_cast<RoleOp>(op)) {
        OpBuilder b = OpBuilder::atBlockBegin(&role.getBody().front());
        AwaitLaunchOp::create(b, loc);
        isInRole = true;
        continue;
      }
      if (!isInRole) {
        OpBuilder b(&op);
        AwaitLaunchOp::create(b, loc);
      }
      break;
    }
    tile::noteDecision(
        kernel,
        {"start", "while '" + before.getSymName().str() + "' ends",
         isInRole  ? "roles wait that use what kernels before it do"
         : isFirst ? "it waits before it touches memory, so only its start "
                     "runs beside that kernel"
                   : "it waits before it uses what kernels before it do"});
  }

  /// The kernel lets the next one begin: behind its own wait if that is the
  /// first it does, so that the next one's blocks take no room before.
  static void admit(KernelOp kernel) {
    if (!kernel.getBody().getOps<AdmitLaunchOp>().empty())
      return;
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    if (auto wait = dyn_cast<AwaitLaunchOp>(kernel.getBody().front().front()))
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
          await(kernel, before, symbols);
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
