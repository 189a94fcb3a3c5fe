// Emits the code of one thread of a kernel with roles: structure.
// SPDX-License-Identifier: MIT
#include "compiler/Target/SM90/RoleEmitter.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SaveAndRestore.h"

namespace selvedge::sm90 {

using namespace mlir;
using namespace selvedge::sm;

/// Threads of a warpgroup, and registers of a multiprocessor.
static constexpr int64_t warpgroupThreads = 128, fileRegisters = 65536;

LogicalResult RoleEmitter::emitOp(Operation &op) {
  if (auto role = dyn_cast<RoleOp>(op))
    return emitRole(role);
  if (auto product = dyn_cast<WgmmaOp>(op))
    return emitWgmma(product);
  if (auto stage = dyn_cast<StageOp>(op))
    return emitStageMatrix(stage);
  if (auto stage = dyn_cast<StageFragmentOp>(op))
    return emitStageFragment(stage);
  if (auto read = dyn_cast<ReadOp>(op))
    return emitRead(read);
  if (isa<MBarrierOp, MailboxOp, InitMBarriersOp, WaitOp, ArriveOp, ExpectOp,
          NamedBarrierOp, InOrderOp, WarpSyncOp, ProxyFenceOp, PostOp,
          ReceiveOp>(op))
    return emitSync(op);
  if (inRole && isa<BarrierOp>(op))
    return op.emitOpError("would wait for the threads of other roles: expects "
                          "sm.named_barrier inside a role");
  if (auto wait = dyn_cast<WgmmaWaitOp>(op))
    emitWgmmaWait(wait);
  else if (auto retire = dyn_cast<WgmmaRetireOp>(op))
    inlineAsm(
        {}, {},
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", retire.getPending())
            .str(),
        "~{memory}");
  else if (auto load = dyn_cast<TmaLoadOp>(op))
    emitTmaLoad(load);
  else if (auto store = dyn_cast<TmaStoreOp>(op))
    emitTmaStore(store);
  else if (auto load = dyn_cast<BulkLoadOp>(op))
    emitBulkLoad(load);
  else if (auto reduce = dyn_cast<BulkReduceOp>(op))
    emitBulkReduce(reduce);
  else if (auto next = dyn_cast<NextTileOp>(op))
    emitNextTile(next);
  else if (auto reset = dyn_cast<ResetTilesOp>(op))
    emitResetTiles(reset);
  else if (auto drain = dyn_cast<TmaDrainOp>(op))
    inlineAsm({}, {},
              llvm::formatv("cp.async.bulk.wait_group{0} {1};",
                            drain.getWritten() ? "" : ".read",
                            drain.getPending())
                  .str(),
              "~{memory}");
  else if (auto clear = dyn_cast<ClearOp>(op))
    emitClear(clear);
  else if (auto after = dyn_cast<AfterOp>(op))
    emitAfter(after);
  else if (auto slot = dyn_cast<SlotOp>(op))
    emitSlot(slot);
  else if (auto columns = dyn_cast<ColumnsOp>(op))
    emitColumns(columns);
  else if (auto panel = dyn_cast<PanelOp>(op))
    emitPanel(panel);
  else if (isa<WarpgroupLeaderOp>(op))
    lanes(op.getResult(0)) = {arith::CmpIOp::create(
        b, loc(), arith::CmpIPredicate::eq, thread, i32(0))};
  else if (isa<BlockCountOp>(op))
    lanes(op.getResult(0)) = {
        intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type(), {})};
  else if (auto store = dyn_cast<StoreOp>(op))
    return emitStore(store);
  else if (auto repeated = dyn_cast<BroadcastOp>(op))
    return emitRepeated(repeated);
  else
    return LaneEmitter::emitOp(op);
  return success();
}

/// What a product starts at is set in registers where it stands: set while
/// another product runs, ptxas would have each wait for the one before.
LogicalResult RoleEmitter::emitRepeated(BroadcastOp repeated) {
  if (failed(LaneEmitter::emitOp(*repeated)))
    return failure();
  if (llvm::any_of(repeated->getUsers(), [&](Operation *user) {
        auto product = dyn_cast<WgmmaOp>(user);
        return product && product.getInit() == repeated;
      }))
    for (Value &element : lanes(repeated))
      element = inlineAsm(b.getF32Type(), {element}, "mov.b32 $0, $1;", "=f,f");
  return success();
}

/// Lanes whose predicates differ may part, as far as ptxas can tell: unless
/// they are seen to meet again, what follows uses no uniform registers, and
/// descriptors are moved there for each product.
LogicalResult RoleEmitter::emitStore(StoreOp store) {
  if (failed(LaneEmitter::emitOp(*store)))
    return failure();
  if (inRole && layoutOf(store.getValue().getType()))
    intrinsic("llvm.nvvm.bar.warp.sync", {}, {i32(-1)});
  return success();
}

