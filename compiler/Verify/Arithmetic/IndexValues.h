// Integer values of a kernel as polynomials with known bounds.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXVALUES_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXVALUES_H

#include "compiler/Verify/Arithmetic/CaseSystem.h"
#include "compiler/Verify/Arithmetic/Facts.h"
#include "dialect/Tile/Limits.h"

namespace selvedge::verify {

using tile::maxBlock;
using tile::maxExtent;

/// What is known of the i32 values of a kernel, lane by lane: tiles with an
/// axis in common speak of the same lane. Values that may wrap, and values
/// read from memory, may be any i32.
class IndexValues {
public:
  /// A symbol of which nothing is known.
  Polynomial newSymbol() { return system.newSymbol(); }
  /// A symbol in lo..hi.
  Polynomial newSymbol(const Polynomial &lo, const Polynomial &hi);

  /// `value` is `p`, given by the caller.
  void define(mlir::Value value, const Polynomial &p) { known[value] = p; }
  /// Sizes of an axis: its lanes are 0..size-1.
  void defineAxis(mlir::StringAttr axis, const Polynomial &size);
  /// `p` >= 0 everywhere.
  void assume(const Polynomial &p) { system.assume(p); }
  /// `value` is at least 0 and below the product of `factors`, each positive.
  void defineBelowProduct(mlir::Value value,
                          llvm::ArrayRef<Polynomial> factors);

  /// The loops around `op` are in a step of theirs.
  void enterLoops(mlir::Operation *op);

  /// Value of a scalar, or of a tile at a lane.
  Polynomial of(mlir::Value value);
  /// Value of an expression of the signature, its symbols given.
  Polynomial of(mlir::AffineExpr expr, llvm::ArrayRef<Polynomial> dims);
  /// Whether `p` >= 0 in every case of the minima, maxima and selects that it
  /// may depend on.
  bool isNonNegativeByCases(const Polynomial &p,
                            llvm::ArrayRef<Polynomial> constraints = {}) const {
    return system.impliesByCases(p, constraints);
  }
  /// The same of whole numbers, where that fails; takes longer.
  bool isNonNegativeForIntegers(const Polynomial &p,
                                llvm::ArrayRef<Polynomial> constraints) const {
    return system.impliesForIntegers(p, constraints);
  }
  /// By whichever of these proves it, the quickest first; adds to `constraints`
  /// what refine() finds on the way.
  bool isNonNegativeByAny(const Polynomial &p,
                          llvm::SmallVectorImpl<Polynomial> &constraints) const;
  /// Whether `p` is a multiple of `size`, a power of two, wherever
  /// `constraints` hold. That values wrap does not matter to it.
  bool isMultipleByCases(const Polynomial &p, int64_t size,
                         llvm::ArrayRef<Polynomial> constraints) const;
  /// What a true condition says.
  void collect(mlir::Value condition,
               llvm::SmallVectorImpl<Polynomial> &constraints);
  /// What holds where a number is above 0, and no linear reasoning finds: of
  /// numbers that are cut off at 0, or times a constant, in it.
  ///
  ///     min(%n, max(%m - %i / %r, 0) * 64)              // %m - %i / %r - 1
  void collectPositive(mlir::Value number,
                       llvm::SmallVectorImpl<Polynomial> &constraints,
                       bool isCut = false);
  /// Adds what sums are where `constraints` keep them from wrapping, of those
  /// that they and the goals are made of; returns how much that is.
  size_t refine(llvm::SmallVectorImpl<Polynomial> &constraints,
                llvm::ArrayRef<Polynomial> goals = {}) const;
  /// The latest minimum, maximum or select that `p` is computed from; none if
  /// there is none.
  std::optional<Choice> choiceIn(const Polynomial &p) const {
    return system.choiceIn(p);
  }
  /// Whether `p` >= 0 wherever `constraints` hold.
  bool isNonNegative(const Polynomial &p,
                     llvm::ArrayRef<Polynomial> constraints = {}) const {
    return system.implies(p, constraints);
  }

private:
  enum class Rounding { Down, Up };

  Polynomial compute(mlir::Value value);
  Polynomial computeArith(mlir::Operation *op);
  /// The value modulo 2^32.
  Polynomial modular(mlir::Value value);
  Polynomial inductionVariable(mlir::scf::ForOp loop);
  Polynomial selected(mlir::arith::SelectOp select);
  /// What the index of a loop of `count * divisor` steps is divided into: below
  /// `count`. None for others.
  std::optional<Polynomial> digitOf(mlir::Value number,
                                    const Polynomial &divisor);
  /// Any i32.
  Polynomial anything();
  /// One of two values.
  Polynomial oneOf(const Polynomial &a, const Polynomial &b,
                   Choice::Kind kind = Choice::Kind::Either);
  /// `p` as a signed integer of `width` bits; any of them if it may wrap.
  Polynomial unlessWrapped(const Polynomial &p, unsigned width = 32);
  /// Of what adds or multiplies: equal modulo 2^width are `forms`, the first
  /// one of what its operands are modulo that.
  Polynomial sumOrProduct(mlir::Value value, llvm::ArrayRef<Polynomial> forms,
                          unsigned width);
  bool isInRange(const Polynomial &p, unsigned width,
                 llvm::ArrayRef<Polynomial> constraints = {}) const;
  Polynomial quotient(const Polynomial &a, const Polynomial &b, Rounding mode);
  /// A symbol for one of which no part is a multiple of the divisor.
  Polynomial newQuotient(const Polynomial &a, const Polynomial &b,
                         Rounding mode);
  /// What is a multiple of a constant divisor in a sum, by that: it is divided
  /// without rounding.
  static Polynomial multiplesIn(const Polynomial &p, const Polynomial &by);
  /// Of what is less than a product, as pairs are, the quotient by one factor
  /// is less than the other: no matter of linear reasoning.
  void limitBelowProduct(const Polynomial &a, const Polynomial &b,
                         const Polynomial &q);
  /// Quotients of numbers that are so far apart, the divisor being `b`: no
  /// further than a quotient of that and one.
  void limitDistance(const Polynomial &distance, const Polynomial &ofQuotients,
                     const Polynomial &b);
  Polynomial remainder(const Polynomial &a, const Polynomial &b);

  CaseSystem system;
  llvm::DenseMap<mlir::Value, Polynomial> known;
  /// Sums and products that may wrap, as they would be without: equal modulo
  /// 2^32, and a later sum may be in range again.
  llvm::DenseMap<mlir::Value, Polynomial> unwrapped;
  /// A lane has a symbol once something speaks of it: what is known of others
  /// takes part in no proof.
  llvm::DenseMap<mlir::StringAttr, Polynomial> sizes, lanes;
  /// Both sides of a choice, and which of them it is.
  struct Selection {
    Polynomial a, b, p;
  };
  /// The first choice by each condition.
  llvm::DenseMap<mlir::Value, Selection> selections;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Polynomial>> products;
  /// The result of an operation, and its value if it does not wrap.
  struct Wrapped {
    Polynomial result, exact;
    unsigned width;
  };
  llvm::SmallVector<Wrapped> wrapped;
  /// Whether an operation did not wrap, wherever `constraints` hold.
  bool isEqual(const Wrapped &w, llvm::ArrayRef<Polynomial> constraints) const;
  struct Quotient {
    Polynomial a, b, q;
    Rounding mode;
  };
  llvm::SmallVector<Quotient> quotients;
  /// Says that a quotient is one of two where what is divided is.
  void chooseQuotient(Quotient known);
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INDEXVALUES_H
