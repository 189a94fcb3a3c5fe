// Which pairs of a kernel's range 32 bits count.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/CountedPairs.h"

#include "dialect/Tile/Limits.h"

namespace selvedge::analysis {

using namespace mlir;
using namespace selvedge::tile;

bool countsPairs(ProgramOp program, AffineExpr extent) {
  if (isa<AffineSymbolExpr, AffineConstantExpr>(extent) ||
      program.hasExtent(extent))
    return true;
  std::optional<AffineMap> conditions = program.getConditions();
  // A packed version is for few.
  return conditions &&
         (program.getKind() == VersionKind::Packed ||
          llvm::is_contained(conditions->getResults(), maxExtent - extent));
}

} // namespace selvedge::analysis
