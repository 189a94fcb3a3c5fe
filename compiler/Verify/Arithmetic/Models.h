// Numbers for which all that is known holds.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_MODELS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_MODELS_H

#include "compiler/Verify/Arithmetic/Inequalities.h"

#include <random>
#include <vector>

namespace selvedge::verify {

/// A monomial that is `a` or `b`: the smaller, the larger or either one.
struct Choice {
  enum class Kind { Smaller, Larger, Either };
  Polynomial p, a, b;
  Kind kind = Kind::Either;
};

/// A few assignments of whole numbers to all symbols, each of which satisfies
/// all facts and choices. Where one of them contradicts a question nobody has
/// to search for a proof: most questions that have none are answered so.
class Models {
public:
  /// Learns which symbols there are, and what is known of them: lists that have
  /// grown since it was called last.
  void learn(unsigned symbols, llvm::ArrayRef<Polynomial> facts,
             llvm::ArrayRef<Polynomial> hypotheses,
             llvm::ArrayRef<Choice> choices);
  /// Whether one of them satisfies `constraints` and `more` but not
  /// `goal` >= 0.
  bool refute(const Polynomial &goal, llvm::ArrayRef<Polynomial> constraints,
              llvm::ArrayRef<Polynomial> more) const;

private:
  /// Values by symbol, and where further ones come from.
  struct Model {
    std::vector<llvm::DynamicAPInt> values;
    std::minstd_rand random;
    unsigned habit = 0;
  };
  /// What is known of a symbol by those before it.
  struct Known {
    llvm::SmallVector<Polynomial, 0> rows;
    llvm::SmallVector<Choice, 0> choices;
  };

  static llvm::DynamicAPInt valueOf(const Polynomial &p, const Model &model);
  static bool holds(const Choice &choice, const Model &model);
  /// Where `isMet` does not hold the symbol's value, and those of later ones,
  /// are chosen anew.
  void reconsider(unsigned symbol, llvm::function_ref<bool(const Model &)>);
  /// Chooses a value for the next symbol; false where there is none.
  bool extend(Model &model) const;
  bool complete(Model &model) const;

  std::vector<Known> known;
  std::vector<Model> models;
  size_t numFacts = 0, numHypotheses = 0, numChoices = 0;
  unsigned attempts = 0;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_MODELS_H
