// What is known of a value's absent lanes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_FACTS_H
#define SELVEDGE_COMPILER_VERIFY_FACTS_H

#include "dialect/Tile/Tile.h"
#include "llvm/ADT/SmallVector.h"

namespace selvedge::verify {

/// Contents of the lanes where a predicate is false.
enum class State { Garbage, Finite, Zero, NegInf, PosInf };

/// "Where `predicate` is false, the value's lane does not exist in the program
/// and holds `state`."
struct Fact {
  mlir::Value predicate;
  State state;
};

using Facts = llvm::SmallVector<Fact, 4>;

/// Whether two values are the same expression of pure operations, apart from
/// broadcasts and splats.
bool isSame(mlir::Value a, mlir::Value b);

/// Whether `condition` true implies `predicate` true: it is the predicate or a
/// conjunction with it.
bool impliesTrue(mlir::Value condition, mlir::Value predicate);

/// State of the fact about `predicate`; none where the value has none.
std::optional<State> stateAt(const Facts &facts, mlir::Value predicate);

/// Adds a fact; two facts about one predicate keep their common state, or
/// Garbage. Returns whether anything changed.
bool addFact(Facts &facts, Fact fact);

/// State of a value that is one constant in all lanes; Garbage for others.
State stateOfConstant(mlir::Value value);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_FACTS_H
