// The iterations of each kernel, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_KERNELPICTURES_H
#define SELVEDGE_COMPILER_EXPLAIN_KERNELPICTURES_H

#include "compiler/Explain/Explanation.h"
#include "dialect/Tile/Tile.h"

#include <map>

namespace selvedge::explain {

/// Per kernel of `program`: the lanes of its masks, and the steps of its loops
/// as `bound` has them, the same program with its sizes and the parts of its
/// loops. The masks are those of `explanation`, which has its pictures.
std::vector<KernelPictures>
drawKernels(tile::ProgramOp program, tile::ProgramOp bound,
            const std::map<std::string, mlir::DictionaryAttr> &sizes,
            const Explanation &explanation);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_KERNELPICTURES_H