Value RoleEmitter::sharedBase() {
  if (base)
    return base;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  Value pointer = LLVM::AddressOfOp::create(
      b, kernel.getLoc(), LLVM::LLVMPointerType::get(b.getContext(), 3),
      "selvedge_smem");
  return base = LLVM::PtrToIntOp::create(b, kernel.getLoc(), b.getI32Type(),
                                         pointer);
}

/// All threads of a launch start with the same share of the register file,
/// rounded down to eight.
void RoleEmitter::setRegisters(int64_t wanted) {
  int64_t atLaunch = fileRegisters / (32 * kernel.getWarps()) / 8 * 8;
  if (wanted != atLaunch)
    intrinsic(wanted > atLaunch ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"
                                : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
              {}, {i32(wanted)});
}

void RoleEmitter::forgetRole() {
  threadParts.clear();
  for (auto &ofTiles : stagedOffsets)
    ofTiles.clear();
  readOffsets.clear();
  lastWait = nullptr;
  for (auto &perOrientation : descriptors)
    perOrientation.clear();
}

/// Whether `op`, a loop or a role, multiplies what several warpgroups have
/// staged: sums of all products of a step leave few registers.
static bool crossesWarpgroups(Operation *op) {
  return op
      ->walk([](WgmmaOp product) {
        return product.getPairs().size() > 1 ? WalkResult::interrupt()
                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tells ptxas that all lanes have the same.
Value RoleEmitter::sameInAllLanes(Value word) {
  return intrinsic("llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(),
                   {i32(-1), word, i32(0), i32(31)});
}

/// A bound that is computed inside of a nest is the same in all lanes, which
/// ptxas does not see: minima take registers of lanes. The shuffle tells it, so
/// that the bound stays in a uniform register while products need all others.
Value RoleEmitter::loopBound(scf::ForOp loop, Value bound) {
  Value value = lane1(bound);
  Operation *def = bound.getDefiningOp();
  if (!inRole || !def || isa<arith::ConstantOp>(def) ||
      !isa<scf::ForOp>(def->getParentOp()) || !crossesWarpgroups(loop))
    return value;
  return sameInAllLanes(value);
}

/// Whether a step clears rows of what it multiplies.
static bool clearsInSteps(RoleOp role) {
  return role
      .walk([](ClearOp clear) {
        return clear->getParentOfType<scf::ForOp>() ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where a branch in a step parts lanes, as ptxas sees it, it moves places in
/// rings of all loops from uniform registers to those of lanes. Steps that
/// clear nothing have no such branch.
Value RoleEmitter::branchCondition(scf::IfOp branch) {
  Value value = lane1(branch.getCondition());
  auto role = branch->getParentOfType<RoleOp>();
  if (!role || role.getSingle() ||
      isa_and_present<AnyOp, NotFiniteOp, WarpgroupLeaderOp>(
          branch.getCondition().getDefiningOp()))
    return value;
  auto isOfAll = [](Operation *op) {
    return isa<NamedBarrierOp, WaitOp, ClearOp, WgmmaOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (!branch.walk(isOfAll).wasInterrupted() || !crossesWarpgroups(role) ||
      !clearsInSteps(role))
    return value;
  Value word =
      sameInAllLanes(arith::ExtUIOp::create(b, loc(), b.getI32Type(), value));
  return arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::ne, word,
                               i32(0));
}

Value RoleEmitter::keptFromStart(llvm::function_ref<Value()> compute) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(warpId.getDefiningOp());
  return inlineAsm(b.getI32Type(), {compute()}, "mov.b32 $0, $1;", "=r,r");
}

/// Roles of one warpgroup follow each other and are emitted with the first of
/// them: `setmaxnreg` is for all of its warps.
LogicalResult RoleEmitter::emitRole(RoleOp role) {
  auto before = dyn_cast_or_null<RoleOp>(role->getPrevNode());
  if (before && before.sharesWarpgroup(role))
    return success();
  Value warpgroup = arith::ShRUIOp::create(b, loc(), warpId, i32(2));
  Value number =
      arith::SubIOp::create(b, loc(), warpgroup, i32(role.getFirst()));
  Value isRole = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::ult,
                                       number, i32(role.getWarpgroups()));
  auto branch = scf::IfOp::create(b, loc(), TypeRange(), isRole, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  setRegisters(role.getRegisters());
  llvm::SaveAndRestore outerThread(thread), outerWarp(warpId);
  // Inside, threads and warps count from the warpgroup's first.
  thread = arith::AndIOp::create(b, loc(), thread, i32(warpgroupThreads - 1));
  warpId = arith::AndIOp::create(b, loc(), warpId, i32(3));
  numWarps = 4;
  inRole = true;
  LogicalResult result = success();
  for (RoleOp next = role; next && next.sharesWarpgroup(role);
       next = dyn_cast<RoleOp>(next->getNextNode())) {
    forgetRole();
    lanes(next.getBody().getArgument(0)) = {number};
    if (failed(emitRoleBody(next)))
      result = failure();
  }
  forgetRole();
  numWarps = kernel.getWarps();
  inRole = false;
  return result;
}

LogicalResult RoleEmitter::emitRoleBody(RoleOp role) {
  OpBuilder::InsertionGuard guard(b);
  if (role.getSingle()) {
    // One thread is found without its warp's number.
    Value warp = i32(0);
    Value isMember = arith::CmpIOp::create(
        b, loc(), arith::CmpIPredicate::eq, thread,
        i32(static_cast<int64_t>(role.getFirstWarp()) * 32));
    if (role.getNumWarps() > 1) {
      warp = arith::SubIOp::create(b, loc(), warpId, i32(role.getFirstWarp()));
      isMember = arith::AndIOp::create(
          b, loc(),
          arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::ult, warp,
                                i32(role.getNumWarps())),
          arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::eq, laneId,
                                i32(0)));
    }
    auto single = scf::IfOp::create(b, loc(), TypeRange(), isMember, false);
    b.setInsertionPointToStart(single.thenBlock());
    if (role.getWarps() != 0)
      lanes(role.getBody().getArgument(0)) = {warp};
  }
  return emitBlock(role.getBody().front());
}

/// Elements of a stage before a vector that begins at a column of its tensor.
Value RoleEmitter::leadOf(BufferType type, Value first) {
  return arith::AndIOp::create(b, loc(), first, i32(type.getLead() - 1));
}

void RoleEmitter::emitSlot(SlotOp slot) {
  LaneEmitter::emitSlot(slot);
  if (slot.getType().getLead() && !slot.getIndices().empty())
    bufferBases[slot] =
        add(bufferBases[slot],
            mul(leadOf(slot.getType(), lane1(slot.getIndices().back())),
                i32(lanes::bytesOf(slot.getType().getElementType()))));
  slots[slot] = {slot.getRing(), lane1(slot.getStage())};
}

void RoleEmitter::emitNextTile(NextTileOp next) {
  Value taken = inlineAsm(b.getI32Type(), {lane1(next.getCounter())},
                          "atom.relaxed.gpu.global.add.u32 $0, [$1], 1;",
                          "=r,l,~{memory}");
  Value blocks =
      intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type(), {});
  lanes(next) = {add(taken, blocks)};
}

/// Every tile takes one number, so the launch takes as many as it has tiles;
/// the last is one that tells its block to stop.
void RoleEmitter::emitResetTiles(ResetTilesOp reset) {
  Value blocks =
      intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type(), {});
  Value last = arith::SubIOp::create(
      b, loc(), add(lane1(reset.getTiles()), blocks), i32(1));
  Value isLast = arith::CmpIOp::create(b, loc(), arith::CmpIPredicate::eq,
                                       lane1(reset.getNumber()), last);
  inlineAsm({}, {lane1(reset.getCounter()), i32(0), isLast},
            "@$2 st.relaxed.gpu.global.u32 [$0], $1;", "l,r,b,~{memory}");
}

void RoleEmitter::emitPanel(PanelOp panel) {
  BufferType type = panel.getType();
  Value number = lane1(panel.getNumber());
  bufferBases[panel] =
      add(bufferBases[panel.getBuffer()], mul(number, i32(type.getBytes())));
  slots[panel] = slots.lookup(panel.getBuffer());
  if (!slots[panel].ring)
    slots[panel].ring = panel.getBuffer();
  slots[panel].panel = number;
}

/// Memory operations keep their order, and ptxas moves no wait ahead of one:
/// here a store that needs sums of the fold. It is never executed, for sums of
/// weights have no sign; if one had, the address would be outside the window of
/// shared memory. Without the integer `or` ptxas would prove that itself.
void RoleEmitter::emitAfter(AfterOp after) {
  const Registers &sums = heads[after.getFold()];
  std::string text = "{ .reg .b32 bits; .reg .f32 sum; .reg .pred never; "
                     "or.b32 bits, $0, $1; mov.b32 sum, bits; "
                     "setp.lt.f32 never, sum, 0f00000000; "
                     "@never st.shared.b32 [bits], bits; }";
  inlineAsm({}, {sums.front(), sums.back()}, text, "f,f,~{memory}");
}

void RoleEmitter::emitColumns(ColumnsOp columns) {
  LayoutAttr from = layoutOf(columns.getSource().getType()),
             to = layoutOf(columns.getType());
  int64_t position = from.indexOf(columns.getOverAttr()),
          first = columns.getFirstReg();
  const Registers all = lanes(columns.getSource());
  Registers part;
  for (int64_t reg = 0; reg < to.getNumRegs(); ++reg) {
    SmallVector<int64_t> where = to.unflatten(reg);
    where[position] += first;
    part.push_back(all[from.flatten(where)]);
  }
  lanes(columns) = part;
}

} // namespace selvedge::sm90
