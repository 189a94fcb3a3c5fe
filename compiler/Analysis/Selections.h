// Integers from memory that select elements of tensors.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_SELECTIONS_H
#define SELVEDGE_COMPILER_ANALYSIS_SELECTIONS_H

#include "dialect/Tile/Tile.h"

namespace selvedge::analysis {

/// Elements `x` of an integer tensor are divided by `divisor`, multiplied by
/// `factor`, what else is added, and the result is an index of a dimension: of
/// a page table, say, or of a list of blocks.
struct Selection {
  mlir::StringAttr tensor;
  int64_t factor = 1, divisor = 1;
  /// A function of the program's dims.
  mlir::AffineExpr extent;
};

/// All of a program that the front end has built.
llvm::SmallVector<Selection> findSelections(tile::ProgramOp program);

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_SELECTIONS_H
