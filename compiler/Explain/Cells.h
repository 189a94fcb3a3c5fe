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

/// The lanes of `a` with their states, but for those whose state in `b`
/// `replaces` the one in `a`. Both cover the same lanes.
std::vector<Cell>
combine(const std::vector<Cell> &a, const std::vector<Cell> &b,
        llvm::function_ref<bool(const std::string &, const std::string &)>
            replaces);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_CELLS_H
