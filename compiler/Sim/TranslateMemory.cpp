// From form `lanes` to instructions: vectors, pointers, memory, intrinsics.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/SharedMemory.h"
#include "compiler/Sim/Translator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::sim {

using namespace mlir;

/// Elements of vectors whose position is known.
llvm::Error Translator::element(Operation *op) {
  auto insert = dyn_cast<LLVM::InsertElementOp>(op);
  auto extract = dyn_cast<LLVM::ExtractElementOp>(op);
  APInt position;
  Value vector = insert ? insert.getVector() : extract.getVector();
  if (!matchPattern(insert ? insert.getPosition() : extract.getPosition(),
                    m_ConstantInt(&position)))
    return unknown(op);
  auto type = cast<VectorType>(vector.getType());
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  auto number = static_cast<unsigned>(position.getZExtValue());
  if (number >= type.getNumElements() || width < 8)
    return unknown(op);
  unsigned word = number * width / 32, shift = number * width % 32;
  Slots slots = of(vector);
  if (insert) {
    Slot from = one(insert.getValue());
    if (width == 32) {
      slots[word] = from;
    } else {
      Slot to = allocate();
      Instr &in = emit(Op::InsertBits, to, slots[word], from);
      in.width = static_cast<uint8_t>(width);
      in.imm = shift;
      slots[word] = to;
    }
    bind(op->getResult(0), slots);
    return llvm::Error::success();
  }
  if (width == 32) {
    bind(op->getResult(0), slots[word]);
    return llvm::Error::success();
  }
  Instr &in = emit(Op::ExtractBits, define(op->getResult(0)), slots[word]);
  in.width = static_cast<uint8_t>(width);
  in.imm = shift;
  return llvm::Error::success();
}

/// Bytes ahead of a pointer.
llvm::Error Translator::address(LLVM::GEPOp op) {
  if (!op.getElemType().isInteger(8) || op.getIndices().size() != 1)
    return unknown(op);
  Slot base = one(op.getBase());
  auto index = op.getIndices()[0];
  if (auto ahead = dyn_cast<IntegerAttr>(index)) {
    emit(Op::AddWideConstant, define(op), base).imm = ahead.getInt();
    return llvm::Error::success();
  }
  auto value = cast<Value>(index);
  Slot offset = one(value);
  bool isNarrow = !isWide(value.getType());
  if (isNarrow) {
    Slot wide = allocate(true);
    retain(wide);
    emit(Op::ToWideSigned, wide, offset).width = 32;
    offset = wide;
  }
  Instr &in = emit(Op::IntBinary, define(op), base, offset);
  in.kind = static_cast<uint8_t>(Int::Add);
  in.width = 64;
  if (isNarrow)
    drop(offset);
  return llvm::Error::success();
}

/// How a value lies in memory: bits of a word, and registers.
static unsigned wordBits(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return type.getIntOrFloatBitWidth();
  return std::min(32U, vector.getElementType().getIntOrFloatBitWidth() *
                           static_cast<unsigned>(vector.getNumElements()));
}

llvm::Error Translator::llvmOp(Operation *op) {
  if (isa<LLVM::InsertElementOp, LLVM::ExtractElementOp>(op))
    return element(op);
  if (auto gep = dyn_cast<LLVM::GEPOp>(op))
    return address(gep);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return intrinsic(call);
  if (auto code = dyn_cast<LLVM::InlineAsmOp>(op))
    return assembly(code);
  if (isa<LLVM::AddressOfOp>(op)) {
    bind(op->getResult(0), constant(sharedStart, true));
    return llvm::Error::success();
  }
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op)) {
    Slot a = one(cast.getArg());
    if (isWide(cast.getType()))
      bind(cast, a);
    else
      emit(Op::FromWide, define(cast), a).width = 32;
    return llvm::Error::success();
  }
  if (auto cast = dyn_cast<LLVM::BitcastOp>(op)) {
    // The same bits in the same registers.
    bind(cast, of(cast.getArg()));
    return llvm::Error::success();
  }
  if (auto zero = dyn_cast<LLVM::ZeroOp>(op)) {
    bind(zero,
         Slots(countOf(zero.getType()), constant(0, isWide(zero.getType()))));
    return llvm::Error::success();
  }
  if (isa<LLVM::PoisonOp, LLVM::UndefOp>(op)) {
    Slots slots = make(op->getResult(0).getType());
    bind(op->getResult(0), slots);
    for (Slot slot : slots)
      undefine(slot);
    return llvm::Error::success();
  }
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    auto record =
        dyn_cast<LLVM::LLVMStructType>(extract.getContainer().getType());
    if (!record || extract.getPosition().size() != 1)
      return unknown(op);
    size_t first = 0;
    for (Type part : record.getBody().take_front(extract.getPosition()[0]))
      first += static_cast<size_t>(countOf(part));
    Slots all = of(extract.getContainer());
    bind(extract, ArrayRef(all).slice(
                      first, static_cast<size_t>(countOf(extract.getType()))));
    return llvm::Error::success();
  }
  if (auto fma = dyn_cast<LLVM::FMAOp>(op)) {
    auto vector = dyn_cast<VectorType>(fma.getType());
    if (!vector || vector.getNumElements() != 2 ||
        vector.getElementType().getIntOrFloatBitWidth() != 16)
      return unknown(op);
    Slot a = one(fma.getA()), b = one(fma.getB()), c = one(fma.getC());
    emit(Op::PairFma, define(fma), a, b, c).other =
        vector.getElementType().isBF16() ? bf16 : f16;
    return llvm::Error::success();
  }
  auto load = dyn_cast<LLVM::LoadOp>(op);
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (!load && !store)
    return unknown(op);
  Value pointer = load ? load.getAddr() : store.getAddr();
  Type type = load ? load.getType() : store.getValue().getType();
  if (cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() != 3 ||
      isWide(type) || countOf(type) < 0)
    return unknown(op);
  Slot at = one(pointer);
  Slots data;
  if (load)
    bind(op->getResult(0), data = make(type));
  else
    data = of(store.getValue());
  Instr &in = emit(load ? Op::LoadShared : Op::StoreShared, noSlot, at);
  in.wide = true;
  in.width = static_cast<uint8_t>(wordBits(type));
  list(in, data);
  touchesShared(in.width / 8);
  return llvm::Error::success();
}

