// Blocks of a kernel, prepared for being executed many times.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_INSTRUCTIONS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_INSTRUCTIONS_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace selvedge::verify {

/// Numbers for the values that are looked up often.
class ValueNumbers {
public:
  unsigned of(mlir::Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }
  std::optional<unsigned> find(mlir::Value value) const {
    auto at = numbers.find(value);
    return at == numbers.end() ? std::nullopt : std::optional(at->second);
  }

private:
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

/// An operation and what is the same whenever it is executed.
struct Instruction {
  enum class Kind : uint8_t {
    Plain,     ///< scalar integers, and what a rule says
    Loop,      ///< scf.for
    While,     ///< scf.while
    Branch,    ///< scf.if
    Yield,     ///< scf.yield
    Condition, ///< scf.condition
    Return,    ///< the end of the kernel
    BlockEnd   ///< no operation: the end of a block without terminator
  };

  mlir::Operation *op = nullptr;
  Kind kind = Kind::Plain;
  /// Whether some result is a scalar integer.
  bool hasIntegers = false;
  /// Whether the results follow from operands that are scalar integers or
  /// arguments of the kernel, and whether from nothing else that is known.
  bool isExpression = true, isSource = false;
  /// Whether it reads global memory.
  bool isLoad = false;
  /// How many operands come before the first that is neither.
  unsigned integerOperands = 0;
  /// Numbers of all operands that are one or the other, and of the results.
  llvm::SmallVector<unsigned, 3> operands;
  llvm::SmallVector<unsigned, 1> results;
  /// Whether an operand may be registers that an asynchronous operation writes.
  bool readsInFlight = false;
  /// Until a rule has said that it has nothing to say about the operation, or
  /// has nothing to say of shared memory.
  bool hasRule = true, isShared = true;
  /// Whether it may load from or store to tensors, and whether it takes or
  /// makes what lies somewhere in them.
  bool accessesTensors = false, hasPlaces = false;
  /// Whether threads of several warps exchange parts: of a tile that changes
  /// its layout this takes long to find out.
  bool exchanges = false;
  /// Of an operation with one result that follows from its operands: those of
  /// the execution before, and the number it had then.
  bool isKnown = false;
  llvm::SmallVector<unsigned, 2> lastOperands;
  unsigned lastNumber = 0;

  /// Whether nothing happens where it is executed.
  bool isIdle() const { return !hasIntegers && !hasRule; }
};

/// The instructions of a kernel, block by block.
class Instructions {
public:
  /// The first instruction of a block; a Return or BlockEnd comes last. The
  /// kernel may not change any more.
  Instruction *of(mlir::Block *block);
  /// Whether a block has been asked for: executed.
  bool has(mlir::Block *block) const { return blocks.contains(block); }
  /// Whether a value may be registers that an asynchronous operation writes.
  bool mayBeInFlight(mlir::Value value) const {
    return inFlight.contains(value);
  }
  ValueNumbers &getNumbers() { return numbers; }

private:
  Instruction describe(mlir::Operation &op);
  /// Finds the values that may be registers in flight: what products return,
  /// and what branches and loops hand on.
  void findInFlight(mlir::Operation *kernel);

  mlir::Operation *kernel = nullptr;
  ValueNumbers numbers;
  llvm::DenseSet<mlir::Value> inFlight;
  llvm::DenseMap<mlir::Block *, std::vector<Instruction>> blocks;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_INSTRUCTIONS_H
