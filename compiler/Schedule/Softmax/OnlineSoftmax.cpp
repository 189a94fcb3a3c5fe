// One step of an online softmax, found in the arithmetic of a loop.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

bool isSplat(Value value, double expected) {
  FloatAttr number;
  if (auto splat = value.getDefiningOp<SplatOp>())
    return matchPattern(splat.getValue(), m_Constant(&number)) &&
           number.getValue().isExactlyValue(number.getType().isF32()
                                                ? static_cast<float>(expected)
                                                : expected);
  return false;
}

namespace {

class Finder {
public:
  explicit Finder(scf::ForOp loop) : loop(loop) {}

  std::optional<OnlineSoftmax> run() {
    for (auto exp : loop.getBody()->getOps<math::Exp2Op>()) {
      // A scalar has none.
      LayoutAttr layout = layoutOf(exp.getType());
      if (layout && layout.getAxes().size() == 2 && isStep(exp))
        return step;
    }
    return std::nullopt;
  }

private:
  /// Whether the weights of a step are computed here.
  bool isStep(math::Exp2Op exp) {
    step = {};
    Value ref;
    if (!matchExponent(exp, step.scores, ref) || !matchReference(ref))
      return false;
    step.weights = exp;
    auto alpha = matchAlpha(ref);
    return alpha && matchSum(alpha) && matchAccumulators(alpha) && isClosed();
  }

  template <typename Op>
  Op take(Value value) {
    auto op = value ? value.getDefiningOp<Op>() : Op();
    if (op && op->getBlock() != loop.getBody())
      return {};
    if (op)
      step.ops.insert(op);
    return op;
  }

  /// exp2((x - ref) * log2(e)), `ref` spread over x if need be.
  bool matchExponent(math::Exp2Op exp, Value &x, Value &ref) {
    step.ops.insert(exp);
    auto scaled = take<arith::MulFOp>(exp.getOperand());
    if (!scaled || !isSplat(scaled.getRhs(), 1.4426950408889634f))
      return false;
    auto difference = take<arith::SubFOp>(scaled.getLhs());
    if (!difference)
      return false;
    x = difference.getLhs();
    ref = difference.getRhs();
    if (auto spread = take<BroadcastOp>(ref))
      ref = spread.getSource();
    return true;
  }

  std::optional<unsigned> carriedIndex(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBody() ||
        argument.getArgNumber() == 0)
      return std::nullopt;
    return argument.getArgNumber() - 1;
  }

  bool yields(Value value, unsigned index) {
    return loop.getBody()->getTerminator()->getOperand(index) == value;
  }

  bool matchReference(Value ref) {
    auto select = take<arith::SelectOp>(ref);
    if (!select || !isSplat(select.getTrueValue(), 0))
      return false;
    auto isEmpty = take<arith::CmpFOp>(select.getCondition());
    auto newMax = take<arith::MaximumFOp>(select.getFalseValue());
    if (!isEmpty || !newMax ||
        isEmpty.getPredicate() != arith::CmpFPredicate::OEQ ||
        isEmpty.getLhs() != newMax.getResult() ||
        !isSplat(isEmpty.getRhs(), -std::numeric_limits<double>::infinity()))
      return false;
    auto top = take<ReduceOp>(newMax.getRhs());
    std::optional<unsigned> max = carriedIndex(newMax.getLhs());
    if (!top || !max || top.getKind() != tile::Combine::Max ||
        top.getSource() != step.scores || !yields(newMax, *max))
      return false;
    step.max = *max;
    step.newMax = newMax;
    step.reference = select;
    step.over = top.getOverAttr();
    step.maxPresence = top.getPresence();
    return true;
  }

  /// The factor from the reference before to the one of this step.
  Value matchAlpha(Value ref) {
    for (Operation *user : ref.getUsers())
      for (Operation *scaled : user->getUsers())
        for (Operation *exp : scaled->getUsers()) {
          Value x, sameRef;
          if (exp == step.weights.getDefiningOp() || !isa<math::Exp2Op>(exp) ||
              !matchExponent(cast<math::Exp2Op>(exp), x, sameRef))
            continue;
          if (sameRef == ref && x == loop.getRegionIterArg(step.max))
            return exp->getResult(0);
        }
    return {};
  }

  bool matchSum(Value alpha) {
    for (Operation *user : alpha.getUsers()) {
      auto kept = dyn_cast<arith::MulFOp>(user);
      std::optional<unsigned> sum =
          kept ? carriedIndex(kept.getLhs()) : std::nullopt;
      if (!sum || kept.getRhs() != alpha || !kept->hasOneUse())
        continue;
      auto added = dyn_cast<arith::AddFOp>(*kept->user_begin());
      if (!added || added.getLhs() != kept.getResult() || !yields(added, *sum))
        continue;
      auto reduce = take<ReduceOp>(added.getRhs());
      if (!reduce || reduce.getKind() != tile::Combine::Add ||
          reduce.getSource() != step.weights ||
          reduce.getOverAttr() != step.over)
        return false;
      step.ops.insert(kept);
      step.ops.insert(added);
      step.sum = *sum;
      step.sumPresence = reduce.getPresence();
      step.newSum = added;
      return true;
    }
    return false;
  }

  bool matchAccumulators(Value alpha) {
    for (Operation *user : alpha.getUsers()) {
      auto spread = dyn_cast<BroadcastOp>(user);
      if (!spread)
        continue;
      step.ops.insert(spread);
      for (Operation *inner : spread->getUsers()) {
        auto scaled = dyn_cast<arith::MulFOp>(inner);
        std::optional<unsigned> acc =
            scaled ? carriedIndex(scaled.getLhs()) : std::nullopt;
        if (!acc || scaled.getRhs() != spread.getResult())
          return false;
        step.ops.insert(scaled);
        step.accs.push_back(*acc);
        step.newAccs.push_back(scaled);
      }
    }
    return true;
  }

  /// Whether only results of the step have users outside of it, and carried
  /// values of the step none.
  bool isClosed() {
    llvm::SmallPtrSet<Value, 8> results{step.weights, step.newMax, step.newSum};
    results.insert(step.newAccs.begin(), step.newAccs.end());
    auto isInside = [&](Operation *user) { return step.ops.contains(user); };
    for (Operation *op : step.ops)
      for (Value result : op->getResults())
        if (!results.contains(result) &&
            !llvm::all_of(result.getUsers(), isInside))
          return false;
    SmallVector<unsigned> carried(step.accs);
    carried.append({step.max, step.sum});
    return llvm::all_of(carried, [&](unsigned index) {
      return llvm::all_of(loop.getRegionIterArg(index).getUsers(), isInside);
    });
  }

  scf::ForOp loop;
  OnlineSoftmax step;
};

} // namespace

std::optional<OnlineSoftmax> findOnlineSoftmax(scf::ForOp loop) {
  return Finder(loop).run();
}

Scores scoresOf(const OnlineSoftmax &step, scf::ForOp loop) {
  Scores scores{{}, {}, step.scores};
  if (auto select = scores.rest.getDefiningOp<arith::SelectOp>())
    if (isSplat(select.getFalseValue(), -infinity)) {
      scores.condition = select.getCondition();
      scores.rest = select.getTrueValue();
    }
  if (auto scaled = scores.rest.getDefiningOp<arith::MulFOp>())
    if (auto by = scaled.getRhs().getDefiningOp<SplatOp>();
        by && loop.isDefinedOutsideOfLoop(by.getValue())) {
      scores.factor = by.getValue();
      scores.rest = scaled.getLhs();
    }
  return scores;
}

} // namespace selvedge::schedule
