// From form `lanes` to instructions: inline assembly.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Translator.h"

#include "llvm/ADT/StringExtras.h"

namespace selvedge::sim {

using namespace mlir;
using Kind = PtxOperand::Kind;

//===-- Operands ----------------------------------------------------------===//

bool Translator::asmIsWide(const PtxOperand &operand) {
  if (operand.kind == Kind::Argument)
    return static_cast<size_t>(operand.number) < asmWide.size() &&
           asmWide[static_cast<size_t>(operand.number)];
  return operand.kind == Kind::Name && asmWideNames[operand.name];
}

/// The register of an operand; none where it has none.
Slot Translator::asmSlot(const PtxOperand &operand, bool wide) {
  switch (operand.kind) {
  case Kind::Argument:
    return static_cast<size_t>(operand.number) < asmOperands.size()
               ? asmOperands[static_cast<size_t>(operand.number)]
               : noSlot;
  case Kind::Number:
    return constant(wide ? static_cast<uint64_t>(operand.number)
                         : static_cast<uint32_t>(operand.number),
                    wide);
  case Kind::Name: {
    auto it = asmNames.find(operand.name);
    return it == asmNames.end() ? noSlot : it->second;
  }
  case Kind::Address:
    return operand.parts.empty() ? noSlot : asmSlot(operand.parts[0], wide);
  case Kind::List:
    break;
  }
  return noSlot;
}

Translator::Slots Translator::asmSlots(const PtxOperand &operand, bool wide) {
  if (operand.kind != Kind::List)
    return {asmSlot(operand, wide)};
  Slots slots;
  for (const PtxOperand &part : operand.parts)
    slots.push_back(asmSlot(part, wide));
  return slots;
}

Instr &Translator::asmEmit(Op op, Slot dst, Slot a, Slot b, Slot c) {
  Instr &in = emit(op, dst, a, b, c);
  in.guard = asmGuard;
  in.negated = asmNegated;
  return in;
}

//===-- Statements --------------------------------------------------------===//

/// `ld` and `st`: bits of a word and how many of them.
bool Translator::asmAccess(const PtxStatement &statement,
                           ArrayRef<StringRef> parts) {
  bool isLoad = parts[0] == "ld";
  bool isShared = llvm::is_contained(parts, "shared");
  if (statement.operands.size() != 2 ||
      (!isShared && !llvm::is_contained(parts, "global")))
    return false;
  size_t count = llvm::is_contained(parts, "v4")   ? 4
                 : llvm::is_contained(parts, "v2") ? 2
                                                   : 1;
  unsigned bits = 0;
  // Words of 64 bits are loaded one by one from global memory.
  bool isWideLoad = isLoad && !isShared && count == 1;
  if (parts.back().drop_front().getAsInteger(10, bits) ||
      bits > (isWideLoad ? 64 : 32))
    return false;
  const PtxOperand &address = statement.operands[isLoad ? 1 : 0];
  const PtxOperand &value = statement.operands[isLoad ? 0 : 1];
  if (isWideLoad && asmIsWide(value) != (bits == 64))
    return false;
  Slots data = asmSlots(value);
  Slot at = asmSlot(address);
  if (data.size() != count || at == noSlot || address.kind != Kind::Address ||
      llvm::is_contained(data, noSlot))
    return false;
  Op op = isLoad ? (isShared ? Op::LoadShared : Op::LoadGlobal)
                 : (isShared ? Op::StoreShared : Op::StoreGlobal);
  Instr &in = asmEmit(op, noSlot, at);
  in.wide = asmIsWide(address.parts[0]);
  in.width = static_cast<uint8_t>(bits);
  list(in, data);
  if (isShared)
    touchesShared(bits / 8);
  return true;
}

/// What concerns one word and all blocks.
bool Translator::asmAtomic(const PtxStatement &statement) {
  StringRef rest = statement.opcode;
  const std::vector<PtxOperand> &ops = statement.operands;
  if (!rest.consume_front("atom.relaxed.gpu.global."))
    return false;
  auto [operation, type] = rest.split('.');
  bool isSwap = operation == "cas", isWide = type.ends_with("64");
  if (ops.size() != (isSwap ? 4 : 3) || ops[1].kind != Kind::Address ||
      ops[1].parts.empty())
    return false;
  if (isSwap ? type != "b32" && type != "b64"
             : (operation != "add" && operation != "min") ||
                   (type != "u32" && type != "u64"))
    return false;
  Slot to = asmSlot(ops[0]), at = asmSlot(ops[1]), by = asmSlot(ops[2], isWide),
       swap = isSwap ? asmSlot(ops[3], isWide) : at;
  if (llvm::is_contained({to, at, by, swap}, noSlot))
    return false;
  Instr &in = asmEmit(Op::Atomic, to, at, by, swap);
  in.kind = static_cast<uint8_t>(operation == "add"   ? Atomic::Add
                                 : operation == "min" ? Atomic::MinU
                                                      : Atomic::CompareAndSwap);
  in.width = isWide ? 64 : 32;
  in.wide = asmIsWide(ops[1].parts[0]);
  return true;
}

bool Translator::asmStatement(const PtxStatement &statement) {
  SmallVector<StringRef> parts;
  StringRef opcode = statement.opcode;
  opcode.split(parts, '.');
  const std::vector<PtxOperand> &ops = statement.operands;
  StringRef name = parts[0];
  auto slot = [&](size_t i, bool wide = false) {
    return asmSlot(ops[i], wide);
  };
  if (name == "ld" || name == "st")
    return asmAccess(statement, parts);
  if (name == "mov" && ops.size() == 2) {
    if (ops[1].kind == Kind::Name && ops[1].name == "%laneid") {
      asmEmit(Op::LaneId, slot(0));
      return slot(0) != noSlot;
    }
    Slot to = slot(0), from = slot(1);
    asmEmit(Op::Move, to, from);
    return to != noSlot && from != noSlot && !asmIsWide(ops[0]);
  }
  if (opcode == "add.s64" && ops.size() == 3) {
    Slot to = slot(0), a = slot(1), b = slot(2, true);
    Instr &in = asmEmit(Op::IntBinary, to, a, b);
    in.kind = static_cast<uint8_t>(Int::Add);
    in.width = 64;
    return to != noSlot && a != noSlot && b != noSlot;
  }
  if ((opcode == "or.b32" || opcode == "and.b32") && ops.size() == 3) {
    Slot to = slot(0), a = slot(1), b = slot(2);
    asmEmit(Op::IntBinary, to, a, b).kind =
        static_cast<uint8_t>(name == "or" ? Int::Or : Int::And);
    return to != noSlot && a != noSlot && b != noSlot;
  }
  if (name == "setp" && ops.size() == 3 && parts.size() == 3) {
    Slot to = slot(0), a = slot(1), b = slot(2);
    if (to == noSlot || a == noSlot || b == noSlot)
      return false;
    if (opcode == "setp.lt.f32") {
      Instr &in = asmEmit(Op::FloatCompare, to, a, b);
      in.kind = less;
      in.other = f32;
      return true;
    }
    if ((parts[1] != "eq" && parts[1] != "ne") ||
        (parts[2] != "s32" && parts[2] != "b32" && parts[2] != "u32"))
      return false;
    asmEmit(Op::IntCompare, to, a, b).kind =
        static_cast<uint8_t>(parts[1] == "eq" ? Compare::Eq : Compare::Ne);
    return true;
  }
  if (opcode == "exit" || opcode == "trap") {
    asmEmit(opcode == "exit" ? Op::Exit : Op::Trap);
    return true;
  }
  if (name == "bra" && ops.size() == 1 && ops[0].kind == Kind::Name) {
    if (asmGuard == noSlot) {
      asmJumps.push_back({here(), ops[0].name});
      emit(Op::Jump);
      return true;
    }
    // A branch is taken where the condition does not hold.
    Slot condition = asmGuard;
    if (!asmNegated) {
      condition = allocate();
      retain(condition);
      emit(Op::IntCompare, condition, asmGuard, constant(0)).kind =
          static_cast<uint8_t>(Compare::Eq);
    }
    asmJumps.push_back({here(), ops[0].name});
    emit(Op::BranchIfNot, noSlot, condition);
    if (!asmNegated)
      drop(condition);
    return true;
  }
  if (opcode == "griddepcontrol.wait" ||
      opcode == "griddepcontrol.launch_dependents") {
    asmEmit(opcode.ends_with("wait") ? Op::AwaitLaunch : Op::AdmitLaunch);
    return ops.empty();
  }
  if (name == "prefetch")
    return asmEmit(Op::Prefetch), true;
  if ((opcode == "red.global.add.f32" || opcode == "red.global.add.u32") &&
      ops.size() == 2) {
    Slot at = slot(0), by = slot(1);
    Instr &in = asmEmit(Op::AddGlobal, noSlot, at, by);
    in.wide = asmIsWide(ops[0].parts[0]);
    in.kind = opcode.ends_with("f32");
    return at != noSlot && by != noSlot;
  }
  if (name == "atom")
    return asmAtomic(statement);
  if (opcode == "cp.async.cg.shared.global" && ops.size() == 4 &&
      ops[2].kind == Kind::Number && ops[2].number == 16) {
    Slot to = slot(0), from = slot(1), size = slot(3);
    Instr &in = asmEmit(Op::CopyAsync, noSlot, to, from, size);
    in.imm = ops[2].number;
    in.wide = asmIsWide(ops[0].parts[0]);
    touchesShared(16);
    return to != noSlot && from != noSlot && size != noSlot;
  }
  if (name == "stmatrix" && ops.size() == 2) {
    Slots data = asmSlots(ops[1]);
    Instr &in = asmEmit(Op::StoreMatrix, noSlot, slot(0));
    in.kind = llvm::is_contained(parts, "trans");
    in.wide = asmIsWide(ops[0].parts[0]);
    list(in, data);
    touchesShared(16);
    return data.size() == 4 && llvm::is_contained(parts, "x4");
  }
  if (name == "mbarrier" || name == "fence")
    return asmBarrier(statement, parts);
  if (name == "cp")
    return asmBulk(statement, parts);
  return name == "wgmma" && asmWgmma(statement, parts);
}

llvm::Error Translator::assembly(LLVM::InlineAsmOp op) {
  asmOperands.clear();
  asmWide.clear();
  asmNames.clear();
  asmWideNames.clear();
  asmLabels.clear();
  asmJumps.clear();
  // Results come first, then the operands; those of a result's number start in
  // its register.
  SmallVector<StringRef> constraints;
  StringRef(op.getConstraints()).split(constraints, ',');
  Slots results;
  if (op.getNumResults()) {
    Type type = op.getResult(0).getType();
    bind(op.getResult(0), make(type));
    results = of(op.getResult(0));
  }
  size_t next = 0, input = 0;
  for (StringRef constraint : constraints) {
    if (constraint.empty() || constraint.starts_with("~"))
      continue;
    if (constraint.starts_with("=")) {
      if (next >= results.size())
        return unknown(op);
      undefine(results[next]);
      asmOperands.push_back(results[next++]);
      asmWide.push_back(op.getNumResults() &&
                        isWide(op.getResult(0).getType()));
      continue;
    }
    if (input >= op.getOperands().size())
      return unknown(op);
    Value value = op.getOperands()[static_cast<unsigned>(input++)];
    Slot from = one(value);
    unsigned tied = 0;
    if (!constraint.getAsInteger(10, tied)) {
      if (tied >= results.size())
        return unknown(op);
      emit(Op::Move, results[tied], from);
    }
    asmOperands.push_back(from);
    asmWide.push_back(isWide(value.getType()));
  }
  llvm::Expected<std::vector<PtxStatement>> statements =
      parsePtx(op.getAsmString());
  if (!statements)
    return statements.takeError();
  for (const PtxStatement &statement : *statements) {
    if (!statement.label.empty()) {
      asmLabels[statement.label] = here();
      emit(Op::Join);
      continue;
    }
    if (!statement.registerType.empty()) {
      bool wide = StringRef(statement.registerType).ends_with("64");
      for (const PtxOperand &name : statement.operands) {
        Slot slot = allocate(wide);
        retain(slot);
        asmNames[name.name] = slot;
        asmWideNames[name.name] = wide;
      }
      continue;
    }
    asmGuard = statement.guard ? asmSlot(*statement.guard) : noSlot;
    asmNegated = statement.isNegated;
    if ((statement.guard && asmGuard == noSlot) || !asmStatement(statement))
      return llvm::createStringError(
          "device 'sim' does not know '" + statement.opcode +
          "' as it is used in: " + op.getAsmString().str());
  }
  for (auto &[at, label] : asmJumps) {
    auto it = asmLabels.find(label);
    if (it == asmLabels.end())
      return unknown(op);
    program.code[at].target = it->second;
  }
  for (auto &[name, slot] : asmNames)
    drop(slot);
  return llvm::Error::success();
}

} // namespace selvedge::sim
