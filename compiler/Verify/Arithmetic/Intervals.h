// Constant bounds of symbols.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INTERVALS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INTERVALS_H

#include "compiler/Verify/Arithmetic/Inequalities.h"

#include <optional>

namespace selvedge::verify {

/// Between which numbers symbols lie, as single facts say. Most sums do not
/// wrap by that alone, which spares a proof by linear reasoning.
class Intervals {
public:
  /// Takes what `fact` >= 0 says of each symbol, given what is known of the
  /// others: `100 - m >= 0` and `m - 1 - i >= 0` give `i <= 99`.
  void learn(const Polynomial &fact);
  /// Whether `p` >= 0 follows; that it does not says nothing.
  bool isNonNegative(const Polynomial &p) const {
    std::optional<llvm::DynamicAPInt> least = leastOf(p);
    return least && *least >= 0;
  }

private:
  using Bound = std::optional<llvm::DynamicAPInt>;
  struct Interval {
    Bound least, most;
  };

  Interval of(unsigned symbol) const {
    return symbol < known.size() ? known[symbol] : Interval();
  }
  Interval of(const Monomial &monomial) const;
  Bound leastOf(const Polynomial &p) const;
  /// The most of `p` without its term of `monomial`.
  Bound mostBut(const Polynomial &p, const Monomial &monomial) const;
  /// The bound of `p`: that of each term, the greater or the lesser one.
  Bound bound(const Polynomial &p, bool isMost, const Monomial *but) const;

  llvm::SmallVector<Interval, 0> known;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_INTERVALS_H
