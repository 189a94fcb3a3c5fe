// Systems of polynomial inequalities over integers.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INEQUALITIES_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INEQUALITIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/SmallVector.h"

namespace selvedge::verify {

/// A product of symbols, sorted; empty for 1.
using Monomial = llvm::SmallVector<unsigned, 2>;

/// Sum of monomials with integer coefficients.
class Polynomial {
public:
  /// Coefficients, none of which is 0, by monomial, sorted.
  using Terms = llvm::SmallVector<std::pair<Monomial, llvm::DynamicAPInt>, 1>;

  Polynomial(int64_t constant = 0);
  static Polynomial symbol(unsigned id);

  Polynomial &operator+=(const Polynomial &other);
  friend Polynomial operator+(Polynomial a, const Polynomial &b) {
    return a += b;
  }
  friend Polynomial operator-(Polynomial a, const Polynomial &b) {
    return a += b * Polynomial(-1);
  }
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  bool operator==(const Polynomial &other) const = default;

  /// Every coefficient, and the constant, divided and rounded down.
  Polynomial floorDividedBy(const llvm::DynamicAPInt &factor) const;
  /// The terms, the constant among them, that are multiples of `factor`, by it.
  Polynomial multiplesOf(const llvm::DynamicAPInt &factor) const;

  const Terms &getTerms() const { return terms; }
  /// None where it has symbols.
  std::optional<int64_t> asConstant() const;
  /// Null where the monomial has none.
  const llvm::DynamicAPInt *
  coefficientOf(llvm::ArrayRef<unsigned> monomial) const;

private:
  Terms terms;
};

/// Whether all of `facts` >= 0 imply `goal` >= 0; fastest if those that matter
/// come first. Linear reasoning over
/// monomials, by MLIR's simplex; products are known through multiples of the
/// facts: `G - 1 - g >= 0` and `R >= 0` give `G*R - R - g*R >= 0`.
bool implies(llvm::ArrayRef<const Polynomial *> facts, const Polynomial &goal);

/// The same of symbols that are whole numbers: one that has room for few is
/// each of these in turn. `64*q >= n`, `64*q <= n + 63` and `1 <= n <= 2` give
/// `64*q >= 64`. Takes much longer.
bool impliesForIntegers(llvm::ArrayRef<const Polynomial *> facts,
                        const Polynomial &goal);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INEQUALITIES_H
