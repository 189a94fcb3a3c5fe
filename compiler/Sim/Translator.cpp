// From form `lanes` to instructions: registers and control.
// SPDX-License-Identifier: MIT
#include "compiler/Sim/Translator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::sim {

using namespace mlir;

//===-- Registers ---------------------------------------------------------===//

bool Translator::isWide(Type type) {
  return type.isInteger(64) || isa<LLVM::LLVMPointerType>(type);
}

int Translator::countOf(Type type) {
  if (isWide(type))
    return 1;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 32 ? 1 : -1;
  if (type.isF32() || type.isF16() || type.isBF16())
    return 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    int64_t bits = vector.getNumElements() *
                   vector.getElementType().getIntOrFloatBitWidth();
    return vector.getElementType().getIntOrFloatBitWidth() > 32
               ? -1
               : static_cast<int>((bits + 31) / 32);
  }
  if (auto record = dyn_cast<LLVM::LLVMStructType>(type)) {
    int count = 0;
    for (Type part : record.getBody()) {
      if (isWide(part) || countOf(part) < 0)
        return -1;
      count += countOf(part);
    }
    return count;
  }
  return -1;
}

Slot Translator::allocate(bool wide) {
  std::vector<Slot> &pool = wide ? freeWideSlots : freeSlots;
  Slot slot = program.numSlots;
  if (!pool.empty()) {
    slot = pool.back();
    pool.pop_back();
  } else {
    program.numSlots += wide ? 2 : 1;
    wideSlots[slot] = wide;
  }
  uses[slot] = 0;
  return slot;
}

void Translator::retain(Slot slot) { ++uses[slot]; }

void Translator::drop(Slot slot) {
  if (--uses[slot] == 0)
    (wideSlots[slot] ? freeWideSlots : freeSlots).push_back(slot);
}

Translator::Slots Translator::make(Type type) {
  Slots slots;
  for (int i = 0; i < countOf(type); ++i)
    slots.push_back(allocate(isWide(type)));
  return slots;
}

void Translator::bind(Value value, ArrayRef<Slot> slots) {
  for (Slot slot : slots)
    retain(slot);
  values[value] = Slots(slots);
}

Slot Translator::define(Value value) {
  Slot slot = allocate(isWide(value.getType()));
  bind(value, slot);
  return slot;
}

Slot Translator::constant(uint64_t bits, bool wide) {
  auto [it, isNew] = constants.try_emplace({bits, wide}, noSlot);
  if (isNew) {
    // Never the register of anything else.
    it->second = program.numSlots;
    program.numSlots += wide ? 2 : 1;
    wideSlots[it->second] = wide;
    retain(it->second);
    program.presets.push_back({it->second, wide, bits, false});
  }
  return it->second;
}

/// A value is no longer used behind the operation of its block that holds its
/// last use.
void Translator::findLastUses(Operation *function) {
  auto note = [&](Value value) {
    Operation *last = value.getDefiningOp();
    Block *block = value.getParentBlock();
    if (!last)
      last = &block->front();
    for (Operation *user : value.getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (last->isBeforeInBlock(here))
        last = here;
    }
    dying[last].push_back(value);
  };
  function->walk([&](Operation *op) {
    for (Value result : op->getResults())
      note(result);
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        for (BlockArgument argument : inner.getArguments())
          note(argument);
  });
}

void Translator::release(Operation *op) {
  auto it = dying.find(op);
  if (it == dying.end())
    return;
  for (Value value : it->second)
    for (Slot slot : values.lookup(value))
      drop(slot);
}

//===-- Instructions ------------------------------------------------------===//

Instr &Translator::emit(Op op, Slot dst, Slot a, Slot b, Slot c) {
  Instr &in = program.code.emplace_back();
  in.op = op;
  in.dst = dst;
  in.a = a;
  in.b = b;
  in.c = c;
  in.origin = origin;
  return in;
}

void Translator::list(Instr &in, ArrayRef<Slot> slots) {
  in.first = static_cast<uint32_t>(program.lists.size());
  in.count = static_cast<uint32_t>(slots.size());
  program.lists.insert(program.lists.end(), slots.begin(), slots.end());
}

void Translator::move(Type type, ArrayRef<Slot> from, ArrayRef<Slot> to) {
  for (auto [a, b] : llvm::zip_equal(from, to))
    if (a != b)
      emit(isWide(type) ? Op::MoveWide : Op::Move, b, a);
}

