// Mutants that a judge misses, and why that is so.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
#define SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H

#include <set>
#include <string>
#include <vector>

namespace selvedge::testing {

/// Mutants by "case: site: fault".
using Names = std::set<std::string>;

/// The faults in each of the cases.
inline Names inEach(const std::vector<std::string> &cases,
                    const std::vector<std::string> &faults) {
  Names names;
  for (const std::string &test : cases)
    for (const std::string &fault : faults)
      names.insert(test + ": " + fault);
  return names;
}

inline Names unite(std::vector<Names> lists) {
  Names all;
  for (Names &list : lists)
    all.merge(list);
  return all;
}

/// What escapes: a mutant every judge or execution, a blatant one the
/// verifiers.
struct Missed {
  Names byAll, inExecution, byVerifiers;
};

inline const std::vector<std::string> attention = {"dense", "causal", "gemma",
                                                   "masked"};

/// The program's own `where` and fills, of which nothing else speaks. In seq
/// the stores have no other predicate.
inline const Names ownFills = inEach(
    {"filled"}, {"mask: deleted", "mask #3: deleted", "mask #5: deleted"});
inline const Names ownOnTile =
    unite({inEach({"partial"}, {"store of top #2: predicate 1 deleted",
                                "store of total #2: predicate 1 deleted"}),
           ownFills});
inline const Names ownInSeq =
    unite({inEach({"partial"}, {"store of top #2: predicate 0 deleted",
                                "store of total #2: predicate 0 deleted"}),
           ownFills});

/// The identity given to columns past the last one before the program fills
/// what it fills: where it fills those columns it fills all others, too, and
/// the largest or least of a constant is the constant.
inline const Names filledLater = inEach(
    {"filled"}, {"mask #2: before the score", "mask #4: before the score"});

/// The plan gives these kernels blocks of one row, none of which lies partly
/// outside: when sizes are bound the correct programs lose these predicates,
/// too. Before that the verifiers refuse the mutants.
inline const Names wholeRows = unite(
    {inEach({"softmax"},
            {"load of x: predicate 0 deleted", "load of x: predicate 0 +1",
             "load of x #2: predicate 0 deleted",
             "load of x #2: predicate 0 +1", "store of y: predicate 0 deleted",
             "store of y: predicate 0 +1"}),
     inEach({"partial"},
            {"load of x: predicate 0 deleted", "load of x: predicate 0 +1",
             "store of top #2: predicate 0 deleted",
             "store of top #2: predicate 0 +1",
             "store of total #2: predicate 0 deleted",
             "store of total #2: predicate 0 +1"}),
     inEach(
         {"filled"},
         {"load of x: predicate 0 deleted", "load of x: predicate 0 +1",
          "store of top: predicate 0 deleted", "store of top: predicate 0 +1",
          "store of low: predicate 0 deleted", "store of low: predicate 0 +1",
          "store of total: predicate 0 deleted",
          "store of total: predicate 0 +1"})});

/// The other operand of the product is 0 in these lanes, and 1 is finite.
inline const Names finiteFills =
    unite({inEach(attention, {"fill of q: 1", "fill of k: 1", "fill of v: 1"}),
           inEach({"matmul"}, {"fill of a: 1", "fill of b: 1"})});

/// Those that the verifiers accept. They refuse rows that are filled with 1
/// where a limit of the keys is untested because it holds in rows that exist.
inline const Names unusedFills =
    unite({inEach({"dense"}, {"fill of q: 1"}),
           inEach(attention, {"fill of k: 1", "fill of v: 1"}),
           inEach({"matmul"}, {"fill of a: 1", "fill of b: 1"})});

inline const Missed missedOnTile = {
    .byAll = unusedFills,
    .inExecution = unite({filledLater, wholeRows, finiteFills}),
    .byVerifiers = ownOnTile,
};

/// A NaN in the maximum is one in the sum as well.
inline const Names harmlessCompares =
    unite({inEach(attention, {"guard's compare: launders NaN"}),
           inEach({"softmax"}, {"guard's compare: launders NaN"})});

/// Guards have no verifier before form seq.
inline const Missed missedGuards = {
    .byAll = harmlessCompares,
    .inExecution = harmlessCompares,
    .byVerifiers = {},
};

inline const Missed missedInSeq = {
    .byAll = {},
    .inExecution = filledLater,
    .byVerifiers = ownInSeq,
};

/// True: the window begins in or before the full part.
inline const Names trueClaim =
    inEach({"gemma"}, {"full part: claims after it, only 3"});

inline const Missed missedInParts = {
    .byAll = trueClaim,
    .inExecution = trueClaim,
    .byVerifiers = {},
};

/// A step past the end of the last part: the tests of its body leave nothing.
inline const Names emptySteps =
    unite({inEach({"dense", "causal", "gemma", "masked", "softmax", "matmul",
                   "partial", "filled"},
                  {"part, after it: one step more"}),
           inEach({"softmax"}, {"part #2, after it: one step more"})});
/// The same where parts of interior blocks stand before it. Attention has none:
/// its parts are those of `tile-loop-parts`.
inline const Names emptyInteriorSteps =
    unite({inEach(attention, {"part, after it: one step more"}),
           inEach({"softmax", "matmul", "partial", "filled"},
                  {"part #2, after it: one step more"}),
           inEach({"softmax"}, {"part #4, after it: one step more"})});

/// The part before a window's full one ends whole steps after it begins: the
/// last one runs for any of its keys.
inline const Names wholeSteps =
    inEach({"gemma"}, {"part, before it: one key left out"});

/// Blocks of one row lie inside, whatever is tested: of the parts of blocks
/// that lie inside and of others, each would do, and the others' never runs.
inline const Names equalParts = unite(
    {inEach({"softmax", "partial", "filled"}, {"parts in the other order"}),
     inEach({"softmax"}, {"part #3s in the other order"})});
inline const Names unusedParts = [] {
  std::vector<std::string> first, third;
  for (const std::string fault : {"first step left out", "last step left out",
                                  "one key left out", "left out", "twice"}) {
    for (const char *part : {"part, after it: ", "part #2, full: "})
      first.push_back(part + fault);
    for (const char *part : {"part #3, after it: ", "part #4, full: "})
      third.push_back(part + fault);
  }
  return unite({inEach({"softmax", "partial", "filled"}, first),
                inEach({"softmax"}, third)});
}();

inline const Missed missedSteps = {
    .byAll = {},
    .inExecution = unite({emptySteps, wholeSteps}),
    .byVerifiers = {},
};
inline const Missed missedInteriorSteps = {
    .byAll = {},
    .inExecution =
        unite({emptyInteriorSteps, wholeSteps, equalParts, unusedParts}),
    .byVerifiers = equalParts,
};

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
