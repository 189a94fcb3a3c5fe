// Integers that are multiples of others.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/Multiples.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::analysis {

using namespace mlir;
using namespace selvedge::tile;

bool isMultipleOf(Value value, int64_t factor) {
  if (factor == 1)
    return true;
  if (Operation *def = value.getDefiningOp()) {
    if (auto c = dyn_cast<arith::ConstantIntOp>(def))
      return c.value() % factor == 0;
    if (isa<arith::MulIOp>(def))
      return isMultipleOf(def->getOperand(0), factor) ||
             isMultipleOf(def->getOperand(1), factor);
    if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(def))
      return isMultipleOf(def->getOperand(0), factor) &&
             isMultipleOf(def->getOperand(1), factor);
    // Narrowing keeps powers of two, which vectors are.
    if (isa<arith::TruncIOp, arith::ExtSIOp>(def))
      return isMultipleOf(def->getOperand(0), factor);
    return false;
  }
  auto argument = cast<BlockArgument>(value);
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
    return argument == loop.getInductionVar() &&
           isMultipleOf(loop.getLowerBound(), factor) &&
           isMultipleOf(loop.getStep(), factor);
  if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp())) {
    unsigned shared = kernel.getProgram().getNumSharedArgs();
    if (argument.getArgNumber() < shared)
      return false;
    auto iter =
        cast<IterAttr>(kernel.getRanges()[argument.getArgNumber() - shared]);
    return iter.getBlock() &&
           cast<IntegerAttr>(kernel.getSizesAttr().get(iter.getName()))
                       .getInt() %
                   factor ==
               0;
  }
  return false;
}

} // namespace selvedge::analysis
