// sm-fold-weights: exponents of weights by one multiplication and addition.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/SpreadVectors.h"
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
  /// What reads the normalizer, a vector, from shared memory, if something
  /// does.
  ReadOp read = {};
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
      difference, dyn_cast<arith::SelectOp>(*exp->user_begin()), {}, {}, {}};
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
  auto read = weight.normalizer.getDefiningOp<ReadOp>();
  // What lanes give to each other they have read before.
  if (read && read.getBuffer().getType().isVector() && weight.path.size() == 1)
    weight.read = read;
  return weight;
}

/// A normalizer of all steps is looked at before them. One in shared memory is
/// where its slot is named, ahead of products, or if it is not read there
/// either while the step awaits a product, if it does so behind.
void placeAt(OpBuilder &b, Weight &weight) {
  if (ReadOp read = weight.read) {
    Operation *slot = read.getBuffer().getDefiningOp(),
              *use =
                  slot->getBlock()->findAncestorOpInBlock(*weight.path.front());
    for (Operation *op = slot; op != use && !fitsBesideSums(read.getType());
         op = op->getNextNode())
      if (isa<WgmmaWaitOp>(op))
        return b.setInsertionPoint(op);
    return b.setInsertionPointAfter(slot);
  }
  auto loop = weight.difference->getParentOfType<scf::ForOp>();
  if (loop && loop.isDefinedOutsideOfLoop(weight.normalizer))
    b.setInsertionPointAfterValue(weight.normalizer);
  else
    b.setInsertionPoint(weight.path.front());
}

/// A normalizer with each of its elements in some lane of every warp.
Value testedPart(OpBuilder &b, const Weight &weight) {
  ReadOp read = weight.read;
  Type spread = read ? spreadType(read.getType()) : Type();
  return spread ? ReadOp::create(b, read.getLoc(), spread, read.getBuffer())
                      .getResult()
                : weight.normalizer;
}

/// Whether a normalizer has elements that are not of moderate size. `known` has
/// what is known of slots.
Value isRare(OpBuilder &b, Weight &weight, DenseMap<Value, Value> &known) {
  Value none, &rare = weight.read ? known[weight.read.getBuffer()] : none;
  if (rare)
    return rare;
  placeAt(b, weight);
  Location loc = weight.difference.getLoc();
  Value size = math::AbsFOp::create(b, loc, testedPart(b, weight));
  Value least = SplatOp::create(
      b, loc, size.getType(),
      arith::ConstantOp::create(b, loc, b.getF32FloatAttr(moderate)));
  Value isLarge =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, size, least);
  rare = AnyOp::create(b, loc, b.getI1Type(), isLarge);
  return rare;
}

/// One tile of weights. A normalizer of moderate size makes the guard needless:
/// a score of -inf has the exponent -inf. No product or difference overflows
/// then that does not overflow in the program.
void fold(Weight weight, DenseMap<Value, Value> &known) {
  OpBuilder b(weight.difference);
  Location loc = weight.difference.getLoc();
  auto splat = [&](Type type, float value) -> Value {
    return SplatOp::create(
        b, loc, type,
        arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)));
  };
  Value rare = isRare(b, weight, known);
  auto scaled = [&](Value normalizer) -> Value {
    return arith::MulFOp::create(b, loc, normalizer,
                                 splat(normalizer.getType(), -log2e));
  };
  // What does not fit beside sums reaches the scores' lanes where it is needed.
  bool isMoved = weight.path.size() > 1,
       isLate = (isMoved && !fitsBesideSums(
                                weight.path.front()->getResult(0).getType())) ||
                (weight.read && !fitsBesideSums(weight.read.getType()));
  if (weight.read)
    b.setInsertionPointAfterValue(weight.normalizer);
  Value exponent = isLate && weight.read ? Value() : scaled(weight.normalizer);
  auto followPath = [&] {
    if (!exponent)
      exponent = scaled(b.clone(*weight.read)->getResult(0));
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
  if (auto product = scores.getDefiningOp<arith::MulFOp>())
    if (auto by = product.getRhs().getDefiningOp<SplatOp>()) {
      scores = product.getLhs();
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
  Block *rareBlock = branch.thenBlock();
  if (isLate && weight.read &&
      llvm::all_of(weight.read->getUsers(), [&](Operation *user) {
        return rareBlock->findAncestorOpInBlock(*user) != nullptr;
      }))
    weight.read->moveBefore(rareBlock, rareBlock->begin());
}

struct SmFoldWeightsPass : impl::SmFoldWeightsBase<SmFoldWeightsPass> {
  void runOnOperation() override {
    SmallVector<Weight> weights;
    getOperation()->walk([&](math::ExpOp exp) {
      if (auto weight = weightOf(exp))
        weights.push_back(*weight);
    });
    DenseMap<Value, Value> known;
    for (const Weight &weight : weights)
      fold(weight, known);
  }
};

} // namespace
} // namespace selvedge::schedule
