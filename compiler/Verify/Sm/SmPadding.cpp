// verify-sm-padding: absent lanes reach no sink of forms seq, async and roles
// (V2).
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Sm/SmPadding.h"

#include "compiler/Verify/Arithmetic/ElementStates.h"
#include "compiler/Verify/Passes.h"
#include "dialect/Sm/SmScheduler.h"

namespace selvedge::verify {

#define GEN_PASS_DEF_VERIFYSMPADDING
#include "compiler/Verify/Passes.h.inc"

using namespace mlir;
using namespace selvedge::sm;

SmPadding::SmPadding(KernelOp kernel) : kernel(kernel) {}

InFlightDiagnostic SmPadding::refuse(Operation *op, Value predicate,
                                     const Twine &what) {
  InFlightDiagnostic diag = op->emitOpError("expects ") << what;
  diag.attachNote(predicate.getLoc()) << "lanes are absent where this is false";
  return diag;
}

LogicalResult SmPadding::demandPresent(Operation *op, Value v,
                                       ValueRange presence, const Twine &what) {
  for (const Fact &fact : of(v))
    if (fact.origin == Origin::Absent && !isExcluded(presence, fact))
      return refuse(op, fact.predicate, what);
  return success();
}

LogicalResult SmPadding::demandNoGarbage(Operation *op, Value v,
                                         const Twine &what) {
  for (const Fact &fact : of(v))
    if (fact.origin == Origin::Absent && fact.state == State::Garbage)
      return refuse(op, fact.predicate,
                    "no " + what + " that is garbage at an absent lane");
  return success();
}

LogicalResult SmPadding::visit(Block &block, bool check) {
  for (Operation &op : block)
    if (failed(visit(op, check)))
      return failure();
  return success();
}

/// Operations that only order others, which verify-sm-async checks, or give
/// scalars that depend on no tile.
static bool hasNoLanes(Operation *op) {
  return isa<AllocOp, BarrierOp, AwaitOp, MBarrierOp, InitMBarriersOp, WaitOp,
             WgmmaRetireOp, ArriveOp, ExpectOp, NamedBarrierOp, ProxyFenceOp,
             WarpSyncOp, TmaLoadOp, TmaDrainOp, ClearOp, MailboxOp, PostOp,
             ReceiveOp, NextTileOp, ResetTilesOp, AwaitLaunchOp, AdmitLaunchOp>(
      op);
}

void SmPadding::compute(Operation &op) {
  auto factsOf = [&](Value v) -> const Facts & { return of(v); };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    facts[select] = selectFacts(select.getCondition(), select.getTrueValue(),
                                select.getFalseValue(), factsOf);
  } else if (op.getNumResults() != 0) {
    Facts result = elementwiseFacts(&op, factsOf);
    for (Value v : op.getResults())
      facts[v] = result;
  }
}

LogicalResult SmPadding::visit(Operation &op, bool check) {
  if (auto role = dyn_cast<RoleOp>(op))
    return visit(role.getBody().front(), check);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop, check);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop, check);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch, check);
  if (auto load = dyn_cast<LoadOp>(op))
    return visitLoad(load, check);
  if (auto store = dyn_cast<StoreOp>(op))
    return check ? checkStore(store) : success();
  if (auto copy = dyn_cast<CopyOp>(op))
    return visitCopy(copy, check);
  if (auto copy = dyn_cast<CopyAsyncOp>(op))
    return visitCopy(copy, check);
  if (auto stage = dyn_cast<StageOp>(op))
    return visitStage(stage, check);
  if (auto slot = dyn_cast<SlotOp>(op))
    return visitSlot(slot), success();
  if (auto read = dyn_cast<ReadOp>(op))
    return visitRead(read, check);
  if (auto panel = dyn_cast<PanelOp>(op))
    return visitPanel(panel, check);
  if (auto store = dyn_cast<TmaStoreOp>(op))
    return check ? checkTmaStore(store) : success();
  if (auto mma = dyn_cast<MmaOp>(op))
    return visitProduct(mma, {{mma.getLhs(), mma.getRhs(), mma.getOverAttr()}},
                        mma.getInit(), mma.getPresence(), check);
  if (auto wgmma = dyn_cast<WgmmaOp>(op)) {
    auto pairs = llvm::map_to_vector(wgmma.getPairs(), [](WgmmaOp::Pair pair) {
      return Pair{pair.lhs, pair.rhs, pair.over};
    });
    return visitProduct(wgmma, pairs, wgmma.getInit(), wgmma.getPresence(),
                        check);
  }
  if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
    facts[wait] = Facts(of(wait.getAccumulator()));
    return success();
  }
  if (auto columns = dyn_cast<ColumnsOp>(op))
    return visitColumns(columns), success();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return visitReduce(reduce, check);
  if (auto fold = dyn_cast<FoldOp>(op))
    return visitFold(fold, check);
  if (auto contributes = dyn_cast<ContributesOp>(op))
    return check ? checkContributes(contributes) : success();
  if (auto any = dyn_cast<AnyOp>(op)) {
    // A vote goes through all lanes, absent ones too: what those hold must not
    // depend on bytes outside.
    facts[any].clear();
    for (const Fact &fact : of(any.getCondition()))
      if (fact.origin == Origin::Absent && fact.state == State::Garbage)
        facts[any].push_back(fact);
    return success();
  }
  if (hasNoLanes(&op) ||
      isa<scf::ConditionOp, scf::YieldOp, IdleOp, WholeOp, AfterOp, InOrderOp>(
          op))
    return success();
  if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
    return op.emitOpError("has no rule in this verifier");
  compute(op);
  return success();
}

namespace {

struct VerifySmPaddingPass : impl::VerifySmPaddingBase<VerifySmPaddingPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(SmPadding(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace selvedge::verify
