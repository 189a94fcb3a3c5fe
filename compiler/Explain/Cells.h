// The cells of pictures as one map of lanes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_CELLS_H
#define SELVEDGE_COMPILER_EXPLAIN_CELLS_H

#include "compiler/Explain/Explanation.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace selvedge::explain {

/// Whether a lane of this state is used.
bool isPresent(const std::string &state);

/// The state of a lane that cells cover.
const std::string &stateAt(const std::vector<Cell> &cells, int64_t x,
                           int64_t y);

/// The cells of lanes whose states are `choose`d from those in `a` and `b`,
/// which cover the same lanes.
std::vector<Cell>
combine(const std::vector<Cell> &a, const std::vector<Cell> &b,
        llvm::function_ref<const std::string &(const std::string &,
                                               const std::string &)>
            choose);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_CELLS_H
