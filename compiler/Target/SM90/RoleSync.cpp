// Emits the code of one thread of a kernel with roles: mbarriers, named
// barriers, mailboxes. SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

using lanes::mailBytes;
using lanes::mbarrierBytes;

Value RoleEmitter::wordAddress(Value array, Value stage, int64_t bytes) {
  return add(add(sharedBase(), mul(stage, i32(bytes))),
             i32(shared.offsetOf(array)));
}

void RoleEmitter::emitInit(InitMBarriersOp init) {
  Value isFirst =
      arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::eq, thread, i32(0));
  auto branch = scf::IfOp::create(b, loc(), TypeRange(), isFirst, false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (Value barrier : init.getBarriers()) {
      auto type = cast<MBarrierType>(barrier.getType());
      for (int64_t stage = 0; stage < type.getStages(); ++stage)
        inlineAsm({},
                  {wordAddress(barrier, i32(stage), mbarrierBytes),
                   i32(type.getArrivals())},
                  "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}");
    }
    inlineAsm({}, {}, "fence.mbarrier_init.release.cluster;", "~{memory}");
  }
  intrinsic("llvm.nvvm.barrier.cta.sync.aligned.all", {}, {i32(0)});
}

LogicalResult RoleEmitter::emitSync(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](InitMBarriersOp init) { emitInit(init); })
      .Case([&](WaitOp wait) {
        // One asm holds the loop: as LLVM blocks it would attract code sunk
        // from above.
        inlineAsm({},
                  {wordAddress(wait.getBarrier(), lane1(wait.getStage()),
                               mbarrierBytes),
                   lane1(wait.getParity())},
                  "{ .reg .pred p; WAIT_${:uid}: "
                  "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @!p "
                  "bra WAIT_${:uid}; }",
                  "r,r,~{memory}");
      })
      .Case([&](ArriveOp arrive) {
        Value address = wordAddress(arrive.getBarrier(),
                                    lane1(arrive.getStage()), mbarrierBytes);
        if (!arrive.getPerWarp()) {
          inlineAsm({}, {address}, "mbarrier.arrive.shared::cta.b64 _, [$0];",
                    "r,~{memory}");
          return;
        }
        Value isFirst = arith::CmpIOp::create(
            b, loc(), arith::CmpIPredicate::eq, laneId, i32(0));
        inlineAsm({}, {address, isFirst},
                  "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];",
                  "r,b,~{memory}");
      })
      .Case([&](ExpectOp expect) {
        inlineAsm({},
                  {wordAddress(expect.getBarrier(), lane1(expect.getStage()),
                               mbarrierBytes),
                   i32(expect.getBytes())},
                  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
                  "r,r,~{memory}");
      })
      .Case([&](NamedBarrierOp barrier) {
        intrinsic(barrier.getArrive()
                      ? "llvm.nvvm.barrier.cta.arrive.aligned.count"
                      : "llvm.nvvm.barrier.cta.sync.aligned.count",
                  {}, {lane1(barrier.getId()), i32(barrier.getThreads())});
      })
      .Case([&](InOrderOp order) {
        inlineAsm({}, {lane1(order.getNumber())},
                  (Twine("{ .reg .pred never; setp.eq.s32 never, $0, 0; "
                         "@never ") +
                   (order.getInFlight() ? "trap" : "exit") + "; }")
                      .str(),
                  "r,~{memory}");
      })
      .Case([&](ProxyFenceOp) {
        inlineAsm({}, {}, "fence.proxy.async.shared::cta;", "~{memory}");
      })
      .Case([&](WarpSyncOp) {
        intrinsic("llvm.nvvm.bar.warp.sync", {}, {i32(-1)});
      })
      .Case([&](PostOp post) {
        inlineAsm(
            {},
            {wordAddress(post.getMailbox(), lane1(post.getStage()), mailBytes),
             lane1(post.getValue())},
            "st.shared.b32 [$0], $1;", "r,r,~{memory}");
      })
      .Case([&](ReceiveOp receive) {
        Value address = wordAddress(receive.getMailbox(),
                                    lane1(receive.getStage()), mailBytes);
        if (receive->getParentOfType<RoleOp>().getSingle()) {
          lanes(receive) = {inlineAsm(b.getI32Type(), {address},
                                      "ld.shared.b32 $0, [$1];",
                                      "=r,r,~{memory}")};
          return;
        }
        Value isFirst = arith::CmpIOp::create(
            b, loc(), arith::CmpIPredicate::eq, laneId, i32(0));
        // The lane that arrives for its warp is the one that reads: its arrival
        // orders no other lane's reads. The shuffle tells ptxas, too, that
        // control that depends on the word is the same in all lanes.
        Value word = inlineAsm(b.getI32Type(), {address, isFirst},
                               "mov.b32 $0, 0; @$2 ld.shared.b32 $0, [$1];",
                               "=&r,r,b,~{memory}");
        lanes(receive) = {intrinsic("llvm.nvvm.shfl.sync.idx.i32",
                                    b.getI32Type(),
                                    {i32(-1), word, i32(0), i32(31)})};
      });
  return success();
}

} // namespace selvedge::sm90
