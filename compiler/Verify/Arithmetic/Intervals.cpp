// Constant bounds of symbols.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Intervals.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace selvedge::verify {

using llvm::DynamicAPInt;

Intervals::Interval Intervals::of(const Monomial &monomial) const {
  if (monomial.size() == 1)
    return of(monomial.front());
  Interval product{DynamicAPInt(1), DynamicAPInt(1)};
  for (unsigned symbol : monomial) {
    Interval factor = of(symbol);
    // Products of what may be negative are of no use here.
    if (!factor.least || *factor.least < 0)
      return {};
    *product.least *= *factor.least;
    if (product.most && factor.most)
      *product.most *= *factor.most;
    else
      product.most = std::nullopt;
  }
  return product;
}

Intervals::Bound Intervals::bound(const Polynomial &p, bool isMost,
                                  const Monomial *but) const {
  DynamicAPInt sum(0);
  for (const auto &[monomial, coefficient] : p.getTerms()) {
    if (but && monomial == *but)
      continue;
    if (monomial.empty()) {
      sum += coefficient;
      continue;
    }
    Interval interval = of(monomial);
    const Bound &side =
        (coefficient > 0) == isMost ? interval.most : interval.least;
    if (!side)
      return std::nullopt;
    sum += coefficient * *side;
  }
  return sum;
}

Intervals::Bound Intervals::leastOf(const Polynomial &p) const {
  return bound(p, /*isMost=*/false, nullptr);
}

Intervals::Bound Intervals::mostBut(const Polynomial &p,
                                    const Monomial &monomial) const {
  return bound(p, /*isMost=*/true, &monomial);
}

void Intervals::learn(const Polynomial &fact) {
  for (const auto &[monomial, coefficient] : fact.getTerms()) {
    if (monomial.size() != 1)
      continue;
    // coefficient * symbol >= -rest, where rest is at most `most`.
    Bound most = mostBut(fact, monomial);
    if (!most)
      continue;
    unsigned symbol = monomial.front();
    if (known.size() <= symbol)
      known.resize(symbol + 1);
    Interval &interval = known[symbol];
    if (coefficient > 0) {
      DynamicAPInt least = llvm::ceilDiv(-*most, coefficient);
      if (!interval.least || *interval.least < least)
        interval.least = least;
    } else {
      DynamicAPInt greatest = llvm::floorDiv(*most, -coefficient);
      if (!interval.most || *interval.most > greatest)
        interval.most = greatest;
    }
  }
}

} // namespace selvedge::verify
