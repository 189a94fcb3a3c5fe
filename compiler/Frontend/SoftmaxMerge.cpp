// Elaborator: parts of a softmax, and weights against a finished one.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Value Elaborator::compareWithEmpty(Location l, arith::CmpFPredicate how,
                                   Value lse) {
  double inf = std::numeric_limits<double>::infinity();
  Value empty = tb->constant(l, Builder(ctx).getF32Type(), -inf);
  return tb->create<arith::CmpFOp>(
      l, how, lse, tb->broadcast(l, empty, axesOf(lse.getType())));
}

Val Elaborator::mergedOutput(const Expr &e, ArrayRef<StringAttr> axes) {
  Val o = eval(e);
  if (o.isError())
    return o;
  bool isTile = o.is(Val::Kind::Ssa) && elementOf(o).isF32();
  if (!isTile || tb->unionOf(axesOfVal(o), axes) != tb->unionOf(axes, {})) {
    diags.error(e.loc, "expects f32 with some of the axes " + axisList(axes) +
                           " as second argument of 'merge', but got " +
                           describe(o));
    return Val::error();
  }
  return o;
}

Val Elaborator::softmaxMerge(const Expr &e, Variable &state) {
  if (e.args.size() != 4) {
    diags.error(e.loc,
                "expects three arguments of 'merge', but got " +
                    Twine(e.args.size() - 1),
                "merge(lse, o, acc): o is normalised, lse its log-sum-exp");
    return Val::error();
  }
  Val lse = scoreArgument(e, state);
  if (lse.isError())
    return lse;
  SmallVector<StringAttr> over;
  for (StringAttr axis : axesOfVal(lse))
    if (!llvm::is_contained(state.rows, axis))
      over.push_back(axis);
  if (over.size() > 1) {
    diags.error(e.args[1]->loc, "expects the rows " + axisList(state.rows) +
                                    " and at most one more axis, but got " +
                                    describe(lse));
    return Val::error();
  }
  SmallVector<Variable *> accs;
  if (!collectAccs(e, state, over.empty() ? StringAttr() : over.front(), accs,
                   /*first=*/3))
    return Val::error();
  Variable &acc = *accs.front();
  SmallVector<StringAttr> rows = axesOfVal(acc.value),
                          axes = tb->unionOf(rows, over);
  Location l = at(e.loc);
  Value isThere = compareWithEmpty(l, arith::CmpFPredicate::UNE, lse.ssa);
  Val o = mergedOutput(*e.args[2], axes);
  if (o.isError())
    return o;
  // What an empty part holds is selected away, whether it exists or not. Where
  // its lse is absent the row is, too.
  PredSet ofBoth, ofOutput;
  for (Value pred : o.preds)
    (lse.preds.contains(pred) ? ofBoth : ofOutput).add(pred);
  o.preds = joinSelected(e.loc, isThere, ofOutput, {});
  o.preds.add(ofBoth);
  auto spread = [&](Value v) { return tb->broadcast(l, v, axes); };
  if (over.empty()) {
    mergeRows(l, state, acc, lse, [&](Value weight, Value kept) {
      Value part = tb->create<arith::MulFOp>(l, spread(weight), spread(o.ssa));
      Value both = tb->create<arith::AddFOp>(l, kept, part);
      // Not `kept + 0`: an empty part changes no bit.
      return tb->create<arith::SelectOp>(l, spread(isThere), both, kept);
    });
    acc.value.preds.add(o.preds);
    return Val::of(Val::Kind::Unit);
  }
  PredSet consumed, kept;
  splitPreds(e.loc, lse.preds, over, consumed, kept);
  auto update = tb->createHere<SoftmaxUpdateOp>(
      l, lse.ssa.getType(), state.max.getType(), state.sum.getType(),
      acc.value.ssa.getType(), lse.ssa, state.max, state.sum, acc.value.ssa,
      over.front(), ValueRange(consumed));
  state.max = update.getNewMax();
  state.sum = update.getNewSum();
  state.preds.add(kept);
  PredSet ofParts, ofRows = kept;
  splitPreds(e.loc, lse.preds, over, ofParts, ofRows);
  splitPreds(e.loc, o.preds, over, ofParts, ofRows);
  Value part =
      tb->create<arith::MulFOp>(l, spread(update.getWeights()), spread(o.ssa));
  Value zero = tb->constant(l, Builder(ctx).getF32Type(), 0);
  Value there =
      tb->create<arith::SelectOp>(l, spread(isThere), part, spread(zero));
  Value sum = tb->create<ReduceOp>(
      l, acc.value.ssa.getType(), Combine::Add, there,
      ArrayAttr::get(ctx, {Attribute(over.front())}), ValueRange(ofParts));
  acc.value.ssa =
      tb->create<arith::AddFOp>(l, update.getNewAccs().front(), sum);
  acc.value.preds.add(ofRows);
  acc.value.preds.add(state.preds);
  return Val::of(Val::Kind::Unit);
}

