// sm-reduce-scratch: shared memory for what threads of several warps exchange.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMREDUCESCRATCH
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

bool isExchange(Operation &op) {
  auto exchange = dyn_cast<ExchangeOpInterface>(op);
  return exchange && exchange.exchanges();
}

/// Whether the block of a loop's body holds another barrier, which each round
/// passes between the reads of the parts and the next writes.
bool hasOtherBarrier(Operation *exchange) {
  return isa<scf::ForOp>(exchange->getParentOp()) &&
         llvm::any_of(*exchange->getBlock(), [&](Operation &op) {
           return isa<BarrierOp>(op) || (isExchange(op) && &op != exchange);
         });
}

struct SmReduceScratchPass : impl::SmReduceScratchBase<SmReduceScratchPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    kernel.walk([&](ExchangeOpInterface exchange) {
      if (!exchange.exchanges() || exchange.getExchangeScratch())
        return;
      OpBuilder b(kernel.getBody().front().findAncestorOpInBlock(*exchange));
      exchange.setExchangeScratch(AllocOp::create(
          b, exchange.getLoc(), exchange.scratchType(32 * kernel.getWarps())));
      // The next round overwrites the parts: everyone must have read them.
      if (exchange->getParentOfType<scf::ForOp>() &&
          !hasOtherBarrier(exchange)) {
        b.setInsertionPointAfter(exchange);
        BarrierOp::create(b, exchange.getLoc());
      }
    });
  }
};

} // namespace
} // namespace selvedge::schedule
