// sm-lazy-softmax: the maximum of an online softmax follows the scores only
// when they outgrow it.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace selvedge::schedule {

#define GEN_PASS_DEF_SMLAZYSOFTMAX
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::sm;

/// By so much exponents of 2 may exceed the reference: weights and their sums
/// stay far inside the range of every type, f16 included.
constexpr float slack = 8;

/// What exponents of 2 are a multiple of.
struct Exponents {
  Value scores;
  /// A scalar; null for log2(e) alone.
  Value factor;
};

/// A factor of all scores and that of the exponent are one. Masked scores are
/// -inf, which only a positive factor keeps: they stay as they are.
Exponents exponentsOf(const OnlineSoftmax &step, scf::ForOp loop) {
  if (auto scaled = step.scores.getDefiningOp<arith::MulFOp>())
    if (auto by = scaled.getRhs().getDefiningOp<SplatOp>();
        by && loop.isDefinedOutsideOfLoop(by.getValue()) &&
        by.getValue().getType().isF32())
      return {scaled.getLhs(), by.getValue()};
  return {step.scores, {}};
}

/// One loop.
class Rewriter {
public:
  /// State of loops before: what the program knows, and what is carried.
  using Carried = DenseMap<Value, Value>;

  Rewriter(scf::ForOp loop, const OnlineSoftmax &step, Carried &carried)
      : loop(loop), step(step), carried(carried), b(loop), loc(loop.getLoc()) {
    full = cast<RankedTensorType>(step.weights.getType());
    row = cast<RankedTensorType>(step.newMax.getType());
    LayoutAttr layout = foldedLayout(layoutOf(full), step.over);
    SmallVector<int64_t> shape = llvm::map_to_vector(
        layout.getAxes(), [](AxisLayoutAttr axis) { return axis.getSize(); });
    partial = RankedTensorType::get(shape, full.getElementType(), layout);
  }

  /// Whether there is something to rescale (else memory is what a step waits
  /// for), rows belong to one warp each, whose lanes can vote, and the state
  /// comes from such a loop or from nowhere.
  bool canRewrite() {
    if (step.accs.empty())
      return false;
    LayoutAttr layout = layoutOf(full);
    if (!llvm::all_of(layout.getAxes()[layout.indexOf(step.over)].getWarps(),
                      [](int64_t stride) { return stride == 0; }))
      return false;
    Operation *place = step.weights.getDefiningOp();
    auto isLate = [&](Value v) {
      Operation *def = v.getDefiningOp();
      return def && def->getBlock() == place->getBlock() &&
             !def->isBeforeInBlock(place);
    };
    if (llvm::any_of(step.sumPresence, isLate))
      return false;
    ValueRange inits = loop.getInitArgs();
    auto max = carried.find(inits[step.max]),
         sum = carried.find(inits[step.sum]);
    if (max != carried.end() && sum != carried.end())
      return sum->second.getType() == partial;
    return isSplat(inits[step.max], -infinity) && isSplat(inits[step.sum], 0);
  }

  void run() {
    Exponents from = exponentsOf(step, loop);
    Value factor = f32(log2e), limit = f32(slack);
    if (from.factor) {
      factor = b.createOrFold<arith::MulFOp>(loc, from.factor, factor);
      // Of another factor the largest score has not the largest exponent: NaN
      // is no limit.
      Value isPositive =
          b.createOrFold<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, factor,
                                        f32(std::numeric_limits<float>::min()));
      limit = b.createOrFold<arith::SelectOp>(
          loc, isPositive, limit, f32(std::numeric_limits<float>::quiet_NaN()));
    }
    scf::ForOp made = makeLoop();
    // Rows that do not exist vote, too: what they hold must not depend on
    // memory, and is no garbage where all copies are filled.
    made.walk([](CopyOp copy) { copy.setGarbage({}); });
    b.setInsertionPoint(step.weights.getDefiningOp());
    emitStep(made, from.scores, factor, limit);
    eraseStep();
    b.setInsertionPointAfter(made);
    handOn(made);
  }

