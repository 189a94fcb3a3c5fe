// Inequalities between values of which some are one of two others.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/CaseSystem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <set>

namespace selvedge::verify {

using llvm::ArrayRef;
using llvm::SmallVector;

Polynomial CaseSystem::newResult() {
  results.insert(symbols);
  return newSymbol();
}

static std::set<unsigned> symbolsOf(const Polynomial &p) {
  std::set<unsigned> symbols;
  for (const auto &[monomial, coefficient] : p.getTerms())
    symbols.insert(monomial.begin(), monomial.end());
  return symbols;
}

void CaseSystem::define(const Polynomial &p) {
  factsOf[*symbolsOf(p).rbegin()].push_back(facts.size());
  facts.push_back(p);
  intervals.learn(p);
}

void CaseSystem::assume(const Polynomial &p) {
  std::set<unsigned> mentioned = symbolsOf(p);
  // What is known of a result restricts what it is computed from.
  if (llvm::any_of(mentioned, [&](unsigned s) { return results.contains(s); }))
    return suppose(p);
  for (unsigned symbol : mentioned)
    factsOf[symbol].push_back(facts.size());
  facts.push_back(p);
  intervals.learn(p);
}

/// The monomial that `p` is.
static const Monomial &monomialOf(const Polynomial &p) {
  return p.getTerms().begin()->first;
}

std::optional<Choice> CaseSystem::choiceIn(const Polynomial &p) const {
  for (const Choice &choice : llvm::reverse(choices))
    if (p.coefficientOf(monomialOf(choice.p)))
      return choice;
  return std::nullopt;
}

namespace {

/// What may take part in a contradiction. Fourier-Motzkin elimination tells: a
/// row that adds a monomial takes one that subtracts it, an upper bound, and
/// the other way round.
class Reach {
public:
  /// A monomial, and whether its upper bound is wanted, or else its lower one.
  using Need = std::pair<ArrayRef<unsigned>, unsigned>;
  /// Calls for each fact that matters to a symbol.
  using FactsOf = llvm::function_ref<void(
      unsigned, llvm::function_ref<void(const Polynomial &)>)>;

  /// From the negation of `goal`, `constraints` and `hypotheses`; `taken` are
  /// further facts. A narrow one does not want of a row what it was found
  /// through, which most contradictions take once.
  Reach(const Polynomial &goal, ArrayRef<Polynomial> constraints,
        ArrayRef<Polynomial> hypotheses, ArrayRef<Polynomial> taken,
        bool isNarrow, FactsOf factsOf)
      : isNarrow(isNarrow) {
    const Polynomial &opposite = own.emplace_back(Polynomial(-1) - goal);
    want(opposite);
    for (ArrayRef<Polynomial> list : {constraints, hypotheses})
      for (const Polynomial &row : list) {
        rows.insert(&row);
        want(row);
      }
    ArrayRef<Polynomial> given[] = {opposite, constraints, taken};
    for (size_t next = 0; next < front.size(); ++next) {
      Need need = front[next];
      for (const Polynomial &row : taken)
        visit(row, need);
      for (unsigned symbol : need.first) {
        // Products are known through multiples of facts.
        Monomial rest(need.first);
        rest.erase(llvm::find(rest, symbol));
        factsOf(symbol, [&](const Polynomial &row) {
          visit(row, need);
          if (!rest.empty() && row == Polynomial::symbol(symbol))
            rows.insert(&row);
        });
        auto multiply = [&](const Polynomial &row) {
          visit(row, {rest, need.second}, symbol);
        };
        for (unsigned other : rest)
          factsOf(other, multiply);
        if (!rest.empty())
          for (ArrayRef<Polynomial> list : given)
            llvm::for_each(list, multiply);
      }
    }
  }

  bool isWanted(const Monomial &monomial, bool upper) const {
    return needs.contains({monomial, upper});
  }
  ArrayRef<const Polynomial *> getRows() const { return rows.getArrayRef(); }

private:
  /// A row that was found through `met`. It outlives all needs.
  void want(const Polynomial &row, ArrayRef<unsigned> met = {}) {
    for (const auto &[monomial, coefficient] : row.getTerms())
      if (!monomial.empty() &&
          !(isNarrow && ArrayRef<unsigned>(monomial) == met))
        if (Need need(monomial, coefficient > 0); needs.insert(need).second)
          front.push_back(need);
  }

