// Online softmax by speculation on the maximum.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

static constexpr float log2e = 1.4426950408889634f, ln2 = 0.6931471805599453f,
                       infinity = std::numeric_limits<float>::infinity();

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
  // A maximum without scores is -inf as an exponent of 2 as well.
  ValueRange inits = plan.loops.front().getInitArgs();
  return isSplat(inits[step.sum], 0) && isSplat(inits[step.max], -infinity);
}

namespace {

/// Emits operations of a step with the types of one warpgroup.
struct Rows {
  OpBuilder &b;
  Location loc;
  Type full, row;

  Value f32(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value splat(Value scalar, Type type) {
    return SplatOp::create(b, loc, type, scalar);
  }
  Value spread(Value perRow) {
    return BroadcastOp::create(b, loc, full, perRow);
  }
};

} // namespace

/// The scores as exponents of 2, less a shift per row where one is given: a
/// factor of all scores and that of the exponent are one, and absent scores
/// stay -inf.
Value RoleKernel::emitExponents(const OnlineSoftmax &step, scf::ForOp loop,
                                IRMapping &mapping, Value shift) {
  Rows rows{b, loc, convert(step.weights.getType()),
            convert(step.newMax.getType())};
  Value scores = step.scores, presence, factor = rows.f32(log2e);
  Location mask = scores.getLoc();
  if (auto select = scores.getDefiningOp<arith::SelectOp>())
    if (isSplat(select.getFalseValue(), -infinity)) {
      presence = mapping.lookup(select.getCondition());
      scores = select.getTrueValue();
    }
  if (auto scaled = scores.getDefiningOp<arith::MulFOp>())
    if (auto by = scaled.getRhs().getDefiningOp<SplatOp>();
        by && loop.isDefinedOutsideOfLoop(by.getValue())) {
      scores = scaled.getLhs();
      factor =
          arith::MulFOp::create(b, loc, mapping.lookup(by.getValue()), factor);
    }
  Value source = mapping.lookup(scores),
        factors = rows.splat(factor, rows.full);
  Value exponent =
      shift ? math::FmaOp::create(b, loc, source, factors, rows.spread(shift))
                  .getResult()
            : arith::MulFOp::create(b, loc, source, factors).getResult();
  if (!presence)
    return exponent;
  Value absent = rows.splat(rows.f32(-infinity), rows.full);
  return arith::SelectOp::create(b, mask, presence, exponent, absent);
}

/// The maximum as the program knows it.
Value RoleKernel::naturalMax(Value max) {
  Rows rows{b, loc, {}, max.getType()};
  return arith::MulFOp::create(b, loc, max,
                               rows.splat(rows.f32(ln2), rows.row));
}

/// The step as the program has it, except that exponents and the maximum are
/// those of 2 and each thread keeps its part of the sum.
void RoleKernel::emitExactSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                                  IRMapping &mapping) {
  Rows rows{b, loc, convert(step.weights.getType()),
            convert(step.newMax.getType())};
  Value before = mapping.lookup(loop.getRegionIterArg(step.max));
  Value exponent = emitExponents(step, loop, mapping, /*shift=*/{});
  Value top =
      ReduceOp::create(b, loc, rows.row, tile::Combine::Max, exponent,
                       step.over, presenceOf(step.maxPresence, mapping));
  Value max = arith::MaximumFOp::create(b, loc, before, top);
  // A row without scores has no maximum to refer to.
  Value none = rows.splat(rows.f32(-infinity), rows.row);
  Value isEmpty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, max, none);
  Value reference =
      arith::SelectOp::create(b, step.reference.getLoc(), isEmpty,
                              rows.splat(rows.f32(0), rows.row), max);
  Value weights = math::Exp2Op::create(
      b, loc, arith::SubFOp::create(b, loc, exponent, rows.spread(reference)));
  Value alpha = math::Exp2Op::create(
      b, loc, arith::SubFOp::create(b, loc, before, reference));
  Value partial =
      FoldOp::create(b, loc, partialType, tile::Combine::Add, weights,
                     step.over, presenceOf(step.sumPresence, mapping));
  Value kept = arith::MulFOp::create(
      b, loc, mapping.lookup(loop.getRegionIterArg(step.sum)),
      BroadcastOp::create(b, loc, partialType, alpha));
  mapping.map(step.newMax, max);
  mapping.map(step.weights, weights);
  mapping.map(step.newSum, arith::AddFOp::create(b, loc, kept, partial));
  for (auto [index, acc] : llvm::zip_equal(step.accs, step.newAccs)) {
    Type type = convert(acc.getType());
    mapping.map(acc, arith::MulFOp::create(
                         b, loc, mapping.lookup(loop.getRegionIterArg(index)),
                         BroadcastOp::create(b, loc, type, alpha)));
  }
  for (Operation *user : step.weights.getUsers())
    if (isa<ConvertOp>(user))
      cloneConverted(*user, mapping);
}

/// The place of the test whether a step's weights may be used, which stands for
/// the guards of the exact step. Of the kernel `main` it is
/// `main.speculation0`.
static Location speculationLoc(const OnlineSoftmax &step) {
  std::optional<tile::SafetyNote> note = tile::noteOf(step.reference.getLoc());
  if (!note)
    return step.weights.getLoc();
  StringRef kernel = StringRef(note->id).rsplit('.').first;
  return tile::withNote(
      tile::withoutNote(step.weights.getLoc()),
      {(kernel + ".speculation0").str(), "guard", "speculated maximum",
       "weights are taken against the maximum of the steps before; where a row "
       "has none yet the exponents are NaN, where it grew too far a sum passes "
       "the limit: then a warp takes the exact step"});
}

/// Weights against the maximum of the steps before. They are exact weights for
/// that reference, whatever the maximum has become, as long as no weight grows
/// past the limit: then, or if there was no maximum (the exponents are +inf or
/// NaN), some warps take the exact step.
void RoleKernel::emitSoftmax(const OnlineSoftmax &step, scf::ForOp loop,
                             IRMapping &mapping) {
  Rows rows{b, loc, convert(step.weights.getType()),
            convert(step.newMax.getType())};
  Value max = mapping.lookup(loop.getRegionIterArg(step.max)),
        sum = mapping.lookup(loop.getRegionIterArg(step.sum));
  Value shift = arith::NegFOp::create(b, loc, max);
  Value weights =
      math::Exp2Op::create(b, loc, emitExponents(step, loop, mapping, shift));
  Value partial =
      FoldOp::create(b, loc, partialType, tile::Combine::Add, weights,
                     step.over, presenceOf(step.sumPresence, mapping));
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
                                    rows.splat(rows.f32(limit), partialType));
  auto branch = scf::IfOp::create(
      b, loc, ValueRange(results).getTypes(),
      AnyOp::create(b, speculationLoc(step), b.getI1Type(), over),
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
