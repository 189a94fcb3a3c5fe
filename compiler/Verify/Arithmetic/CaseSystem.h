// Inequalities between values of which some are one of two others.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_CASESYSTEM_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_CASESYSTEM_H

#include "compiler/Verify/Arithmetic/Inequalities.h"
#include "compiler/Verify/Arithmetic/Intervals.h"
#include "compiler/Verify/Arithmetic/Models.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace selvedge::verify {

/// What holds everywhere, and what follows from it.
class CaseSystem {
public:
  Polynomial newSymbol() { return Polynomial::symbol(symbols++); }
  unsigned numSymbols() const { return symbols; }
  /// A symbol for the result of a total operation.
  Polynomial newResult();

  /// `p` >= 0 everywhere: by the definition of its latest symbol, a result, so
  /// that it says nothing about older ones.
  void define(const Polynomial &p);
  /// The same of what is known of symbols.
  void assume(const Polynomial &p);
  /// The same of what need not be possible at all: a loop around may not run.
  void suppose(const Polynomial &p) {
    hypotheses.push_back(p);
    intervals.learn(p);
  }
  void assume(const Choice &choice) { choices.push_back(choice); }

  /// The latest choice that `p` mentions; none if there is none.
  std::optional<Choice> choiceIn(const Polynomial &p) const;

  /// Whether `p` >= 0 wherever `constraints` hold, by linear reasoning.
  bool implies(const Polynomial &p,
               llvm::ArrayRef<Polynomial> constraints) const;
  /// The same in every case of the choices.
  bool impliesByCases(const Polynomial &p,
                      llvm::ArrayRef<Polynomial> constraints) const;
  /// The same of whole numbers, where that fails; for few questions, since a
  /// failure takes long.
  bool impliesForIntegers(const Polynomial &p,
                          llvm::ArrayRef<Polynomial> constraints) const;

private:
  /// A proof by cases that is under way.
  struct Search;
  /// Whether `p` >= 0 by constant bounds of symbols, or because a constraint
  /// says as much: answers most questions.
  bool isObvious(const Polynomial &p,
                 llvm::ArrayRef<Polynomial> constraints) const;
  /// Whether there are numbers for which everything holds but `p` >= 0.
  bool isRefuted(const Polynomial &p, llvm::ArrayRef<Polynomial> constraints,
                 llvm::ArrayRef<Polynomial> taken) const;

  unsigned symbols = 0;
  llvm::SmallVector<Polynomial> facts, hypotheses;
  /// Of facts and hypotheses.
  Intervals intervals;
  llvm::SmallVector<Choice> choices;
  llvm::DenseSet<unsigned> results;
  /// Made when a question is asked.
  mutable Models models;
  /// The facts that matter to a symbol.
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned>> factsOf;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_CASESYSTEM_H