private:
  Value f32(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value splat(Value scalar, Type type) {
    return SplatOp::create(b, loc, type, scalar);
  }
  Value spread(Value perRow, Type type) {
    return BroadcastOp::create(b, loc, type, perRow);
  }

  /// The loop with a sum per thread.
  scf::ForOp makeLoop() {
    SmallVector<Value> inits(loop.getInitArgs());
    auto carriedOf = [&](Value &init, Type type) {
      auto known = carried.find(init);
      init = known != carried.end() ? known->second
             : type                 ? splat(f32(0), type)
                                    : init;
    };
    carriedOf(inits[step.max], {});
    carriedOf(inits[step.sum], partial);
    auto made = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *body = loop.getBody(), *to = made.getBody();
    to->getOperations().splice(to->end(), body->getOperations());
    for (auto [old, argument] :
         llvm::zip_equal(body->getArguments(), to->getArguments()))
      old.replaceAllUsesWith(argument);
    return made;
  }

  /// A row without scores has no maximum to refer to.
  Value reference(Value max) {
    Value isEmpty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                          max, splat(f32(-infinity), row));
    return arith::SelectOp::create(b, step.reference.getLoc(), isEmpty,
                                   splat(f32(0), row), max);
  }

  /// Of the kernel `main` it is `main.maximum0`.
  Location voteLoc() {
    std::optional<tile::SafetyNote> note =
        tile::noteOf(step.reference.getLoc());
    if (!note)
      return loc;
    StringRef kernel = StringRef(note->id).rsplit('.').first;
    return tile::withNote(
        loc, {(kernel + ".maximum0").str(),
              "guard",
              "maximum of earlier steps",
              "weights are taken against it; where a row has none yet, or a "
              "score exceeds it by far or is NaN, a warp raises it first",
              {}});
  }

  void emitStep(scf::ForOp made, Value scores, Value factor, Value limit) {
    loc = tile::withoutNote(step.weights.getLoc());
    Value before = made.getRegionIterArg(step.max),
          sum = made.getRegionIterArg(step.sum);
    SmallVector<Value> state{before, sum};
    for (unsigned acc : step.accs)
      state.push_back(made.getRegionIterArg(acc));
    SmallVector<Value> kept(state);
    kept.append({scores, factor});
    // NaN exceeds every limit.
    Value top = arith::MulFOp::create(
        b, loc,
        FoldOp::create(b, loc, partial, tile::Combine::Max, scores, step.over,
                       step.maxPresence),
        splat(factor, partial));
    // What is near a huge maximum exceeds it.
    Value most = math::FmaOp::create(
        b, loc, math::AbsFOp::create(b, loc, before),
        splat(f32(-slack / hugeExponent), row),
        arith::AddFOp::create(b, loc, before, splat(limit, row)));
    Value grows = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, top,
                                        spread(most, partial));
    auto branch =
        scf::IfOp::create(b, loc, ValueRange(kept).getTypes(),
                          AnyOp::create(b, voteLoc(), b.getI1Type(), grows),
                          /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, raise(state, scores, factor));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, kept);
    }
    Value max = branch.getResult(0);
    scores = branch.getResults().drop_back().back();
    factor = branch.getResults().back();
    Value shift = arith::NegFOp::create(b, loc, reference(max));
    Value weights = math::Exp2Op::create(
        b, loc,
        math::FmaOp::create(b, loc, scores, splat(factor, full),
                            spread(shift, full)));
    Value added = FoldOp::create(b, loc, partial, tile::Combine::Add, weights,
                                 step.over, step.sumPresence);
    step.weights.replaceAllUsesWith(weights);
    step.newMax.replaceAllUsesWith(max);
    step.newSum.replaceAllUsesWith(
        arith::AddFOp::create(b, loc, branch.getResult(1), added));
    for (auto [acc, result] : llvm::zip_equal(
             step.newAccs, branch.getResults().slice(2, step.newAccs.size())))
      acc.replaceAllUsesWith(result);
  }

  /// The state against the maximum that includes this step's scores, and their
  /// exponents with a factor of 1: the largest one is that maximum exactly.
  SmallVector<Value> raise(ArrayRef<Value> state, Value scores, Value factor) {
    Value exponents =
        arith::MulFOp::create(b, loc, scores, splat(factor, full));
    Value top = ReduceOp::create(b, loc, row, tile::Combine::Max, exponents,
                                 step.over, step.maxPresence);
    Value max = arith::MaximumFOp::create(b, loc, state[0], top);
    Value alpha = math::Exp2Op::create(
        b, loc, arith::SubFOp::create(b, loc, state[0], reference(max)));
    SmallVector<Value> raised{max};
    for (Value v : state.drop_front())
      raised.push_back(
          arith::MulFOp::create(b, loc, v, spread(alpha, v.getType())));
    raised.append({exponents, f32(1)});
    return raised;
  }

  /// The step as it was, and the scores where only it has used them.
  void eraseStep() {
    SmallVector<Operation *> dead(step.ops.begin(), step.ops.end());
    llvm::sort(
        dead, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    Operation *scores = step.scores.getDefiningOp();
    for (Operation *op : dead)
      op->erase();
    if (scores && scores->use_empty() && isMemoryEffectFree(scores))
      scores->erase();
  }

  /// What follows the loop has the maximum and the sum of the program.
  void handOn(scf::ForOp made) {
    loc = tile::withoutNote(loop.getLoc());
    Value max = made.getResult(step.max), sum = made.getResult(step.sum);
    Value natural = arith::MulFOp::create(b, loc, max, splat(f32(ln2), row));
    Value total = ReduceOp::create(b, loc, row, tile::Combine::Add, sum,
                                   step.over, ValueRange());
    carried[natural] = max;
    carried[total] = sum;
    for (auto [i, result] : llvm::enumerate(loop.getResults()))
      result.replaceAllUsesWith(i == step.max   ? natural
                                : i == step.sum ? total
                                                : made.getResult(i));
    loop.erase();
  }

  scf::ForOp loop;
  OnlineSoftmax step;
  Carried &carried;
  OpBuilder b;
  Location loc;
  RankedTensorType full, row, partial;
};

struct SmLazySoftmaxPass : impl::SmLazySoftmaxBase<SmLazySoftmaxPass> {
  using SmLazySoftmaxBase::SmLazySoftmaxBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    // Roles have a step of their own.
    if (kernel.hasRoles() || llvm::is_contained(without, planName(kernel)))
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    Rewriter::Carried carried;
    for (scf::ForOp loop : loops) {
      std::optional<OnlineSoftmax> step = findOnlineSoftmax(loop);
      if (!step)
        continue;
      Rewriter rewriter(loop, *step, carried);
      if (rewriter.canRewrite())
        rewriter.run();
    }
    if (carried.empty())
      return;
    for (auto &[known, raw] : carried)
      if (known.use_empty())
        known.getDefiningOp()->erase();
    tile::noteDecision(
        kernel,
        {"softmax", "weights against an earlier maximum",
         "they are exact for any reference, and steps whose exponents of 2 "
         "exceed it by 8 at most need no other: nothing is rescaled there, and "
         "threads exchange nothing"});
  }
};

} // namespace
} // namespace selvedge::schedule
