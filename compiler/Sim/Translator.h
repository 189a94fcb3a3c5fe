// From form `lanes` to instructions.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SIM_TRANSLATOR_H
#define SELVEDGE_COMPILER_SIM_TRANSLATOR_H

#include "compiler/Sim/Program.h"
#include "compiler/Sim/PtxText.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace selvedge::sim {

/// Translates one function. A value is in one register per 32 bits, narrower
/// ones alone; registers of values that are no longer used serve others.
class Translator {
public:
  explicit Translator(Program &program) : program(program) {}

  llvm::Error run(mlir::LLVM::LLVMFuncOp function);

private:
  using Slots = llvm::SmallVector<Slot, 4>;

  // Registers (Translator.cpp).
  static bool isWide(mlir::Type type);
  /// Registers of a type; negative for one that has none.
  static int countOf(mlir::Type type);
  Slot allocate(bool wide = false);
  void retain(Slot slot);
  void drop(Slot slot);
  /// New registers for a value of a type.
  Slots make(mlir::Type type);
  /// The value is in these registers.
  void bind(mlir::Value value, llvm::ArrayRef<Slot> slots);
  Slots of(mlir::Value value) { return values.lookup(value); }
  Slot one(mlir::Value value) { return values.lookup(value).front(); }
  /// The only register of a new value.
  Slot define(mlir::Value value);
  Slot constant(uint64_t bits, bool wide = false);
  void findLastUses(mlir::Operation *function);
  void release(mlir::Operation *op);

  // Instructions.
  Instr &emit(Op op, Slot dst = noSlot, Slot a = noSlot, Slot b = noSlot,
              Slot c = noSlot);
  /// Other lanes keep theirs: a wide register has other places for them.
  void undefine(Slot slot) {
    emit(Op::Undefine, slot).width = wideSlots[slot] ? 64 : 32;
  }
  void list(Instr &in, llvm::ArrayRef<Slot> slots);
  uint32_t here() const { return static_cast<uint32_t>(program.code.size()); }
  void move(mlir::Type type, llvm::ArrayRef<Slot> from,
            llvm::ArrayRef<Slot> to);
  void moveAll(mlir::TypeRange types, llvm::ArrayRef<Slots> from,
               llvm::ArrayRef<Slots> to);
  void touchesShared(uint32_t bytes) {
    program.granule = std::min(program.granule, bytes);
  }
  static llvm::Error unknown(mlir::Operation *op);

  // Control (Translator.cpp).
  llvm::Error block(mlir::Block &block);
  llvm::Error operation(mlir::Operation *op);
  llvm::Error loop(mlir::scf::ForOp op);
  /// All operations of a block but its terminator.
  llvm::Error operationsOf(mlir::Block &block);
  llvm::Error whileLoop(mlir::scf::WhileOp op);
  llvm::Error branch(mlir::scf::IfOp op);
  llvm::SmallVector<Slots> slotsOf(mlir::ValueRange range);

  // Arithmetic (TranslateArithmetic.cpp).
  bool arithmetic(mlir::Operation *op);
  bool intBinary(mlir::Operation *op);
  bool floatOp(mlir::Operation *op);
  bool conversion(mlir::Operation *op);
  bool comparison(mlir::Operation *op);

  // Vectors, pointers, memory (TranslateMemory.cpp).
  llvm::Error llvmOp(mlir::Operation *op);
  llvm::Error element(mlir::Operation *op);
  llvm::Error address(mlir::LLVM::GEPOp op);
  llvm::Error intrinsic(mlir::LLVM::CallIntrinsicOp op);

  // Inline assembly (TranslateAsm.cpp, TranslateBulk.cpp).
  llvm::Error assembly(mlir::LLVM::InlineAsmOp op);
  /// Operands of the statement at hand.
  Slot asmSlot(const PtxOperand &operand, bool wide = false);
  Slots asmSlots(const PtxOperand &operand, bool wide = false);
  bool asmIsWide(const PtxOperand &operand);
  bool asmStatement(const PtxStatement &statement);
  bool asmAccess(const PtxStatement &statement,
                 llvm::ArrayRef<llvm::StringRef> parts);
  bool asmAtomic(const PtxStatement &statement);
  bool asmBulk(const PtxStatement &statement,
               llvm::ArrayRef<llvm::StringRef> parts);
  bool asmBarrier(const PtxStatement &statement,
                  llvm::ArrayRef<llvm::StringRef> parts);
  bool asmWgmma(const PtxStatement &statement,
                llvm::ArrayRef<llvm::StringRef> parts);
  Instr &asmEmit(Op op, Slot dst = noSlot, Slot a = noSlot, Slot b = noSlot,
                 Slot c = noSlot);

  Program &program;
  llvm::DenseMap<mlir::Value, Slots> values;
  std::map<Slot, unsigned> uses;
  std::vector<Slot> freeSlots, freeWideSlots;
  std::map<Slot, bool> wideSlots;
  std::map<std::pair<uint64_t, bool>, Slot> constants;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> dying;
  uint32_t origin = 0;

  // Of the assembly at hand.
  llvm::SmallVector<Slot> asmOperands;
  llvm::SmallVector<bool> asmWide;
  std::map<std::string, Slot> asmNames;
  std::map<std::string, bool> asmWideNames;
  std::map<std::string, uint32_t> asmLabels;
  std::vector<std::pair<uint32_t, std::string>> asmJumps;
  Slot asmGuard = noSlot;
  bool asmNegated = false;
};

} // namespace selvedge::sim

#endif // SELVEDGE_COMPILER_SIM_TRANSLATOR_H
