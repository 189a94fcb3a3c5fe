// The declarations of the source that an explanation speaks of.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_SOURCEBLOCKS_H
#define SELVEDGE_COMPILER_EXPLAIN_SOURCEBLOCKS_H

#include "compiler/Explain/Words.h"

namespace selvedge::explain {

/// Declarations, with their comments, in which a place of `explanation` is, and
/// the op's own; those of the explained file first.
std::vector<SourceBlock> sourceBlocks(const SourceText &source,
                                      const Explanation &explanation);

/// The first paragraph of the comment before the op, one of `blocks`.
std::string purposeOf(const std::vector<SourceBlock> &blocks,
                      const std::string &op);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_SOURCEBLOCKS_H
