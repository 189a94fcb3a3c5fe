// sm-single-steps: loops of one step at most become branches.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Distance.h"
#include "compiler/Schedule/Passes.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMSINGLESTEPS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

void makeBranch(scf::ForOp loop) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  Value runs =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            loop.getLowerBound(), loop.getUpperBound());
  bool hasResults = loop.getNumResults() != 0;
  auto branch =
      scf::IfOp::create(b, loc, loop.getResultTypes(), runs, hasResults);
  loop.getInductionVar().replaceAllUsesWith(loop.getLowerBound());
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    argument.replaceAllUsesWith(init);
  Block *body = loop.getBody(), *taken = branch.thenBlock();
  if (!hasResults)
    taken->getTerminator()->erase();
  taken->getOperations().splice(taken->end(), body->getOperations());
  if (hasResults) {
    OpBuilder otherwise = branch.getElseBodyBuilder();
    scf::YieldOp::create(otherwise, loc, loop.getInitArgs());
  }
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

struct SmSingleStepsPass : impl::SmSingleStepsBase<SmSingleStepsPass> {
  void runOnOperation() override {
    // Where roles copy and multiply the steps of all loops are one pipeline.
    if (getOperation().hasRoles())
      return;
    SmallVector<scf::ForOp> loops;
    // verify-sm-padding knows less of a branch than of a loop: two windows in a
    // row, of which loaded numbers are a limit, would be refused.
    getOperation()->walk([&](scf::ForOp loop) {
      if (analysis::hasOneStep(loop, analysis::By::Limits))
        loops.push_back(loop);
    });
    llvm::for_each(loops, makeBranch);
  }
};

} // namespace
} // namespace selvedge::schedule