/// All at once: what is overwritten and still read goes through a copy.
void Translator::moveAll(TypeRange types, ArrayRef<Slots> from,
                         ArrayRef<Slots> to) {
  llvm::SmallDenseSet<Slot> targets;
  for (const Slots &slots : to)
    targets.insert(slots.begin(), slots.end());
  SmallVector<Slots> sources(from), copies;
  for (auto [i, type] : llvm::enumerate(types)) {
    bool isTarget = llvm::any_of(
        sources[i], [&](Slot slot) { return targets.contains(slot); });
    if (!isTarget || sources[i] == to[i])
      continue;
    copies.push_back(make(type));
    move(type, sources[i], copies.back());
    sources[i] = copies.back();
  }
  for (auto [type, a, b] : llvm::zip_equal(types, sources, to))
    move(type, a, b);
  for (const Slots &copy : copies)
    for (Slot slot : copy) {
      retain(slot);
      drop(slot);
    }
}

llvm::Error Translator::unknown(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  op->print(out, OpPrintingFlags().skipRegions());
  return llvm::createStringError("device 'sim' does not know: " + text);
}

//===-- Control -----------------------------------------------------------===//

SmallVector<Translator::Slots> Translator::slotsOf(ValueRange range) {
  return llvm::map_to_vector(range, [&](Value v) { return of(v); });
}

llvm::Error Translator::block(Block &block) {
  for (Operation &op : block) {
    if (llvm::Error failure = operation(&op))
      return failure;
    release(&op);
  }
  return llvm::Error::success();
}

/// Where an operation is, and what, for messages.
static std::string originOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  // Printing an operation would number all of the function each time.
  out << op->getName();
  if (auto code = dyn_cast<LLVM::InlineAsmOp>(op))
    out << " \"" << StringRef(code.getAsmString()).take_front(160) << '"';
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    out << " \"" << call.getIntrin() << '"';
  if (auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>())
    out << " at " << loc.getFilename().getValue() << ":" << loc.getLine() << ":"
        << loc.getColumn();
  return text;
}

llvm::Error Translator::operation(Operation *op) {
  origin = static_cast<uint32_t>(program.origins.size());
  program.origins.push_back(originOf(op));
  auto loc = op->getLoc()->findInstanceOf<FileLineColLoc>();
  program.lines.push_back(loc ? loc.getLine() : 0);
  for (Value result : op->getResults())
    if (countOf(result.getType()) < 0)
      return unknown(op);
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return loop(inner);
  if (auto inner = dyn_cast<scf::WhileOp>(op))
    return whileLoop(inner);
  if (auto inner = dyn_cast<scf::IfOp>(op))
    return branch(inner);
  // Who holds the block moves what it yields.
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return llvm::Error::success();
  if (isa<LLVM::ReturnOp>(op)) {
    emit(Op::Exit);
    return llvm::Error::success();
  }
  if (arithmetic(op))
    return llvm::Error::success();
  return llvmOp(op);
}

llvm::Error Translator::loop(scf::ForOp op) {
  Type type = op.getInductionVar().getType();
  bool wide = isWide(type);
  Slot index = allocate(wide), isInside = allocate();
  for (Slot slot : {index, isInside})
    retain(slot);
  SmallVector<Slots> carried;
  for (Type t : op.getResultTypes())
    for (Slot slot : carried.emplace_back(make(t)))
      retain(slot);
  uint32_t self = origin;
  move(type, of(op.getLowerBound()), index);
  moveAll(op.getResultTypes(), slotsOf(op.getInitArgs()), carried);
  uint32_t head = here();
  emit(Op::Join);
  Instr &test = emit(Op::IntCompare, isInside, index, one(op.getUpperBound()));
  test.kind =
      static_cast<uint8_t>(op.getUnsignedCmp() ? Compare::LtU : Compare::LtS);
  test.width = wide ? 64 : 32;
  uint32_t leave = here();
  emit(Op::BranchIfNot, noSlot, isInside);
  bind(op.getInductionVar(), index);
  for (auto [argument, slots] :
       llvm::zip_equal(op.getRegionIterArgs(), carried))
    bind(argument, slots);
  Block &body = *op.getBody();
  Operation *yield = body.getTerminator();
  if (llvm::Error failure = operationsOf(body))
    return failure;
  origin = self;
  moveAll(op.getResultTypes(), slotsOf(yield->getOperands()), carried);
  release(yield);
  Instr &step = emit(Op::IntBinary, index, index, one(op.getStep()));
  step.kind = static_cast<uint8_t>(Int::Add);
  step.width = wide ? 64 : 32;
  emit(Op::Jump).target = head;
  program.code[leave].target = here();
  emit(Op::Join);
  for (auto [result, slots] : llvm::zip_equal(op.getResults(), carried)) {
    bind(result, slots);
    for (Slot slot : slots)
      drop(slot);
  }
  drop(index);
  drop(isInside);
  return llvm::Error::success();
}

llvm::Error Translator::operationsOf(Block &block) {
  for (Operation &inner : block.without_terminator()) {
    if (llvm::Error failure = operation(&inner))
      return failure;
    release(&inner);
  }
  return llvm::Error::success();
}

