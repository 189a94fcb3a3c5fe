// Mutants that a judge misses, and why that is so.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
#define SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H

#include <set>
#include <string>

namespace selvedge::testing {

/// Mutants by "case: site: fault".
using Names = std::set<std::string>;

/// What escapes: a mutant every judge, a deletion execution or the verifiers.
struct Missed {
  Names byAll, inExecution, byVerifiers;
};

inline const Missed missedOnTile = {};
inline const Missed missedGuards = {};
inline const Missed missedInSeq = {};

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
