// Which kernels write what other kernels of the op read.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_EDGES_H
#define SELVEDGE_COMPILER_EXPLAIN_EDGES_H

#include "compiler/Explain/Explanation.h"
#include "dialect/Tile/Tile.h"

#include <map>

namespace selvedge::explain {

/// Gives each record of a load, and of a store that adds, the stores of kernels
/// before its own to the same tensor. `operations` are those of the records.
void findWriters(tile::ProgramOp program,
                 const std::map<std::string, mlir::Operation *> &operations,
                 Explanation &explanation);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_EDGES_H
