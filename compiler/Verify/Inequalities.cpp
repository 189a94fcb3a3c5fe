// Systems of polynomial inequalities over integers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Inequalities.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace selvedge::verify {

using llvm::ArrayRef;
using llvm::DynamicAPInt;
using llvm::SmallVector;

Polynomial::Polynomial(int64_t constant) { add({}, DynamicAPInt(constant)); }

Polynomial Polynomial::symbol(unsigned id) {
  Polynomial result;
  result.add({id}, DynamicAPInt(1));
  return result;
}

void Polynomial::add(const Monomial &monomial,
                     const DynamicAPInt &coefficient) {
  DynamicAPInt &sum = terms[monomial];
  sum += coefficient;
  if (sum == 0)
    terms.erase(monomial);
}

Polynomial &Polynomial::operator+=(const Polynomial &other) {
  for (const auto &[monomial, coefficient] : other.terms)
    add(monomial, coefficient);
  return *this;
}

static Monomial product(const Monomial &a, const Monomial &b) {
  Monomial result = a;
  result.append(b.begin(), b.end());
  llvm::sort(result);
  return result;
}

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (const auto &[x, p] : a.terms)
    for (const auto &[y, q] : b.terms)
      result.add(product(x, y), p * q);
  return result;
}

namespace {

/// Degree of the products that are reasoned about.
constexpr size_t maxDegree = 3;

using Monomials = std::set<Monomial>;

void collect(const Polynomial &p, Monomials &monomials) {
  for (const auto &[monomial, coefficient] : p.getTerms())
    if (!monomial.empty())
      monomials.insert(monomial);
}

/// Multiplies facts by symbols that are known to be at least 0, where that
/// speaks of a product in the system.
void addMultiples(SmallVector<Polynomial> &system, Monomials monomials) {
  size_t given = system.size();
  for (const Monomial &monomial : monomials)
    for (size_t i = 0; monomial.size() > 1 && i < monomial.size(); ++i) {
      if (i > 0 && monomial[i] == monomial[i - 1])
        continue;
      Polynomial factor = Polynomial::symbol(monomial[i]);
      Monomial rest = monomial;
      rest.erase(rest.begin() + i);
      if (!llvm::is_contained(ArrayRef(system).take_front(given), factor))
        continue;
      for (size_t j = 0; j < given; ++j) {
        const auto &terms = system[j].getTerms();
        bool fits = llvm::all_of(terms, [](const auto &term) {
          return term.first.size() < maxDegree;
        });
        if (fits && terms.contains(rest))
          system.push_back(system[j] * factor);
      }
    }
}

} // namespace

bool implies(ArrayRef<const Polynomial *> facts, const Polynomial &goal) {
  // The facts and the opposite of the goal, goal <= -1, must contradict.
  SmallVector<Polynomial> system{Polynomial(-1) - goal};
  for (const Polynomial *fact : facts)
    system.push_back(*fact);
  Monomials monomials;
  for (const Polynomial &p : system)
    collect(p, monomials);
  addMultiples(system, monomials);
  for (const Polynomial &p : system)
    collect(p, monomials);
  SmallVector<Monomial> columns(monomials.begin(), monomials.end());
  mlir::presburger::Simplex simplex(columns.size());
  for (const Polynomial &p : system) {
    // The constant comes last.
    SmallVector<DynamicAPInt> row(columns.size() + 1);
    for (const auto &[monomial, coefficient] : p.getTerms())
      row[monomial.empty() ? columns.size()
                           : llvm::lower_bound(columns, monomial) -
                                 columns.begin()] = coefficient;
    simplex.addInequality(row);
    if (simplex.isEmpty())
      return true;
  }
  return false;
}

} // namespace selvedge::verify