void Elaborator::mergeRows(Location l, Variable &state, Variable &acc,
                           const Val &lse,
                           llvm::function_ref<Value(Value, Value)> add) {
  auto include = tb->createHere<SoftmaxIncludeOp>(
      l, state.max.getType(), state.sum.getType(), acc.value.ssa.getType(),
      lse.ssa, state.max, state.sum, acc.value.ssa);
  state.max = include.getNewMax();
  state.sum = include.getNewSum();
  state.preds.add(lse.preds);
  // A maximum of -inf would make the difference NaN.
  Value isEmpty =
      compareWithEmpty(l, arith::CmpFPredicate::OEQ, include.getNewMax());
  Value zero = tb->broadcast(l, tb->constant(l, Builder(ctx).getF32Type(), 0),
                             state.rows);
  Value reference =
      tb->create<arith::SelectOp>(l, isEmpty, zero, include.getNewMax());
  Value weight = tb->create<math::ExpOp>(
      l, tb->create<arith::SubFOp>(l, lse.ssa, reference));
  acc.value.ssa = add(weight, include.getNewAccs().front());
  acc.value.preds.add(state.preds);
}

/// The least score of which log2(e) times it is no f32 of -inf, a little more:
/// maxima of scores are kept as exponents of 2.
static constexpr double leastExponential = -2.3586e38;

Val Elaborator::callSoftmaxWeight(const Expr &e) {
  if (!expectArgs(e, 2, "softmax_weight(score, lse)"))
    return Val::error();
  Type f32 = Builder(ctx).getF32Type();
  Val vals[2];
  for (auto [val, arg] : llvm::zip(vals, e.args)) {
    val = eval(*arg);
    if (val.isNumber())
      val = toSsa(arg->loc, val, f32);
    if (val.isError())
      return val;
    if (!val.is(Val::Kind::Ssa) || elementOf(val) != f32) {
      diags.error(arg->loc, "expects f32 as argument of 'softmax_weight', "
                            "but got " +
                                describe(val));
      return Val::error();
    }
  }
  Location l = at(e.loc);
  Value score = vals[0].ssa, lse = vals[1].ssa;
  // Against a state without keys, whose lse is -inf, a finite score would have
  // the weight Inf: such a row has scores whose exponents of 2 are -inf.
  lse = tb->create<arith::MaximumFOp>(
      l, lse,
      tb->broadcast(l, tb->constant(l, f32, leastExponential),
                    axesOf(lse.getType())));
  tb->unify(l, score, lse);
  Value difference = tb->create<arith::SubFOp>(l, score, lse);
  Value weight = tb->create<math::ExpOp>(l, difference);
  Value zero =
      tb->broadcast(l, tb->constant(l, f32, 0), axesOf(score.getType()));
  // A row of such scores only has lse -inf, and -inf - -inf is NaN.
  Value isEmpty = compareWithEmpty(l, arith::CmpFPredicate::OEQ, score);
  PredSet preds = vals[0].preds;
  preds.add(vals[1].preds);
  return Val::ofSsa(tb->create<arith::SelectOp>(l, isEmpty, zero, weight),
                    preds);
}

} // namespace selvedge::frontend
