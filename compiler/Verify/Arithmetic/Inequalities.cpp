// Systems of polynomial inequalities over integers.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Inequalities.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <optional>
#include <set>
#include <tuple>

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
  // Proofs ask this most often; a comparison of memory takes longer than one of
  // few numbers.
  for (const auto &[known, coefficient] : terms) {
    if (known.size() != monomial.size())
      continue;
    size_t i = 0;
    while (i < known.size() && known[i] == monomial[i])
      ++i;
    if (i == known.size())
      return &coefficient;
  }
  return nullptr;
}

std::optional<int64_t> Polynomial::asConstant() const {
  if (terms.empty())
    return 0;
  bool isNumber = terms.size() == 1 && terms.front().first.empty();
  return isNumber ? std::optional(int64_t(terms.front().second)) : std::nullopt;
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

Polynomial Polynomial::floorDividedBy(const DynamicAPInt &factor) const {
  Polynomial divided = *this;
  for (auto &[monomial, coefficient] : divided.terms)
    coefficient = floorDiv(coefficient, factor);
  llvm::erase_if(divided.terms,
                 [](const auto &term) { return term.second == 0; });
  return divided;
}

Polynomial Polynomial::multiplesOf(const DynamicAPInt &factor) const {
  Polynomial whole = *this;
  llvm::erase_if(whole.terms,
                 [&](const auto &term) { return term.second % factor != 0; });
  return whole.floorDividedBy(factor);
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

/// At least 0 exactly where `goal` is, for whole numbers: `64 q - 1 >= 0` is
/// `q - 1 >= 0`.
Polynomial dividedByCommonFactor(const Polynomial &goal) {
  DynamicAPInt factor(0);
  for (const auto &[monomial, coefficient] : goal.getTerms())
    if (!monomial.empty())
      factor = llvm::gcd(factor, abs(coefficient));
  return factor <= 1 ? goal : goal.floorDividedBy(factor);
}

/// Facts and the opposite of a goal, goal <= -1: they contradict if the facts
/// imply it. Monomials are unknowns.
struct Contradiction {
  Contradiction(ArrayRef<const Polynomial *> facts, const Polynomial &goal)
      : opposite(Polynomial(-1) - dividedByCommonFactor(goal)),
        system{&opposite} {
    llvm::append_range(system, facts);
    addMultiples(system, products);
    columns = monomialsOf(system);
    simplex.emplace(columns.size());
    for (const Polynomial *p : system) {
      // The constant comes last.
      SmallVector<DynamicAPInt> row(columns.size() + 1);
      for (const auto &[monomial, coefficient] : p->getTerms())
        row[monomial.empty() ? columns.size()
                             : llvm::lower_bound(columns, &monomial, isLess) -
                                   columns.begin()] = coefficient;
      simplex->addInequality(row);
      if (simplex->isEmpty())
        return;
    }
  }

  bool holds() const { return simplex->isEmpty(); }

  /// Whether whole numbers contradict, of which `splits` unknowns one after the
  /// other are tried one by one.
  bool holdsForIntegers(unsigned splits) {
    constexpr int64_t mostValues = 3;
    // Of more unknowns nothing has been proved so, and each takes milliseconds.
    constexpr size_t mostUnknowns = 32;
    if (holds())
      return true;
    if (columns.size() > mostUnknowns)
      return false;
    if (excludesMultiples())
      return true;
    // The one with the fewest values.
    std::optional<size_t> split;
    DynamicAPInt first, last;
    for (size_t i = 0; i < columns.size(); ++i) {
      SmallVector<DynamicAPInt> row(columns.size() + 1);
      row[i] = 1;
      auto [least, most] = simplex->computeIntegerBounds(row);
      if (!least.isBounded() || !most.isBounded())
        continue;
      if (*least > *most)
        return true;
      DynamicAPInt values = *most - *least;
      bool isFixed = values == 0 && isConstant(row);
      if (!isFixed && values < mostValues &&
          (!split || values < last - first)) {
        split = i;
        first = *least;
        last = *most;
      }
    }
    if (!split || splits == 0)
      return false;
    for (DynamicAPInt value = first; value <= last; ++value) {
      unsigned snapshot = simplex->getSnapshot();
      SmallVector<DynamicAPInt> row(columns.size() + 1);
      row[*split] = 1;
      row.back() = -value;
      simplex->addEquality(row);
      bool contradicts = holdsForIntegers(splits - 1);
      simplex->rollback(snapshot);
      if (!contradicts)
        return false;
    }
    return true;
  }

private:
  /// Whether a whole number lies nowhere: the difference of an unknown and a
  /// multiple of another one, of which rows have multiples with a common
  /// divisor. `256 x < 64 y <= 256 x + 1` has no such `y - 4 x`.
  bool excludesMultiples() {
    constexpr unsigned mostPairs = 64;
    constexpr int64_t largest = 1 << 14; // lanes of a block
    std::vector<std::set<int64_t>> times(columns.size());
    for (const Polynomial *p : system)
      for (const auto &[monomial, coefficient] : p->getTerms())
        if (!monomial.empty() && abs(coefficient) > 1 &&
            abs(coefficient) <= largest)
          times[llvm::lower_bound(columns, &monomial, isLess) - columns.begin()]
              .insert(int64_t(abs(coefficient)));
    std::set<std::tuple<size_t, size_t, int64_t>> pairs;
    for (size_t i = 0; i < columns.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j)
        for (int64_t a : times[i])
          for (int64_t b : times[j])
            if (i != j && b % a == 0 && pairs.size() < mostPairs)
              pairs.insert({i, j, b / a});
    return llvm::any_of(pairs, [&](const auto &pair) {
      auto [i, j, factor] = pair;
      SmallVector<DynamicAPInt> row(columns.size() + 1);
      row[i] = 1;
      row[j] = -factor;
      auto [least, most] = simplex->computeIntegerBounds(row);
      return least.isBounded() && most.isBounded() && *least > *most;
    });
  }

  /// Whether an unknown has one value, whole or not.
  bool isConstant(ArrayRef<DynamicAPInt> row) {
    using mlir::presburger::Simplex;
    auto least = simplex->computeOptimum(Simplex::Direction::Down, row),
         most = simplex->computeOptimum(Simplex::Direction::Up, row);
    return least.isBounded() && most.isBounded() && *least == *most;
  }

  Polynomial opposite;
  SmallVector<const Polynomial *> system;
  std::deque<Polynomial> products;
  SmallVector<const Monomial *> columns;
  std::optional<mlir::presburger::Simplex> simplex;
};

} // namespace

bool implies(ArrayRef<const Polynomial *> facts, const Polynomial &goal) {
  return Contradiction(facts, goal).holds();
}

bool impliesForIntegers(ArrayRef<const Polynomial *> facts,
                        const Polynomial &goal) {
  constexpr unsigned mostSplits = 4;
  return Contradiction(facts, goal).holdsForIntegers(mostSplits);
}

} // namespace selvedge::verify
