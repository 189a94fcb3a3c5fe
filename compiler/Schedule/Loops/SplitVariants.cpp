// tile-split-variants: a second version of a program for any strides.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/CountedPairs.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILESPLITVARIANTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// The product of dims and constants that `value` is; null for others.
AffineExpr productOfDims(ProgramOp program, Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, value.getContext());
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    AffineExpr lhs = productOfDims(program, product.getLhs()),
               rhs = productOfDims(program, product.getRhs());
    return lhs && rhs ? lhs * rhs : AffineExpr();
  }
  auto dim = dyn_cast<BlockArgument>(value);
  return dim && isa<KernelOp>(dim.getOwner()->getParentOp()) &&
                 dim.getArgNumber() < program.getDims().size()
             ? getAffineSymbolExpr(dim.getArgNumber(), value.getContext())
             : AffineExpr();
}

/// The products of dims up to which kernels go, in their ranges and their
/// loops.
SmallVector<AffineExpr> productsOf(ProgramOp program) {
  SmallVector<AffineExpr> products;
  auto add = [&](AffineExpr extent) {
    if (extent && extent.getKind() == AffineExprKind::Mul &&
        !llvm::is_contained(products, extent))
      products.push_back(extent);
  };
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    for (auto range : kernel.getRanges().getAsRange<IterAttr>())
      add(range.getExtent().getResult(0));
    kernel.walk([&](scf::ForOp loop) {
      if (auto least = loop.getUpperBound().getDefiningOp<arith::MinSIOp>())
        for (Value end : least->getOperands())
          add(productOfDims(program, end));
    });
  }
  return products;
}

/// Where products of dims may be more than 32 bits count, since no tensor has
/// so many elements along one dimension: that they are not. Null where they
/// never are.
AffineMap productsAreCounted(ProgramOp program) {
  MLIRContext *ctx = program.getContext();
  SmallVector<AffineExpr> conditions;
  for (AffineExpr product : productsOf(program))
    if (!analysis::countsPairs(program, product))
      conditions.push_back(maxExtent - product);
  return conditions.empty()
             ? AffineMap()
             : AffineMap::get(0, program.getDims().size(), conditions, ctx);
}

struct TileSplitVariantsPass
    : impl::TileSplitVariantsBase<TileSplitVariantsPass> {
  using TileSplitVariantsBase::TileSplitVariantsBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = knownTarget(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs) {
      // For the same dims the other one has such a version.
      if (program.isForSomeDims())
        continue;
      bool useWarpgroups = false;
      for (auto kernel : program.getBody().getOps<KernelOp>()) {
        useWarpgroups |=
            usesWarpgroups(KernelLayouts(kernel, *target), *target);
      }
      if (!useWarpgroups)
        continue;
      auto universal = cast<ProgramOp>(program->clone());
      universal.makeVersion(
          program, VersionAttr::get(&getContext(), VersionKind::Universal, 0));
      getOperation().insert(std::next(program->getIterator()), universal);
      if (AffineMap conditions = productsAreCounted(program))
        program.setConditions(conditions);
    }
  }
};

} // namespace
} // namespace selvedge::schedule
