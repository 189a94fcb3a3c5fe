// What is known of a value's absent lanes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_FACTS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_FACTS_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVector.h"

namespace selvedge::verify {

/// Contents of the lanes where a predicate is false.
enum class State {
  Garbage, ///< any bits
  /// Nothing is known but that it depends on no byte outside of valid data.
  Determined,
  Finite,
  Zero,
  NegInf,
  PosInf,
  ZeroOrNaN,
  NegInfOrNaN,
  /// On each path that leads here zero, or a lane that exists.
  ZeroOrData
};

/// What is known of lanes that are as `a` says or as `b` does.
State join(State a, State b);

/// What a lane is where a predicate is false.
enum class Origin {
  /// It does not exist in the program.
  Absent,
  /// It did not exist and was given a constant.
  Filled,
  /// It is data; only its contents are known.
  Known
};

/// The arm of a select: what its condition is where the arm is taken.
struct Arm {
  mlir::Value condition;
  bool holds;
};

/// "Where `predicate` is false, and only the arms `within` are taken, the
/// value's lane is what `origin` says and holds `state`."
struct Fact {
  mlir::Value predicate;
  State state;
  Origin origin = Origin::Absent;
  llvm::SmallVector<Arm, 1> within = {};
  /// Whether it holds `state` wherever the predicate is false, other arms
  /// included.
  bool inAllArms = false;

  bool isTotal() const { return within.empty() || inAllArms; }
};

using Facts = llvm::SmallVector<Fact, 4>;

/// The value behind broadcasts and splats.
mlir::Value strip(mlir::Value v);

/// Names of the axes of a tile, register tile or buffer; none for scalars.
llvm::SmallVector<mlir::StringAttr> axisNames(mlir::Type type);

/// Whether `predicate` mentions `axis`.
bool mentions(mlir::Value predicate, mlir::StringAttr axis);

/// Whether all axes of `predicate` are axes of `operand`.
bool within(mlir::Value predicate, mlir::Value operand);

/// Whether two values are the same expression of pure operations, apart from
/// broadcasts, splats and who holds which lane (#sm.layout).
bool isSame(mlir::Value a, mlir::Value b);
/// The same where `inA`, which `a` may be computed from, is what `inB` is to
/// `b`.
bool isSameWith(mlir::Value a, mlir::Value b, mlir::Value inA, mlir::Value inB);

/// The word that another role posts and that `value` is, received here or
/// carried from where it was; null where there are several, or another value.
/// Constants aside: one says that no tile is left, others stand for none.
mlir::Value postedWord(mlir::Value value);

/// The one element of a constant; null for other values.
mlir::Attribute constantOf(mlir::Value v);

/// What a compare gives for two numbers; none for other operations.
std::optional<bool> compared(mlir::Operation *compare, mlir::Attribute a,
                             mlir::Attribute b);

/// The number 0 of the element type of `v`.
mlir::Attribute zeroOf(mlir::Value v);

/// Whether an operation gives the same wherever and whenever it is executed
/// with the same operands.
bool isStable(mlir::Operation *op);

/// Whether an iteration of `loop` may give `value` another value than the one
/// before.
bool variesIn(mlir::Value value, mlir::Operation *loop);

/// Whether `condition` true implies `predicate` true: it is the predicate or a
/// conjunction with it.
bool impliesTrue(mlir::Value condition, mlir::Value predicate);

/// Whether `value` is the negation of `condition`.
bool isNegation(mlir::Value value, mlir::Value condition);

/// Whether `condition` is false wherever the fact speaks of a lane: it implies
/// the predicate, or that an arm is not taken.
bool excludes(mlir::Value condition, const Fact &fact);

/// Whether some of `presence` excludes the fact.
bool excludes(mlir::ValueRange presence, const Fact &fact);

/// Calls `visit` for every part of a conjunction.
void conjuncts(mlir::Value condition,
               llvm::function_ref<void(mlir::Value)> visit);

/// A fact about `predicate`; null where there is none.
const Fact *factAt(const Facts &facts, mlir::Value predicate);

/// Common state of the facts about `predicate`; none where the value has none.
/// Arms leave lanes that exist: what those hold is not known.
std::optional<State> stateAt(const Facts &facts, mlir::Value predicate);

/// Whether two facts speak of the same arms.
bool hasSameArms(const Fact &a, const Fact &b);

/// Adds a fact. Of one predicate there may be several, each of other arms; a
/// fact of some arms and one of fewer become one, with the fewer arms and the
/// common state. Returns whether anything changed.
bool addFact(Facts &facts, Fact fact);

/// The fact of what mixes the lanes of the axes `over`: arms that tell these
/// from each other are not known of it.
Fact withoutArmsAlong(Fact fact, llvm::ArrayRef<mlir::StringAttr> over);

/// Adds the lanes of `more` that do not exist, in `state` and what they held,
/// joined: of a value that mixes operands, and lanes of the axes `over`, in any
/// way. Arms that such a lane tells from another are not known of the result.
void addAbsent(Facts &facts, const Facts &more,
               llvm::ArrayRef<mlir::StringAttr> over = {},
               State state = State::Garbage);

/// The fact as the next iteration of `loop` sees it: without the arms of this
/// one. The predicate must not vary.
Fact carried(Fact fact, mlir::scf::ForOp loop);

/// What holds of a value that comes from one of two paths. A path without a
/// fact holds its constant's state, or any bits.
Facts joinFacts(const Facts &a, State constantA, const Facts &b,
                State constantB);

/// What a reduction makes of no lanes.
State identityOf(tile::Combine kind);

/// State of a value that is one constant in all lanes, or reduced from what is
/// the identity in all of them; Garbage for others.
State stateOfConstant(mlir::Value value);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_FACTS_H
