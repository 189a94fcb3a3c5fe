// Systems of polynomial inequalities over integers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Inequalities.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>

namespace selvedge::verify {

using llvm::ArrayRef;
using llvm::DynamicAPInt;
using llvm::SmallVector;

Polynomial::Polynomial(int64_t constant) {
  if (constant != 0)
    terms.emplace_back(Monomial(), DynamicAPInt(constant));
}

Polynomial Polynomial::symbol(unsigned id) {
  Polynomial result;
  result.terms.emplace_back(Monomial{id}, DynamicAPInt(1));
  return result;
}

const DynamicAPInt *
Polynomial::coefficientOf(ArrayRef<unsigned> monomial) const {
  const auto *term = llvm::find_if(terms, [&](const auto &known) {
    return ArrayRef<unsigned>(known.first) == monomial;
  });
  return term != terms.end() ? &term->second : nullptr;
}

Polynomial &Polynomial::operator+=(const Polynomial &other) {
  Terms sum;
  sum.reserve(terms.size() + other.terms.size());
  const auto *a = terms.begin(), *b = other.terms.begin();
  while (a != terms.end() && b != other.terms.end()) {
    if (a->first < b->first) {
      sum.push_back(*a++);
    } else if (b->first < a->first) {
      sum.push_back(*b++);
    } else {
      if (DynamicAPInt both = a->second + b->second; both != 0)
        sum.emplace_back(a->first, both);
      ++a, ++b;
    }
  }
  sum.append(a, std::as_const(terms).end());
  sum.append(b, other.terms.end());
  terms = std::move(sum);
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
  for (const auto &[x, p] : a.terms) {
    Polynomial part;
    for (const auto &[y, q] : b.terms)
      part.terms.emplace_back(product(x, y), p * q);
    llvm::sort(part.terms, llvm::less_first());
    result += part;
  }
  return result;
}

namespace {

/// Degree of the products that are reasoned about.
constexpr size_t maxDegree = 3;

bool isLess(const Monomial *a, const Monomial *b) { return *a < *b; }

/// Those of the polynomials but 1, sorted.
SmallVector<const Monomial *> monomialsOf(ArrayRef<const Polynomial *> system) {
  SmallVector<const Monomial *> monomials;
  for (const Polynomial *p : system)
    for (const auto &[monomial, coefficient] : p->getTerms())
      if (!monomial.empty())
        monomials.push_back(&monomial);
  llvm::sort(monomials, isLess);
  monomials.erase(
      llvm::unique(monomials, [](const Monomial *a,
                                 const Monomial *b) { return *a == *b; }),
      monomials.end());
  return monomials;
}

/// Multiplies facts by symbols that are known to be at least 0, where that
/// speaks of a product in the system.
void addMultiples(SmallVector<const Polynomial *> &system,
                  std::deque<Polynomial> &products) {
  size_t given = system.size();
  for (const Monomial *of : monomialsOf(system)) {
    const Monomial &monomial = *of;
    for (size_t i = 0; monomial.size() > 1 && i < monomial.size(); ++i) {
      if (i > 0 && monomial[i] == monomial[i - 1])
        continue;
      Polynomial factor = Polynomial::symbol(monomial[i]);
      Monomial rest = monomial;
      rest.erase(rest.begin() + i);
      if (llvm::none_of(ArrayRef(system).take_front(given),
                        [&](const Polynomial *p) { return *p == factor; }))
        continue;
      for (size_t j = 0; j < given; ++j) {
        bool fits = llvm::all_of(system[j]->getTerms(), [](const auto &term) {
          return term.first.size() < maxDegree;
        });
        if (fits && system[j]->coefficientOf(rest))
          system.push_back(&products.emplace_back(*system[j] * factor));
      }
    }
  }
}

} // namespace

bool implies(ArrayRef<const Polynomial *> facts, const Polynomial &goal) {
  // The facts and the opposite of the goal, goal <= -1, must contradict.
  Polynomial opposite = Polynomial(-1) - goal;
  SmallVector<const Polynomial *> system{&opposite};
  llvm::append_range(system, facts);
  std::deque<Polynomial> products;
  addMultiples(system, products);
  SmallVector<const Monomial *> columns = monomialsOf(system);
  mlir::presburger::Simplex simplex(columns.size());
  for (const Polynomial *p : system) {
    // The constant comes last.
    SmallVector<DynamicAPInt> row(columns.size() + 1);
    for (const auto &[monomial, coefficient] : p->getTerms())
      row[monomial.empty() ? columns.size()
                           : llvm::lower_bound(columns, &monomial, isLess) -
                                 columns.begin()] = coefficient;
    simplex.addInequality(row);
    if (simplex.isEmpty())
      return true;
  }
  return false;
}

} // namespace selvedge::verify
