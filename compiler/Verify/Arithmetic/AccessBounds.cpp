// Proof that accesses stay inside their tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "dialect/Tile/AffineWords.h"

#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;

IndexValues AccessBounds::seeded(SmallVectorImpl<Polynomial> &dimValues) {
  IndexValues values;
  seedSignature(dims, tensors, values, dimValues, given);
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

/// The numbers that a presence says not to be negative.
static SmallVector<Value> nonNegativeIn(ValueRange presence) {
  SmallVector<Value> numbers;
  for (Value p : presence)
    conjuncts(p, [&](Value part) {
      auto compare = part.getDefiningOp<arith::CmpIOp>();
      if (compare && compare.getPredicate() == arith::CmpIPredicate::sge &&
          matchPattern(strip(compare.getRhs()), m_Zero()))
        numbers.push_back(strip(compare.getLhs()));
    });
  return numbers;
}

std::optional<AccessBounds::Gap>
AccessBounds::gapOf(const TensorAccess &access) {
  // What is computed once for a place is there for its other accesses.
  auto &[values, dimValues, around] = placeOf(access.op);
  SmallVector<Polynomial> conditions(around);
  for (Value p : access.presence)
    values.collect(p, conditions);
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
    if (!holds(p))
      return Gap{static_cast<unsigned>(d), "at least 0"};
    if (!holds(values.of(extent, dimValues) - p - 1))
      return Gap{static_cast<unsigned>(d),
                 "below " + tile::wordsOf(extent, dims)};
  }
  return std::nullopt;
}

LogicalResult AccessBounds::check(const TensorAccess &access) {
  bool isThere = !access.tensor.getIsOptional();
  for (Value p : access.presence)
    conjuncts(p, [&](Value part) {
      Operation *def = part.getDefiningOp();
      isThere |= isa_and_nonnull<tile::IsPresentOp, sm::IsPresentOp>(def) &&
                 def->getOperand(0) == access.handle;
    });
  StringRef name = access.tensor.getName();
  if (!isThere)
    return access.op->emitOpError("expects a presence that tests whether the "
                                  "optional tensor '")
           << name << "' was passed";
  std::optional<Gap> gap = gapOf(access);
  // A quotient of a number that may be negative elsewhere is none of anything.
  if (gap)
    if (SmallVector<Value> numbers = nonNegativeIn(access.presence);
        !numbers.empty())
      gap = AccessBounds(dims, tensors, [&](IndexValues &values, auto seeds) {
              seed(values, seeds);
              constexpr int64_t most = std::numeric_limits<int32_t>::max();
              for (Value number : numbers)
                values.define(number, values.newSymbol(0, most));
            }).gapOf(access);
  if (!gap)
    return success();
  InFlightDiagnostic diag =
      access.op->emitOpError("expects index ")
      << gap->dim << " of tensor '" << name << "' to be provably " << gap->bound
      << " wherever the access is present; that bound is missing";
  diag.attachNote(access.indices[gap->dim].getLoc())
      << "the index is computed here";
  if (access.describe)
    access.describe(diag);
  return diag;
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