llvm::Error Translator::whileLoop(scf::WhileOp op) {
  SmallVector<Slots> before, after;
  for (Type t : op.getInits().getTypes())
    for (Slot slot : before.emplace_back(make(t)))
      retain(slot);
  for (Type t : op.getResultTypes())
    for (Slot slot : after.emplace_back(make(t)))
      retain(slot);
  uint32_t self = origin;
  moveAll(op.getInits().getTypes(), slotsOf(op.getInits()), before);
  uint32_t head = here();
  emit(Op::Join);
  for (auto [argument, slots] :
       llvm::zip_equal(op.getBeforeArguments(), before))
    bind(argument, slots);
  Block &first = *op.getBeforeBody();
  scf::ConditionOp condition = op.getConditionOp();
  if (llvm::Error failure = operationsOf(first))
    return failure;
  origin = self;
  // The results and what the body sees are the same.
  moveAll(op.getResultTypes(), slotsOf(condition.getArgs()), after);
  uint32_t leave = here();
  emit(Op::BranchIfNot, noSlot, one(condition.getCondition()));
  release(condition);
  for (auto [argument, slots] : llvm::zip_equal(op.getAfterArguments(), after))
    bind(argument, slots);
  Block &body = *op.getAfterBody();
  Operation *yield = body.getTerminator();
  if (llvm::Error failure = operationsOf(body))
    return failure;
  origin = self;
  moveAll(op.getInits().getTypes(), slotsOf(yield->getOperands()), before);
  release(yield);
  emit(Op::Jump).target = head;
  program.code[leave].target = here();
  emit(Op::Join);
  for (auto [result, slots] : llvm::zip_equal(op.getResults(), after)) {
    bind(result, slots);
    for (Slot slot : slots)
      drop(slot);
  }
  for (const Slots &slots : before)
    for (Slot slot : slots)
      drop(slot);
  return llvm::Error::success();
}

llvm::Error Translator::branch(scf::IfOp op) {
  SmallVector<Slots> results;
  for (Type t : op.getResultTypes())
    for (Slot slot : results.emplace_back(make(t)))
      retain(slot);
  uint32_t self = origin;
  uint32_t leave = here();
  emit(Op::BranchIfNot, noSlot, one(op.getCondition()));
  auto arm = [&](Region &region) -> llvm::Error {
    if (llvm::Error failure = block(region.front()))
      return failure;
    return llvm::Error::success();
  };
  auto yields = [&](Region &region) {
    origin = self;
    moveAll(op.getResultTypes(),
            slotsOf(region.front().getTerminator()->getOperands()), results);
  };
  // Yielded values die with the terminator; they are moved before others take
  // their registers.
  if (llvm::Error failure = arm(op.getThenRegion()))
    return failure;
  if (op.getNumResults())
    yields(op.getThenRegion());
  if (!op.getElseRegion().empty()) {
    uint32_t skip = here();
    emit(Op::Jump);
    program.code[leave].target = here();
    if (llvm::Error failure = arm(op.getElseRegion()))
      return failure;
    if (op.getNumResults())
      yields(op.getElseRegion());
    program.code[skip].target = here();
  } else {
    program.code[leave].target = here();
  }
  emit(Op::Join);
  for (auto [result, slots] : llvm::zip_equal(op.getResults(), results)) {
    bind(result, slots);
    for (Slot slot : slots)
      drop(slot);
  }
  return llvm::Error::success();
}

llvm::Error Translator::run(LLVM::LLVMFuncOp function) {
  program.name = function.getName().str();
  if (!llvm::hasSingleElement(function.getBody()))
    return llvm::createStringError("kernel '" + program.name +
                                   "' has more than one block");
  if (auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid"))
    program.maxThreads = static_cast<uint32_t>(threads[0]);
  program.origins.push_back("kernel '" + program.name + "'");
  program.lines.push_back(0);
  findLastUses(function);
  for (BlockArgument argument : function.getArguments()) {
    if (countOf(argument.getType()) != 1)
      return llvm::createStringError("kernel '" + program.name +
                                     "' has an argument of another type");
    bool wide = isWide(argument.getType());
    Slot slot = program.numSlots;
    program.numSlots += wide ? 2 : 1;
    wideSlots[slot] = wide;
    retain(slot);
    bind(argument, slot);
    program.presets.push_back({slot, wide, argument.getArgNumber(), true});
    program.isMap.push_back(
        function.getArgAttr(argument.getArgNumber(), "llvm.byval") != nullptr);
  }
  llvm::Error failure = block(function.getBody().front());
  program.isReached.resize(program.code.size());
  return failure;
}

} // namespace selvedge::sim
