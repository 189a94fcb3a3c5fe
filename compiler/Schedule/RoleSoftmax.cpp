// Online softmax by speculation on the maximum.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Per thread, the sum of a step's weights up to which the reference of the
/// steps before serves: beyond it weights could leave the range of the type
/// that they are narrowed to.
static double speculationLimit(Type narrowed) {
  return narrowed.isF16() ? 0x1p15 : 0x1p40;
}

/// Speculation needs the same step in every loop, sums that start at zero, and
/// weights that are only narrowed.
bool RoleKernel::findSoftmax() {
  for (scf::ForOp loop : plan.loops) {
    std::optional<OnlineSoftmax> found = findOnlineSoftmax(loop);
    if (!found)
      return false;
    for (Operation *user : found->weights.getUsers())
      if (!found->ops.contains(user) && !isa<ConvertOp>(user))
        return false;
    OnlineSoftmax &first =
        softmax.try_emplace(plan.loops.front(), *found).first->second;
    if (first.max != found->max || first.sum != found->sum ||
        first.accs != found->accs || first.over != found->over)
      return false;
    softmax[loop] = *found;
  }
  const OnlineSoftmax &step = softmax[plan.loops.front()];
  auto type = cast<RankedTensorType>(convert(step.weights.getType()));
  DistAttr dist = foldedDist(distOf(type), step.over);
  SmallVector<int64_t> shape = llvm::map_to_vector(
      dist.getAxes(), [](AxisDistAttr axis) { return axis.getSize(); });
  partialType = RankedTensorType::get(shape, type.getElementType(), dist);
  return isZero(plan.loops.front().getInitArgs()[step.sum]);
}

/// All operations of the step as the program has them, except that each thread
/// keeps its part of the sum.
void RoleKernel::emitExactSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                                  IRMapping &mapping) {
  Value alpha, partial;
  for (Operation &op : *loop.getBody()) {
    if (!step.ops.contains(&op) || &op == step.newSum.getDefiningOp())
      continue;
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce && reduce.getKind() == tile::Combine::Add) {
      partial = FoldOp::create(b, loc, partialType, tile::Combine::Add,
                               mapping.lookup(reduce.getSource()), step.over,
                               presenceOf(reduce.getPresence(), mapping));
    } else if (op.getNumResults() == 1 &&
               &op ==
                   step.newSum.getDefiningOp()->getOperand(0).getDefiningOp()) {
      alpha = mapping.lookup(op.getOperand(1));
    } else {
      if (reduce)
        for (auto [p, emitted] :
             llvm::zip_equal(reduce.getPresence(),
                             presenceOf(reduce.getPresence(), mapping)))
          mapping.map(p, emitted);
      cloneConverted(op, mapping);
    }
  }
  Value kept = arith::MulFOp::create(
      b, loc, mapping.lookup(loop.getRegionIterArg(step.sum)),
      BroadcastOp::create(b, loc, partialType, alpha));
  mapping.map(step.newSum, arith::AddFOp::create(b, loc, kept, partial));
  for (Operation *user : step.weights.getUsers())
    if (isa<ConvertOp>(user))
      cloneConverted(*user, mapping);
}

/// Weights against the maximum of the steps before. They are exact weights for
/// that reference, whatever the maximum has become, as long as no weight grows
/// past the limit: then, or if there was no maximum (the exponents are +inf or
/// NaN), some warps take the exact step.
void RoleKernel::emitSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                             IRMapping &mapping) {
  constexpr float log2e = 1.4426950408889634f;
  Type full = convert(step.weights.getType()),
       row = convert(step.newMax.getType());
  auto splat = [&](Value scalar, Type type) -> Value {
    return SplatOp::create(b, loc, type, scalar);
  };
  auto f32 = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  // A factor of all scores and that of the exponent are one.
  Value source = step.scores, factor = f32(log2e);
  if (auto scaled = step.scores.getDefiningOp<arith::MulFOp>())
    if (auto by = scaled.getRhs().getDefiningOp<SplatOp>();
        by && loop.isDefinedOutsideOfLoop(by.getValue())) {
      source = scaled.getLhs();
      factor =
          arith::MulFOp::create(b, loc, mapping.lookup(by.getValue()), factor);
    }
  Value max = mapping.lookup(loop.getRegionIterArg(step.max)),
        sum = mapping.lookup(loop.getRegionIterArg(step.sum));
  Value shift = arith::NegFOp::create(
      b, loc, arith::MulFOp::create(b, loc, max, splat(f32(log2e), row)));
  Value exponent =
      math::FmaOp::create(b, loc, mapping.lookup(source), splat(factor, full),
                          BroadcastOp::create(b, loc, full, shift));
  Value weights = math::Exp2Op::create(b, loc, exponent);
  SmallVector<Value> presence;
  for (Operation *op : step.ops)
    if (auto reduce = dyn_cast<ReduceOp>(op);
        reduce && reduce.getKind() == tile::Combine::Add)
      presence = presenceOf(reduce.getPresence(), mapping);
  Value partial = FoldOp::create(b, loc, partialType, tile::Combine::Add,
                                 weights, step.over, presence);
  SmallVector<Value> results{max, arith::AddFOp::create(b, loc, sum, partial)};
  SmallVector<Value> sources{step.newMax, step.newSum};
  for (auto [index, acc] : llvm::zip_equal(step.accs, step.newAccs)) {
    results.push_back(mapping.lookup(loop.getRegionIterArg(index)));
    sources.push_back(acc);
  }
  double limit = speculationLimit(b.getBF16Type());
  IRMapping fast = mapping;
  fast.map(step.weights, weights);
  for (Operation *user : step.weights.getUsers())
    if (isa<ConvertOp>(user)) {
      results.push_back(cloneConverted(*user, fast)->getResult(0));
      sources.push_back(user->getResult(0));
      limit = std::min(limit, speculationLimit(getElementTypeOrSelf(
                                  user->getResult(0).getType())));
    }
  auto over = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, partial,
                                    splat(f32(limit), partialType));
  auto branch = scf::IfOp::create(b, loc, ValueRange(results).getTypes(),
                                  AnyOp::create(b, loc, b.getI1Type(), over),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping slow = mapping;
  emitExactSoftmax(step, loop, slow);
  scf::YieldOp::create(b, loc, llvm::map_to_vector(sources, [&](Value v) {
                         return slow.lookup(v);
                       }));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, results);
  for (auto [from, to] : llvm::zip_equal(sources, branch.getResults()))
    mapping.map(from, to);
}

} // namespace selvedge::schedule
