// sm-fold-weights: exponents of weights by one multiplication and addition.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/SumRegisters.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Roles/RareWork.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMFOLDWEIGHTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// Normalizers below it, times log2(e), are finite by far.
constexpr float moderate = 0x1p100f;

/// exp(scores - normalizer), and 0 where a score is -inf.
struct Weight {
  arith::SubFOp difference;
  arith::SelectOp result;
  /// As it is loaded or summed, along fewer axes than the scores.
  Value normalizer;
  /// From the normalizer to the scores' lanes: a relayout perhaps, and a
  /// broadcast.
  SmallVector<Operation *, 2> path;
};

/// A normalizer without its bound from below, which changes none of moderate
/// size.
Value withoutBound(Value normalizer) {
  auto bounded = normalizer.getDefiningOp<arith::MaximumFOp>();
  auto bound = bounded ? bounded.getRhs().getDefiningOp<SplatOp>() : SplatOp();
  FloatAttr least;
  return bound && matchPattern(bound.getValue(), m_Constant(&least)) &&
                 least.getValueAsDouble() <= -moderate
             ? bounded.getLhs()
             : normalizer;
}

std::optional<Weight> weightOf(math::ExpOp exp) {
  auto difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
  if (!difference || !exp->hasOneUse())
    return {};
  Weight weight{
      difference, dyn_cast<arith::SelectOp>(*exp->user_begin()), {}, {}};
  if (!weight.result || weight.result.getFalseValue() != exp.getResult() ||
      !getElementTypeOrSelf(exp.getType()).isF32())
    return {};
  auto isSplatOf = [](Value v, auto matcher) {
    auto splat = v.getDefiningOp<SplatOp>();
    return splat && matchPattern(splat.getValue(), matcher);
  };
  auto guard = weight.result.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!guard || guard.getPredicate() != arith::CmpFPredicate::OEQ ||
      guard.getLhs() != difference.getLhs() ||
      !isSplatOf(guard.getRhs(), m_NegInfFloat()) ||
      !isSplatOf(weight.result.getTrueValue(), m_AnyZeroFloat()))
    return {};
  auto broadcast = difference.getRhs().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  weight.path = {broadcast};
  weight.normalizer = withoutBound(broadcast.getSource());
  if (auto moved = weight.normalizer.getDefiningOp<RelayoutOp>();
      moved && !moved.getScratch()) {
    weight.path.insert(weight.path.begin(), moved);
    weight.normalizer = withoutBound(moved.getSource());
  }
  return weight;
}

/// A normalizer of all steps is looked at before them.
void placeAt(OpBuilder &b, Weight &weight) {
  auto loop = weight.difference->getParentOfType<scf::ForOp>();
  if (loop && loop.isDefinedOutsideOfLoop(weight.normalizer))
    b.setInsertionPointAfterValue(weight.normalizer);
  else
    b.setInsertionPoint(weight.path.front());
}

/// One tile of weights. A normalizer of moderate size makes the guard needless:
/// a score of -inf has the exponent -inf. No product or difference overflows
/// then that does not overflow in the program.
void fold(Weight weight) {
  OpBuilder b(weight.difference);
  Location loc = weight.difference.getLoc();
  auto splat = [&](Type type, float value) -> Value {
    return SplatOp::create(
        b, loc, type,
        arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)));
  };
  placeAt(b, weight);
  Type row = weight.normalizer.getType();
  Value size = math::AbsFOp::create(b, loc, weight.normalizer);
  Value isRare = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, size,
                                       splat(row, moderate));
  Value rare = AnyOp::create(b, loc, b.getI1Type(), isRare);
  Value exponent =
      arith::MulFOp::create(b, loc, weight.normalizer, splat(row, -log2e));
  // What does not fit beside sums reaches the scores' lanes where it is needed.
  bool isMoved = weight.path.size() > 1,
       isLate = isMoved &&
                !fitsBesideSums(weight.path.front()->getResult(0).getType());
  auto followPath = [&] {
    for (Operation *op : weight.path) {
      if (!isLate)
        b.setInsertionPoint(op);
      IRMapping mapping;
      mapping.map(op->getOperand(0), exponent);
      exponent = b.clone(*op, mapping)->getResult(0);
    }
  };
  if (!isLate)
    followPath();

  b.setInsertionPoint(weight.result);
  Type type = weight.result.getType();
  auto branch = scf::IfOp::create(b, loc, type, rare, /*withElseRegion=*/true);
  Value scores = weight.difference.getLhs(), factor;
  weight.result->replaceAllUsesWith(branch);
  b.setInsertionPointToStart(branch.elseBlock());
  if (isLate)
    followPath();
  if (auto scaled = scores.getDefiningOp<arith::MulFOp>())
    if (auto by = scaled.getRhs().getDefiningOp<SplatOp>()) {
      scores = scaled.getLhs();
      Value both = arith::MulFOp::create(
          b, loc, by.getValue(),
          arith::ConstantOp::create(b, loc, b.getF32FloatAttr(log2e)));
      factor = SplatOp::create(b, loc, type, both);
    }
  if (!factor)
    factor = splat(type, log2e);
  Value weights = math::Exp2Op::create(
      b, loc, math::FmaOp::create(b, loc, scores, factor, exponent));
  scf::YieldOp::create(b, loc, weights);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, weight.result.getResult());
  weight.result->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  delayWork(branch);
}

struct SmFoldWeightsPass : impl::SmFoldWeightsBase<SmFoldWeightsPass> {
  void runOnOperation() override {
    SmallVector<Weight> weights;
    getOperation()->walk([&](math::ExpOp exp) {
      if (auto weight = weightOf(exp))
        weights.push_back(*weight);
    });
    for (const Weight &weight : weights)
      fold(weight);
  }
};

} // namespace
} // namespace selvedge::schedule