/// Intrinsics by their names without `llvm.nvvm.`.
llvm::Error Translator::intrinsic(LLVM::CallIntrinsicOp op) {
  StringRef name = op.getIntrin();
  if (!name.consume_front("llvm.nvvm."))
    return unknown(op);
  SmallVector<Value> args(op.getArgs());
  auto isConstant = [&](Value value, int64_t wanted) {
    APInt number;
    return matchPattern(value, m_ConstantInt(&number)) &&
           number.getSExtValue() == wanted;
  };
  auto immediate = [&](Value value) -> std::optional<int64_t> {
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)))
      return std::nullopt;
    return number.getSExtValue();
  };
  auto done = [] { return llvm::Error::success(); };
  Value result = op->getNumResults() ? op->getResult(0) : Value();
  if (name == "read.ptx.sreg.tid.x")
    return emit(Op::ThreadId, define(result)), done();
  if (name == "read.ptx.sreg.ctaid.x")
    return emit(Op::BlockId, define(result)), done();
  if (name == "read.ptx.sreg.nctaid.x")
    return emit(Op::BlockCount, define(result)), done();
  if (name == "barrier.cta.sync.aligned.all" && isConstant(args[0], 0))
    return emit(Op::BarrierSync), done();
  if (name == "barrier.cta.sync.aligned.count" ||
      name == "barrier.cta.arrive.aligned.count")
    return emit(name.contains("arrive") ? Op::BarrierArrive : Op::BarrierSync,
                noSlot, one(args[0]), one(args[1])),
           done();
  if (name == "bar.warp.sync" && isConstant(args[0], -1))
    return emit(Op::WarpSync), done();
  if (name == "cp.async.commit.group")
    return emit(Op::CommitCopies), done();
  if (name == "cp.async.wait.group" && immediate(args[0])) {
    emit(Op::AwaitCopies).imm = *immediate(args[0]);
    return done();
  }
  if (name.starts_with("setmaxnreg.") && immediate(args[0])) {
    Instr &in = emit(Op::SetRegisters);
    in.imm = *immediate(args[0]);
    in.kind = name.contains(".inc.");
    return done();
  }
  if (name.starts_with("shfl.sync.") && isConstant(args[0], -1) &&
      immediate(args[3]) &&
      (name.contains(".idx.") || name.contains(".bfly."))) {
    bool isButterfly = name.contains(".bfly.");
    int64_t segment = *immediate(args[3]) >> 8,
            last = *immediate(args[3]) % 256;
    if (last == 31 && (segment == 0 || !isButterfly)) {
      Slot a = one(args[1]), b = one(args[2]);
      Instr &in = emit(Op::Shuffle, define(result), a, b);
      in.kind = isButterfly;
      in.imm = segment;
      return done();
    }
  }
  if (name == "vote.any.sync" && isConstant(args[0], -1)) {
    Slot a = one(args[1]);
    return emit(Op::VoteAny, define(result), a), done();
  }
  if (name.starts_with("ff2bf16x2.rn") || name.starts_with("ff2f16x2.rn")) {
    Slot high = one(args[0]), low = one(args[1]);
    Instr &in = emit(Op::Pair, define(result), high, low);
    in.other = name.starts_with("ff2b") ? bf16 : f16;
    in.kind = name.ends_with(".satfinite");
    return done();
  }
  if (name == "ldmatrix.sync.aligned.m8n8.x4.b16.p3" ||
      name == "ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3") {
    Slot at = one(args[0]);
    Slots to = make(result.getType());
    bind(result, to);
    Instr &in = emit(Op::LoadMatrix, noSlot, at);
    in.wide = true;
    in.kind = name.contains(".trans.");
    list(in, to);
    touchesShared(16);
    return done();
  }
  if (name == "mma.m16n8k16.row.col.bf16" ||
      name == "mma.m16n8k16.row.col.f32.f32") {
    Slots all;
    for (Value value : args)
      llvm::append_range(all, of(value));
    Slots to = make(result.getType());
    bind(result, to);
    llvm::append_range(all, to);
    Instr &in = emit(Op::Mma);
    in.other = name.ends_with("bf16") ? bf16 : f16;
    list(in, all);
    return done();
  }
  return unknown(op);
}

} // namespace selvedge::sim
