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

std::optional<bool> countsPairs(RangeOp range) {
  auto place = dyn_cast<BlockArgument>(range.getStart());
  auto kernel =
      place ? dyn_cast<KernelOp>(place.getOwner()->getParentOp()) : KernelOp();
  if (!kernel)
    return std::nullopt;
  for (auto [i, iter] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>()))
    if (kernel.getCoord(i) == place)
      return countsPairs(kernel.getProgram(), iter.getExtent().getResult(0));
  return std::nullopt;
}

} // namespace selvedge::analysis
