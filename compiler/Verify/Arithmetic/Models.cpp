// Numbers for which all that is known holds.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Models.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace selvedge::verify {

using llvm::ArrayRef;
using llvm::DynamicAPInt;

/// How many there are, and how often one is begun: facts may leave no numbers,
/// or few.
static constexpr unsigned maxModels = 24, maxAttempts = 96;

/// The latest symbol; none of a constant.
static std::optional<unsigned> latestSymbol(const Polynomial &p) {
  std::optional<unsigned> latest;
  for (const auto &[monomial, coefficient] : p.getTerms())
    if (!monomial.empty())
      latest = std::max(latest.value_or(0), monomial.back());
  return latest;
}

DynamicAPInt Models::valueOf(const Polynomial &p, const Model &model) {
  DynamicAPInt sum(0);
  for (const auto &[monomial, coefficient] : p.getTerms()) {
    DynamicAPInt term = coefficient;
    for (unsigned symbol : monomial) {
      assert(symbol < model.values.size() && "a symbol of this system");
      term *= model.values[symbol];
    }
    sum += term;
  }
  return sum;
}

bool Models::holds(const Choice &choice, const Model &model) {
  DynamicAPInt p = valueOf(choice.p, model), a = valueOf(choice.a, model),
               b = valueOf(choice.b, model);
  switch (choice.kind) {
  case Choice::Kind::Smaller:
    return p == std::min(a, b);
  case Choice::Kind::Larger:
    return p == std::max(a, b);
  case Choice::Kind::Either:
    return p == a || p == b;
  }
  llvm_unreachable("all kinds are covered");
}

void Models::reconsider(unsigned symbol,
                        llvm::function_ref<bool(const Model &)> isMet) {
  for (Model &model : models)
    if (model.values.size() > symbol && !isMet(model))
      model.values.resize(symbol);
}

/// A number from `least` to `most`: near either end, or of any length.
static DynamicAPInt choose(const DynamicAPInt &least, const DynamicAPInt &most,
                           std::minstd_rand &random, unsigned habit) {
  constexpr unsigned few = 3, some = 300, longest = 31;
  // Now and then another habit.
  unsigned kind = random() % 4 == 0 ? random() % 4 : habit % 4;
  int64_t length = int64_t(1) << (random() % (longest + 1));
  int64_t by = kind < 2    ? int64_t(random() % few)
               : kind == 2 ? int64_t(random() % some)
                           : int64_t(random()) % length;
  bool isFromMost = kind == 1 || (kind == 3 && random() % 4 == 0);
  DynamicAPInt value =
      isFromMost ? most - DynamicAPInt(by) : least + DynamicAPInt(by);
  return std::min(std::max(value, least), most);
}

bool Models::extend(Model &model) const {
  auto symbol = static_cast<unsigned>(model.values.size());
  const Known &of = known[symbol];
  std::optional<DynamicAPInt> least, most;
  for (const Polynomial &row : of.rows) {
    // factor * symbol + rest >= 0.
    DynamicAPInt factor(0), rest(0);
    for (const auto &[monomial, coefficient] : row.getTerms()) {
      DynamicAPInt term = coefficient;
      unsigned times = 0;
      for (unsigned other : monomial)
        if (other == symbol)
          ++times;
        else
          term *= model.values[other];
      if (times > 1)
        return false;
      (times ? factor : rest) += term;
    }
    if (factor == 0) {
      if (rest < 0)
        return false;
    } else if (factor > 0) {
      DynamicAPInt bound = ceilDiv(-rest, factor);
      least = least ? std::max(*least, bound) : bound;
    } else {
      DynamicAPInt bound = floorDiv(rest, -factor);
      most = most ? std::min(*most, bound) : bound;
    }
  }
  const DynamicAPInt range(int64_t(1) << 32);
  if (!least)
    least = most ? *most - range : -range;
  if (!most)
    most = *least + range;
  if (*least > *most)
    return false;
  model.values.push_back(choose(*least, *most, model.random, model.habit));
  for (const Choice &choice : of.choices) {
    if (holds(choice, model))
      continue;
    // The symbol is one of two, which those before it say.
    DynamicAPInt &value = model.values.back();
    std::optional<unsigned> ofA = latestSymbol(choice.a),
                            ofB = latestSymbol(choice.b);
    if (choice.p == Polynomial::symbol(symbol) && ofA != symbol &&
        ofB != symbol) {
      DynamicAPInt a = valueOf(choice.a, model), b = valueOf(choice.b, model);
      value = choice.kind == Choice::Kind::Smaller  ? std::min(a, b)
              : choice.kind == Choice::Kind::Larger ? std::max(a, b)
              : model.random() % 2                  ? a
                                                    : b;
    }
  }
  return llvm::all_of(
             of.rows,
             [&](const Polynomial &row) { return valueOf(row, model) >= 0; }) &&
         llvm::all_of(of.choices, [&](const Choice &choice) {
           return holds(choice, model);
         });
}

bool Models::complete(Model &model) const {
  while (model.values.size() < known.size())
    if (!extend(model))
      return false;
  return true;
}

void Models::learn(unsigned symbols, ArrayRef<Polynomial> facts,
                   ArrayRef<Polynomial> hypotheses, ArrayRef<Choice> choices) {
  known.resize(symbols);
  auto learnRow = [&](const Polynomial &row) {
    std::optional<unsigned> symbol = latestSymbol(row);
    if (!symbol)
      return;
    known[*symbol].rows.push_back(row);
    reconsider(*symbol,
               [&](const Model &model) { return valueOf(row, model) >= 0; });
  };
  llvm::for_each(facts.drop_front(numFacts), learnRow);
  llvm::for_each(hypotheses.drop_front(numHypotheses), learnRow);
  for (const Choice &choice : choices.drop_front(numChoices)) {
    unsigned symbol = *latestSymbol(choice.p);
    for (const Polynomial *side : {&choice.a, &choice.b})
      symbol = std::max(symbol, latestSymbol(*side).value_or(0));
    known[symbol].choices.push_back(choice);
    reconsider(symbol,
               [&](const Model &model) { return holds(choice, model); });
  }
  numFacts = facts.size();
  numHypotheses = hypotheses.size();
  numChoices = choices.size();
  std::erase_if(models, [&](Model &model) { return !complete(model); });
  while (models.size() < maxModels && attempts < maxAttempts) {
    Model model;
    model.habit = attempts;
    model.random.seed(++attempts);
    if (complete(model))
      models.push_back(std::move(model));
  }
}

bool Models::refute(const Polynomial &goal, ArrayRef<Polynomial> constraints,
                    ArrayRef<Polynomial> more) const {
  return llvm::any_of(models, [&](const Model &model) {
    auto isMet = [&](const Polynomial &p) { return valueOf(p, model) >= 0; };
    return !isMet(goal) && llvm::all_of(constraints, isMet) &&
           llvm::all_of(more, isMet);
  });
}

} // namespace selvedge::verify
