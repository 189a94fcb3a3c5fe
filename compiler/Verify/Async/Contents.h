// What a slot in shared memory holds, in terms of an execution's numbers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ASYNC_CONTENTS_H
#define SELVEDGE_COMPILER_VERIFY_ASYNC_CONTENTS_H

#include "compiler/Verify/Async/Skeleton.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <tuple>

namespace selvedge::verify {

/// Expressions over lanes, each stored once: two roles that compute the same
/// one, whoever holds the lanes, get the same number for it.
class LaneExpressions {
public:
  using Key = unsigned;

  explicit LaneExpressions(Integers &integers) : integers(integers) {}

  /// A value as `agent` has it now; of an index tile, as a function of the
  /// lane. Where the conditions `given` hold: what is only loaded where they do
  /// is what is loaded anywhere.
  Key of(Agent &agent, mlir::Value value, mlir::ValueRange given = {});
  /// `start + lane of axis`.
  Key lane(mlir::StringAttr axis, Key start);
  /// `a / b`, rounding down, of numbers that are not negative.
  Key quotient(Key a, Key b);
  /// `index < bound`.
  Key lessThan(Key index, Key bound);
  Key isAtLeastZero(Key index);
  Key constant(int64_t value);
  /// Whether a predicate is true in every lane; false where not known.
  bool isTrue(Agent &agent, mlir::Value predicate);
  /// Whether one is false in every lane; false where not known.
  bool isFalse(Agent &agent, mlir::Value predicate);
  /// Whether `size` lanes from `start` on, divided by `divisor`, are known to
  /// be in 0..bound-1.
  bool isInside(Key start, int64_t size, Key bound, Key divisor) const;
  /// The number, where it is known.
  std::optional<int64_t> knownOf(Key key) const;
  /// "128", or "?" where the number is not known.
  std::string str(Key key) const;

private:
  using Node = std::array<uint64_t, 5>;

  Key add(Node node);
  Key element(Agent &agent, sm::LoadOp load, mlir::ValueRange given);
  std::optional<int64_t> known(Agent &agent, mlir::Value scalar);
  /// Lane along each axis.
  using Lanes = llvm::SmallDenseMap<mlir::StringAttr, int64_t, 2>;
  std::optional<int64_t> atLane(Agent &agent, mlir::Value value,
                                const Lanes &lanes);
  std::optional<bool> compareAt(Agent &agent, mlir::arith::CmpIOp compare,
                                const Lanes &lanes);
  bool isEverywhere(Agent &agent, mlir::arith::CmpIOp compare, bool expected);

  Integers &integers;
  llvm::DenseMap<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>,
                 Key>
      keys;
  std::vector<Node> nodes;
};

/// A tile and the elements of it that exist.
struct Contents {
  /// A predicate, false where elements do not exist.
  struct Condition {
    LaneExpressions::Key key;
    mlir::Value predicate; // none: a bound of the tensor
    bool isTrue = false;   // in all lanes
    bool isAny = false;    // elements are anything where it is false, not zero
  };
  /// Where it starts, per dimension of the tensor; empty where not known.
  llvm::SmallVector<LaneExpressions::Key, 4> indices = {};
  llvm::SmallVector<Condition, 2> presence = {};
  /// Conditions that are known to leave zeros.
  llvm::SmallVector<LaneExpressions::Key, 4> zeros = {};
  mlir::Operation *filledBy = nullptr;
  /// The tile that was brought, along axes: others may take turns in the ring.
  sm::BufferType tile = {};
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ASYNC_CONTENTS_H
