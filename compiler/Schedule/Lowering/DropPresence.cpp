// sm-drop-presence: what only proofs read goes.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMDROPPRESENCE
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

struct SmDropPresencePass : impl::SmDropPresenceBase<SmDropPresencePass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto sink = dyn_cast<tile::SinkOpInterface>(op);
          sink && sink.isForProofs())
        sink.getPresenceMutable().clear();
      llvm::TypeSwitch<Operation *>(op)
          .Case<CopyOp, CopyAsyncOp>([](auto copy) {
            copy.getPresenceMutable().assign(copy.getTested());
            copy.setGarbage({});
          })
          .Case([](SlotOp slot) {
            // Where the vector begins in its stage follows from the last one.
            if (!slot.getType().getLead())
              slot.getIndicesMutable().clear();
            slot.getPresenceMutable().clear();
            slot.setGarbage({});
          })
          .Case<ContributesOp, IdleOp, WholeOp>(
              [](auto claim) { claim.erase(); });
    });
    // Backwards, so that a chain goes as a whole.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }
};

} // namespace
} // namespace selvedge::schedule
