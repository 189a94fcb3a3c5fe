// Proof that accesses stay inside their tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "dialect/Tile/AffineWords.h"

namespace selvedge::verify {

using namespace mlir;

IndexValues AccessBounds::seeded(SmallVectorImpl<Polynomial> &dimValues) {
  IndexValues values;
  seedSignature(dims, tensors, values, dimValues);
  seed(values, dimValues);
  return values;
}

AccessBounds::Place &AccessBounds::placeOf(Operation *op) {
  if (auto it = places.find(op->getBlock()); it != places.end())
    return it->second;
  Place place;
  Operation *outer = op->getParentOp();
  if (outer->getBlock() && !outer->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    place = placeOf(outer);
    if (auto loop = dyn_cast<scf::ForOp>(outer)) {
      place.values.of(loop.getInductionVar());
      // check(scf::ForOp) proves that no loop begins below 0.
      place.values.collectPositive(loop.getUpperBound(), place.conditions);
    }
    if (auto branch = dyn_cast<scf::IfOp>(outer);
        branch && op->getBlock() == branch.thenBlock())
      place.values.collect(branch.getCondition(), place.conditions);
  } else {
    place.values = seeded(place.dims);
  }
  return places.emplace(op->getBlock(), std::move(place)).first->second;
}

LogicalResult AccessBounds::check(const TensorAccess &access) {
  // What is computed once for a place is there for its other accesses.
  auto &[values, dimValues, around] = placeOf(access.op);
  SmallVector<Polynomial> conditions(around);
  bool isThere = !access.tensor.getIsOptional();
  for (Value p : access.presence) {
    values.collect(p, conditions);
    conjuncts(p, [&](Value part) {
      Operation *def = part.getDefiningOp();
      isThere |= isa_and_nonnull<tile::IsPresentOp, sm::IsPresentOp>(def) &&
                 def->getOperand(0) == access.handle;
    });
  }
  StringRef name = access.tensor.getName();
  if (!isThere)
    return access.op->emitOpError("expects a presence that tests whether the "
                                  "optional tensor '")
           << name << "' was passed";
  // The runtime refuses larger extents of what is passed.
  if (access.tensor.getIsOptional())
    for (AffineExpr extent : access.tensor.getShape().getResults())
      if (!isa<AffineSymbolExpr, AffineConstantExpr>(extent))
        conditions.push_back(maxExtent - values.of(extent, dimValues));
  for (auto [d, index, extent] :
       llvm::enumerate(access.indices, access.tensor.getShape().getResults())) {
    Polynomial p = values.of(index);
    auto holds = [&](const Polynomial &goal) {
      return values.isNonNegativeByAny(goal, conditions);
    };
    auto refuse = [&](const Twine &bound) {
      InFlightDiagnostic diag =
          access.op->emitOpError("expects index ")
          << d << " of tensor '" << name << "' to be provably " << bound
          << " wherever the access is present; that bound is missing";
      diag.attachNote(index.getLoc()) << "the index is computed here";
      if (access.describe)
        access.describe(diag);
      return diag;
    };
    if (!holds(p))
      return refuse("at least 0");
    if (!holds(values.of(extent, dimValues) - p - 1))
      return refuse("below " + tile::wordsOf(extent, dims));
  }
  return success();
}

LogicalResult AccessBounds::check(scf::ForOp loop) {
  auto &[values, dimValues, conditions] = placeOf(loop);
  if (loop.getUnsignedCmp())
    return loop.emitOpError("expects a signed comparison of its bounds");
  if (!values.isNonNegative(values.of(loop.getStep()) - 1, conditions))
    return loop.emitOpError("expects a step of at least 1");
  Polynomial lower = values.of(loop.getLowerBound()),
             upper = values.of(loop.getUpperBound());
  if (!values.isNonNegativeByCases(lower, conditions) ||
      !values.isNonNegativeByCases(maxExtent - upper, conditions))
    return loop.emitOpError("expects a lower bound of at least 0 and an upper "
                            "bound of at most ")
           << maxExtent << ", so that the loop ends whatever memory holds";
  return success();
}

} // namespace selvedge::verify