  /// `row`, times `factor` if there is one, may give what is needed.
  void visit(const Polynomial &row, const Need &need,
             std::optional<unsigned> factor = {}) {
    const llvm::DynamicAPInt *coefficient = row.coefficientOf(need.first);
    if (!coefficient || (*coefficient < 0) != bool(need.second))
      return;
    rows.insert(&row);
    if (!wanted.insert({coefficient, factor ? int64_t(*factor) : -1}).second)
      return;
    if (!factor)
      return want(row, need.first);
    Monomial met(need.first);
    met.insert(llvm::upper_bound(met, *factor), *factor);
    want(own.emplace_back(row * Polynomial::symbol(*factor)), met);
  }

  bool isNarrow;
  std::deque<Polynomial> own;
  llvm::SmallDenseSet<Need, 32> needs;
  SmallVector<Need> front;
  llvm::SetVector<const Polynomial *> rows;
  /// The coefficients through which rows were found, and what the rows were
  /// multiplied by.
  llvm::SmallDenseSet<std::pair<const llvm::DynamicAPInt *, int64_t>, 32>
      wanted;
};

} // namespace

/// A proof by cases that is under way.
struct CaseSystem::Search {
  const CaseSystem &system;
  ArrayRef<Polynomial> constraints;
  /// What the cases taken say.
  SmallVector<Polynomial> taken = {};
  llvm::DenseSet<const Choice *> decided = {};
  unsigned attempts = 0;
  /// Questions about whole numbers that are left.
  unsigned integerAttempts = 0;
  /// Fewer choices matter to a narrow search, which may miss some.
  bool isNarrow = false;

  /// Bounds of a search that fails.
  static constexpr unsigned maxSplits = 4;
  unsigned maxAttempts = 300;

  Reach reach(const Polynomial &goal) const {
    return Reach(goal, constraints, system.hypotheses, taken, isNarrow,
                 [&](unsigned symbol,
                     llvm::function_ref<void(const Polynomial &)> visit) {
                   if (auto of = system.factsOf.find(symbol);
                       of != system.factsOf.end())
                     for (unsigned fact : of->second)
                       visit(system.facts[fact]);
                   // They are there anyway; here their multiples are asked for.
                   for (const Polynomial &row : system.hypotheses)
                     if (row.coefficientOf(symbol))
                       visit(row);
                 });
  }

  bool follows(const Polynomial &goal) {
    ++attempts;
    return !system.isRefuted(goal, constraints, taken) &&
           verify::implies(reach(goal).getRows(), goal);
  }

  /// The same of whole numbers: by all that is known of the symbols that there
  /// are, and of those that they are known by.
  bool followsForIntegers(const Polynomial &goal) {
    if (integerAttempts == 0)
      return false;
    --integerAttempts;
    llvm::SetVector<const Polynomial *> rows;
    std::set<unsigned> seen;
    SmallVector<unsigned> open;
    auto meet = [&](const Polynomial &row) {
      for (unsigned symbol : symbolsOf(row))
        if (seen.insert(symbol).second)
          open.push_back(symbol);
    };
    meet(goal);
    for (ArrayRef<Polynomial> list :
         {constraints, ArrayRef(system.hypotheses), ArrayRef(taken)})
      for (const Polynomial &row : list) {
        rows.insert(&row);
        meet(row);
      }
    while (!open.empty()) {
      auto facts = system.factsOf.find(open.pop_back_val());
      if (facts == system.factsOf.end())
        continue;
      for (unsigned fact : facts->second)
        if (rows.insert(&system.facts[fact]))
          meet(system.facts[fact]);
    }
    return verify::impliesForIntegers(rows.getArrayRef(), goal);
  }

