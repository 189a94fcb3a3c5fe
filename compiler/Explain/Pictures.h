// Tiles over tensors, drawn at sample sizes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_PICTURES_H
#define SELVEDGE_COMPILER_EXPLAIN_PICTURES_H

#include "compiler/Explain/Explanation.h"
#include "dialect/Tile/Tile.h"

#include <map>

namespace selvedge::explain {

/// One picture per record whose operation has tiles; `operations` are those of
/// the records in `program`.
std::vector<Picture>
drawPictures(tile::ProgramOp program,
             const std::map<std::string, mlir::DictionaryAttr> &sizes,
             const std::map<std::string, mlir::Operation *> &operations,
             const Explanation &explanation);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_PICTURES_H
