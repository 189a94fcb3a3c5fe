// Mutants that a judge misses, and why that is so.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
#define SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H

#include <set>
#include <string>

namespace selvedge::testing {

/// Mutants by "case: site: fault".
using Names = std::set<std::string>;

/// Deletions on tile that change no result.
inline const Names harmlessDeletions = {
    // The scores of keys past kv_len are masked, whatever the keys hold.
    "dense: load of k: predicate 2 deleted",
    "causal: load of k: predicate 2 deleted",
    "gemma: load of k: predicate 2 deleted",
    // The store in the loop covers the output, which the pass cannot tell.
    "softmax: kernel init_y: deleted",
};

/// Mutants on tile that neither the verifier nor execution notices.
inline const Names harmless = {
    // The other operand of the product is 0 in these lanes.
    "dense: fill of q: 1",
    "dense: fill of k: 1",
    "dense: fill of v: 1",
    "causal: fill of q: 1",
    "causal: fill of k: 1",
    "causal: fill of v: 1",
    "gemma: fill of q: 1",
    "gemma: fill of k: 1",
    "gemma: fill of v: 1",
    "matmul: fill of a: 1",
    "matmul: fill of b: 1",
    // As above.
    "dense: load of k: predicate 2 deleted",
    "causal: load of k: predicate 2 deleted",
    "gemma: load of k: predicate 2 deleted",
    "softmax: kernel init_y: deleted",
    "softmax: store of y: predicate 0 -1",
};

/// Deletions that V1 accepts: it proves pad states, not that presence keeps
/// accesses inside of tensors nor that outputs are covered.
inline const Names unproven = {
    "dense: load of q: predicate 0 deleted",
    "dense: load of kv_len: predicate 0 deleted",
    "dense: load of k: predicate 0 deleted",
    "dense: load of k: predicate 2 deleted",
    "dense: load of v: predicate 1 deleted",
    "causal: load of q: predicate 0 deleted",
    "causal: load of kv_len: predicate 0 deleted",
    "causal: load of k: predicate 0 deleted",
    "causal: load of k: predicate 2 deleted",
    "causal: load of v: predicate 1 deleted",
    "gemma: load of q: predicate 0 deleted",
    "gemma: load of kv_len: predicate 0 deleted",
    "gemma: load of k: predicate 0 deleted",
    "gemma: load of k: predicate 2 deleted",
    "gemma: load of v: predicate 1 deleted",
    "softmax: load of x: predicate 0 deleted",
    "softmax: load of x: predicate 1 deleted",
    "softmax: load of x #2: predicate 0 deleted",
    "softmax: load of x #2: predicate 1 deleted",
    "softmax: store of y: predicate 0 deleted",
    "softmax: kernel init_y: deleted",
    "matmul: load of a: predicate 0 deleted",
    "matmul: load of b: predicate 1 deleted",
    "partial: load of x: predicate 0 deleted",
    "partial: load of x: predicate 1 deleted",
    "partial: store of top: predicate 0 deleted",
    "partial: store of total: predicate 0 deleted",
    "partial: kernel init_top: deleted",
    "partial: kernel init_total: deleted",
    // The program's own `where`, of which nothing else speaks.
    "partial: store of top #2: predicate 1 deleted",
    "partial: store of total #2: predicate 1 deleted",
};

/// Faults in softmax guards that change no result.
inline const Names harmlessGuards = {
    // log(0) + -inf is -inf already.
    "dense: guard #3: deleted",
    "causal: guard #3: deleted",
    "gemma: guard #3: deleted",
    // The row's sum is 0, and the weight selected to 0 for that.
    "softmax: guard #2: deleted",
    // A NaN in the maximum is one in the sum as well.
    "dense: guard's compare: launders NaN",
    "causal: guard's compare: launders NaN",
    "gemma: guard's compare: launders NaN",
    "softmax: guard's compare: launders NaN",
    "softmax: guard's compare #2: launders NaN",
};

/// Faults in sm.seq that change no result.
inline const Names harmlessInSeq = {
    "dense: copy of k: predicate 2 deleted",
    "dense: copy of k: predicate 2 +1",
    "causal: copy of k: predicate 2 deleted",
    "causal: copy of k: predicate 2 +1",
    "gemma: copy of k: predicate 2 deleted",
    "gemma: copy of k: predicate 2 +1",
    // The causal mask excludes keys past kv_len, as rows are inside of M.
    "causal: mask: part 1 deleted",
    "causal: mask: part 1 +1",
    "gemma: mask: part 1 deleted",
    "gemma: mask: part 1 +1",
    // Absent lanes of a load are 0 here, which is what a sum needs.
    "partial: mask: deleted",
    "partial: mask: part 0 +1",
    "softmax: store of y: predicate 0 -1",
};

} // namespace selvedge::testing

#endif // SELVEDGE_TESTS_PHYSICAL_KNOWNMUTANTS_H
