// Scalar integers of a kernel on one control path: known, bounded or unknown.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include <tuple>
#include <unordered_map>

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
  struct Node {
    mlir::Operation *op = nullptr; // none: a constant or unknown
    unsigned result = 0;
    llvm::SmallVector<Number, 2> operands;
    unsigned width = 0;
    std::optional<mlir::ConstantIntRanges> cached, assumed;
    unsigned cachedIn = 0, assumedIn = 0; // which state of the assumptions
    unsigned usedIn = 0; // the state in which other ranges were found from it
    bool isConstant = false;
    int64_t value = 0; // of a constant
  };
  using Key = std::tuple<const void *, const void *, const void *, unsigned,
                         llvm::SmallVector<uint64_t, 4>>;

  struct KeyHash {
    size_t operator()(const Key &key) const {
      const auto &[kind, attributes, type, result, details] = key;
      return llvm::hash_combine(kind, attributes, type, result,
                                llvm::hash_combine_range(details));
    }
  };

  Number add(Key key, Node node);
  void narrow(Number number, const mlir::ConstantIntRanges &range);
  mlir::ConstantIntRanges infer(const Node &node);

  std::vector<Node> nodes;
  std::unordered_map<Key, Number, KeyHash> numbers;
  llvm::DenseMap<mlir::Operation *, mlir::DictionaryAttr> attributes;
  unsigned state = 1, path = 1;
  bool contradictory = false;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_INTEGERS_H