  /// The choices that matter, latest first: they are defined by the others.
  /// Facts bound the smaller of two values from above, so it is its lower bound
  /// that takes cases.
  SmallVector<const Choice *> relevant(const Polynomial &goal) const {
    Reach reached = reach(goal);
    SmallVector<const Choice *> found;
    for (const Choice &choice : llvm::reverse(system.choices)) {
      const Monomial &monomial = monomialOf(choice.p);
      bool isWanted = (choice.kind != Choice::Kind::Larger &&
                       reached.isWanted(monomial, false)) ||
                      (choice.kind != Choice::Kind::Smaller &&
                       reached.isWanted(monomial, true));
      if (isWanted && !decided.contains(&choice))
        found.push_back(&choice);
    }
    return found;
  }

  void take(const Choice &choice, const Polynomial &side) {
    taken.push_back(side - choice.p);
    taken.push_back(choice.p - side);
  }

  bool prove(const Polynomial &goal, unsigned splits) {
    if (system.isRefuted(goal, constraints, taken))
      return false;
    // Where one side proves the goal, or cannot be, only the other is left.
    size_t given = taken.size();
    SmallVector<const Choice *> settled, open;
    bool isProved = false;
    for (bool changed = true; changed && !isProved;) {
      changed = false;
      open = relevant(goal);
      for (const Choice *choice : open) {
        auto followsIf = [&](const Polynomial &side) {
          take(*choice, side);
          bool holds = follows(goal);
          taken.pop_back_n(2);
          return holds;
        };
        bool ofA = followsIf(choice->a), ofB = followsIf(choice->b);
        isProved = ofA && ofB;
        if (isProved || attempts > maxAttempts)
          break;
        if (!ofA && !ofB)
          continue;
        take(*choice, ofA ? choice->b : choice->a);
        decided.insert(choice);
        settled.push_back(choice);
        changed = true;
      }
    }
    if (!isProved && !open.empty() && splits > 0 && attempts <= maxAttempts) {
      const Choice *choice = open.front();
      decided.insert(choice);
      isProved = llvm::all_of(ArrayRef{&choice->a, &choice->b},
                              [&](const Polynomial *side) {
                                take(*choice, *side);
                                bool isSideProved = prove(goal, splits - 1);
                                taken.pop_back_n(2);
                                return isSideProved;
                              });
      decided.erase(choice);
    }
    if (!isProved && (open.empty() || splits == 0))
      isProved = followsForIntegers(goal);
    for (const Choice *choice : settled)
      decided.erase(choice);
    taken.truncate(given);
    return isProved;
  }
};

bool CaseSystem::isObvious(const Polynomial &p,
                           ArrayRef<Polynomial> constraints) const {
  return intervals.isNonNegative(p) ||
         llvm::any_of(constraints, [&](const Polynomial &constraint) {
           return intervals.isNonNegative(p - constraint);
         });
}

bool CaseSystem::isRefuted(const Polynomial &p,
                           ArrayRef<Polynomial> constraints,
                           ArrayRef<Polynomial> taken) const {
  models.learn(symbols, facts, hypotheses, choices);
  return models.refute(p, constraints, taken);
}

bool CaseSystem::implies(const Polynomial &p,
                         ArrayRef<Polynomial> constraints) const {
  return isObvious(p, constraints) || Search{*this, constraints}.follows(p);
}

bool CaseSystem::impliesByCases(const Polynomial &p,
                                ArrayRef<Polynomial> constraints) const {
  if (isObvious(p, constraints))
    return true;
  Search search{*this, constraints};
  return search.follows(p) || search.prove(p, Search::maxSplits);
}

bool CaseSystem::impliesForIntegers(const Polynomial &p,
                                    ArrayRef<Polynomial> constraints) const {
  constexpr unsigned mostQuestions = 16, mostSplits = 8, mostAttempts = 3000;
  return llvm::any_of(ArrayRef{true, false}, [&](bool isNarrow) {
    Search search{*this, constraints};
    search.maxAttempts = mostAttempts;
    search.integerAttempts = mostQuestions;
    search.isNarrow = isNarrow;
    return search.prove(p, mostSplits);
  });
}

} // namespace selvedge::verify
