// Scalar integers of a kernel on one control path: known, bounded or unknown.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

#include <optional>
#include <vector>

namespace selvedge::verify {

/// Expressions over constants, kernel arguments and what is not known, each
/// stored once: two agents, or two loops, that compute the same expression get
/// the same number, and what a path assumes of one holds for the other.
class Integers {
public:
  using Number = unsigned;

  Number constant(mlir::Type type, int64_t value);
  /// Result number `result` of `op` on known numbers.
  Number expression(mlir::Operation *op, unsigned result,
                    llvm::ArrayRef<Number> operands);
  /// A number of which nothing is known; the same for the same key.
  Number unknown(mlir::Type type, const void *key,
                 llvm::ArrayRef<uint64_t> details);

  mlir::ConstantIntRanges range(Number number);
  /// The value, where there is one only; an i1 is 0 or -1.
  std::optional<int64_t> known(Number number);

  /// Narrows a number on this path.
  void assume(Number number, int64_t low, int64_t high);
  /// Decides an i1 on this path; narrows what it compares.
  void assumeCondition(Number number, bool isTrue);
  /// Forgets all that was assumed.
  void startPath();
  /// What was assumed cannot all be true: no launch takes this path.
  bool isContradictory() const { return contradictory; }
  void contradict() { contradictory = true; }

private:
  /// What tells one number from another: of an expression the operation's name
  /// and attributes, the result and the operands.
  struct Key {
    const void *kind, *attributes, *type;
    unsigned result;
    llvm::ArrayRef<uint32_t> details;
  };
  struct Node {
    const void *kind = nullptr, *attributes = nullptr, *type = nullptr;
    mlir::Operation *op = nullptr; // none: a constant or unknown
    unsigned result = 0;
    llvm::SmallVector<uint32_t, 2> details; // of an operation: its operands
    std::optional<Number> next; // another number whose key has the same hash
    std::optional<Number> same; // the constant that it is
    unsigned width = 0;
    std::optional<mlir::ConstantIntRanges> cached, assumed;
    unsigned cachedIn = 0, assumedIn = 0; // which state of the assumptions
    unsigned usedIn = 0; // the state in which other ranges were found from it
    bool isConstant = false;
    int64_t value = 0; // of a constant
  };

  static uint64_t hashOf(const Key &key);
  /// The number of that key, if there is one.
  std::optional<Number> find(const Key &key, uint64_t hash) const;
  Number add(const Key &key, uint64_t hash, Node node);
  void narrow(Number number, const mlir::ConstantIntRanges &range);
  mlir::ConstantIntRanges infer(const Node &node);

  std::vector<Node> nodes;
  /// The last number of each hash.
  llvm::DenseMap<uint64_t, Number> numbers;
  llvm::DenseMap<mlir::Operation *, mlir::DictionaryAttr> attributes;
  unsigned state = 1, path = 1;
  bool contradictory = false;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H
