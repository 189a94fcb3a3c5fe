// From form `lanes` to instructions: assembly of kernels with roles.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Translator.h"

namespace selvedge::sim {

using namespace mlir;
using Kind = PtxOperand::Kind;

bool Translator::asmBarrier(const PtxStatement &statement,
                            ArrayRef<StringRef> parts) {
  const std::vector<PtxOperand> &ops = statement.operands;
  StringRef opcode = statement.opcode;
  if (opcode == "fence.proxy.async.shared::cta")
    return asmEmit(Op::FenceProxy), true;
  if (opcode == "fence.mbarrier_init.release.cluster")
    return asmEmit(Op::FenceMBarrierInit), true;
  if (ops.size() < 2)
    return false;
  // Addresses in shared memory have 32 bits.
  auto finish = [&](Instr &in) {
    touchesShared(8);
    return in.a != noSlot;
  };
  if (opcode == "mbarrier.init.shared::cta.b64")
    return finish(
        asmEmit(Op::MBarrierInit, noSlot, asmSlot(ops[0]), asmSlot(ops[1])));
  if (opcode == "mbarrier.arrive.shared::cta.b64")
    return finish(asmEmit(Op::MBarrierArrive, noSlot, asmSlot(ops[1])));
  if (opcode == "mbarrier.arrive.expect_tx.shared::cta.b64" && ops.size() == 3)
    return finish(
        asmEmit(Op::MBarrierArrive, noSlot, asmSlot(ops[1]), asmSlot(ops[2])));
  if (opcode == "mbarrier.try_wait.parity.shared::cta.b64" && ops.size() == 3)
    return finish(asmEmit(Op::MBarrierTryWait, asmSlot(ops[0]), asmSlot(ops[1]),
                          asmSlot(ops[2])));
  return false;
}

bool Translator::asmBulk(const PtxStatement &statement,
                         ArrayRef<StringRef> parts) {
  const std::vector<PtxOperand> &ops = statement.operands;
  StringRef opcode = statement.opcode;
  touchesShared(16);
  if (opcode == "cp.async.bulk.commit_group")
    return asmEmit(Op::CommitBulk), true;
  if (opcode == "cp.async.bulk.wait_group" ||
      opcode == "cp.async.bulk.wait_group.read") {
    if (ops.size() != 1 || ops[0].kind != Kind::Number)
      return false;
    asmEmit(Op::AwaitBulk).imm = ops[0].number;
    return true;
  }
  // [map, {indices}]
  auto place = [&](const PtxOperand &operand, Slots &indices) {
    if (operand.kind != Kind::Address || operand.parts.size() != 2)
      return noSlot;
    indices = asmSlots(operand.parts[1]);
    return asmSlot(operand.parts[0]);
  };
  if (opcode.starts_with("cp.async.bulk.tensor.") ||
      opcode.starts_with("cp.reduce.async.bulk.tensor.")) {
    Slots indices;
    bool adds = opcode.consume_front("cp.reduce.async.bulk.tensor.");
    if (!adds)
      opcode.consume_front("cp.async.bulk.tensor.");
    bool isLoad = opcode.ends_with(".shared::cluster.global.tile.mbarrier::"
                                   "complete_tx::bytes");
    bool isStore =
        adds ? opcode.ends_with("d.global.shared::cta.add.tile.bulk_group")
             : opcode.ends_with("d.global.shared::cta.bulk_group");
    unsigned rank = 0;
    isLoad &= !adds;
    if (opcode.take_front().getAsInteger(10, rank) || (!isLoad && !isStore) ||
        ops.size() != (isLoad ? 3U : 2U))
      return false;
    Slot map = place(ops[isLoad ? 1 : 0], indices);
    Instr &in = asmEmit(isLoad ? Op::TensorLoad
                        : adds ? Op::TensorAdd
                               : Op::TensorStore,
                        noSlot, asmSlot(ops[isLoad ? 0 : 1]), map,
                        isLoad ? asmSlot(ops[2]) : noSlot);
    list(in, indices);
    return indices.size() == rank && map != noSlot && in.a != noSlot;
  }
  if (opcode == "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                "bytes" &&
      ops.size() == 4) {
    Instr &in = asmEmit(Op::BulkLoad, noSlot, asmSlot(ops[0]), asmSlot(ops[1]),
                        asmSlot(ops[3]));
    list(in, {asmSlot(ops[2])});
    return true;
  }
  if (opcode == "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32" &&
      ops.size() == 3) {
    Instr &in =
        asmEmit(Op::BulkReduce, noSlot, asmSlot(ops[1]), asmSlot(ops[0]));
    list(in, {asmSlot(ops[2])});
    return true;
  }
  return false;
}

bool Translator::asmWgmma(const PtxStatement &statement,
                          ArrayRef<StringRef> parts) {
  const std::vector<PtxOperand> &ops = statement.operands;
  StringRef opcode = statement.opcode;
  if (opcode == "wgmma.fence.sync.aligned")
    return asmEmit(Op::WgmmaFence), true;
  if (opcode == "wgmma.commit_group.sync.aligned")
    return asmEmit(Op::CommitWgmma), true;
  if (opcode == "wgmma.wait_group.sync.aligned") {
    if (ops.size() != 1 || ops[0].kind != Kind::Number)
      return false;
    asmEmit(Op::AwaitWgmma).imm = ops[0].number;
    return true;
  }
  // wgmma.mma_async.sync.aligned.m64nNk16.f32.T.T
  StringRef shape = parts.size() == 8 ? parts[4] : StringRef();
  unsigned columns = 0;
  if (parts[1] != "mma_async" || !shape.consume_front("m64n") ||
      !shape.consume_back("k16") || shape.getAsInteger(10, columns) ||
      columns % 8 != 0 || columns > 256 || parts[5] != "f32" ||
      parts[6] != parts[7] || (parts[6] != "bf16" && parts[6] != "f16") ||
      ops.size() < 7)
    return false;
  Slots sums = asmSlots(ops[0]);
  bool hasRegisters = ops[1].kind == Kind::List;
  auto isOne = [&](size_t i) {
    return ops[i].kind == Kind::Number && ops[i].number == 1;
  };
  size_t transposed = 6;
  if (sums.size() != columns / 2 || !isOne(4) || !isOne(5) ||
      ops.size() != (hasRegisters ? 7U : 8U))
    return false;
  Slots all = sums;
  llvm::append_range(all, sums);
  Slot a = noSlot;
  if (hasRegisters)
    llvm::append_range(all, asmSlots(ops[1]));
  else
    a = asmSlot(ops[1]);
  uint8_t kind = 0;
  if (!hasRegisters)
    kind |= isOne(transposed++) ? 1 : 0;
  kind |= isOne(transposed) ? 2 : 0;
  Slot b = asmSlot(ops[2]), scale = asmSlot(ops[3]);
  if (llvm::is_contained(all, noSlot) || b == noSlot || scale == noSlot)
    return false;
  Instr &in = asmEmit(Op::Wgmma, noSlot, a, b, scale);
  in.kind = kind;
  in.imm = columns;
  in.other = parts[6] == "bf16" ? bf16 : f16;
  list(in, all);
  touchesShared(16);
  return true;
}

} // namespace selvedge::sim
