// Elaborator: the online softmax and its methods.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Val Elaborator::callSoftmax(const Expr &e) {
  if (!inKernel()) {
    diags.error(e.loc, "'online_softmax' belongs into a kernel");
    return Val::error();
  }
  auto state = std::make_unique<Variable>();
  for (const ExprPtr &arg : e.args) {
    StringAttr axis = resolveAxis(*arg, /*create=*/true);
    if (!axis)
      return Val::error();
    state->rows = tb->unionOf(state->rows, axis);
  }
  Location l = at(e.loc);
  Type f32 = Builder(ctx).getF32Type();
  double inf = std::numeric_limits<double>::infinity();
  state->max = tb->broadcast(l, tb->constant(l, f32, -inf), state->rows);
  state->sum = tb->broadcast(l, tb->constant(l, f32, 0), state->rows);
  Val v = Val::of(Val::Kind::Softmax);
  v.softmax = state.get();
  newStates.push_back(std::move(state));
  return v;
}

Val Elaborator::evalMethod(const Expr &e) {
  const Expr &object = *e.args[0];
  Variable *state =
      object.kind == Expr::Kind::Name ? find(object.name) : nullptr;
  if (!state || !state->isSoftmax()) {
    Val v = eval(object);
    if (v.is(Val::Kind::Pull) && e.name == "inputs")
      return pullInputs(e, v);
    if (!v.isError())
      diags.error(e.loc,
                  "expects a variable that holds an online softmax "
                  "before '." +
                      e.name + "'",
                  "declare it with 'var sm = online_softmax(i);'");
    return Val::error();
  }
  if (e.name == "update")
    return softmaxUpdate(e, *state);
  if (e.name == "include")
    return softmaxInclude(e, *state);
  if (e.name == "normalize" || e.name == "lse" || e.name == "weight")
    return softmaxFinish(e, *state);
  if (e.name == "merge")
    return softmaxMerge(e, *state);
  diags.error(e.loc, "an online softmax has no method '" + e.name + "'",
              didYouMean(e.name, {"update", "include", "merge", "normalize",
                                  "lse", "weight"}));
  return Val::error();
}

Val Elaborator::scoreArgument(const Expr &e, const Variable &state) {
  if (e.args.size() < 2) {
    diags.error(e.loc, "expects a score as argument of '" + e.name + "'");
    return Val::error();
  }
  Val v = eval(*e.args[1]);
  if (v.isError())
    return v;
  Type type = elementOf(v), f32 = Builder(ctx).getF32Type();
  if (!v.isNumber() && (!type || !type.isF32())) {
    diags.error(e.args[1]->loc,
                "expects f32 as argument of '" + e.name + "', but got " +
                    describe(v),
                isNarrow(type) ? "convert first: 'x as f32'" : "");
    return Val::error();
  }
  Val s = toSsa(e.args[1]->loc, v, f32);
  if (!s.isError())
    s.ssa =
        tb->broadcast(at(e.loc), s.ssa, tb->unionOf(axesOfVal(s), state.rows));
  return s;
}

bool Elaborator::collectAccs(const Expr &e, const Variable &state,
                             StringAttr over, SmallVectorImpl<Variable *> &accs,
                             size_t first) {
  for (const ExprPtr &arg : llvm::drop_begin(e.args, first)) {
    Variable *acc = arg->kind == Expr::Kind::Name ? find(arg->name) : nullptr;
    if (!acc || !acc->isMutable || !acc->value.is(Val::Kind::Ssa)) {
      diags.error(arg->loc,
                  "expects a variable as accumulator of '" + e.name + "'",
                  "declare it with 'var acc = zeros f32[...];'");
      return false;
    }
    SmallVector<StringAttr> axes = axesOfVal(acc->value);
    bool hasRows = llvm::all_of(state.rows, [&](StringAttr row) {
      return llvm::is_contained(axes, row);
    });
    if (!elementOf(acc->value).isF32() || axes.empty() || !hasRows ||
        (over && llvm::is_contained(axes, over))) {
      diags.error(arg->loc, "expects an accumulator of f32 with the rows " +
                                axisList(state.rows) +
                                (over ? " and without " + over.getValue().str()
                                      : std::string()) +
                                ", but got " + describe(acc->value));
      return false;
    }
    if (llvm::is_contained(accs, acc)) {
      diags.error(arg->loc, "expects each accumulator once, but got '" +
                                arg->name + "' twice");
      return false;
    }
    accs.push_back(acc);
  }
  return true;
}

Val Elaborator::softmaxUpdate(const Expr &e, Variable &state) {
  Val s = scoreArgument(e, state);
  if (s.isError())
    return s;
  SmallVector<StringAttr> over;
  for (StringAttr axis : axesOfVal(s))
    if (!llvm::is_contained(state.rows, axis))
      over.push_back(axis);
  if (over.size() != 1) {
    diags.error(e.args[1]->loc,
                "expects scores with the rows " + axisList(state.rows) +
                    " and one more axis, but got " + describe(s),
                "the softmax runs along the axis that is not a row");
    return Val::error();
  }
  SmallVector<Variable *> accs;
  if (!collectAccs(e, state, over.front(), accs))
    return Val::error();

  PredSet consumed, kept;
  splitPreds(e.loc, s.preds, over, consumed, kept);
  SmallVector<Value> accValues;
  SmallVector<Type> accTypes;
  for (Variable *acc : accs) {
    accValues.push_back(acc->value.ssa);
    accTypes.push_back(acc->value.ssa.getType());
  }
  auto op = tb->createHere<SoftmaxUpdateOp>(
      at(e.loc), s.ssa.getType(), state.max.getType(), state.sum.getType(),
      accTypes, s.ssa, state.max, state.sum, accValues, over.front(),
      ValueRange(consumed));
  state.max = op.getNewMax();
  state.sum = op.getNewSum();
  state.preds.add(kept);
  for (auto [acc, value] : llvm::zip(accs, op.getNewAccs())) {
    acc->value.ssa = value;
    acc->value.preds.add(state.preds);
  }
  // A weight exists where its score does and the row's state is defined.
  PredSet preds = s.preds;
  preds.add(state.preds);
  return Val::ofSsa(op.getWeights(), preds);
}

/// A score that is -inf everywhere changes no state.
static bool isNothing(Value score) {
  while (isa_and_nonnull<SplatOp, BroadcastOp>(score.getDefiningOp()))
    score = score.getDefiningOp()->getOperand(0);
  return matchPattern(score, m_NegInfFloat());
}

Val Elaborator::softmaxInclude(const Expr &e, Variable &state) {
  Val s = scoreArgument(e, state);
  if (s.isError())
    return s;
  if (axesOfVal(s).size() != state.rows.size()) {
    diags.error(e.args[1]->loc, "expects one score for each of the rows " +
                                    axisList(state.rows) + ", but got " +
                                    describe(s));
    return Val::error();
  }
  SmallVector<Variable *> accs;
  if (!collectAccs(e, state, {}, accs))
    return Val::error();
  if (isNothing(s.ssa))
    return Val::of(Val::Kind::Unit);
  SmallVector<Value> accValues;
  SmallVector<Type> accTypes;
  for (Variable *acc : accs) {
    accValues.push_back(acc->value.ssa);
    accTypes.push_back(acc->value.ssa.getType());
  }
  auto op = tb->createHere<SoftmaxIncludeOp>(
      at(e.loc), state.max.getType(), state.sum.getType(), accTypes, s.ssa,
      state.max, state.sum, accValues);
  state.max = op.getNewMax();
  state.sum = op.getNewSum();
  state.preds.add(s.preds);
  for (auto [acc, value] : llvm::zip(accs, op.getNewAccs())) {
    acc->value.ssa = value;
    acc->value.preds.add(state.preds);
  }
  return Val::of(Val::Kind::Unit);
}

Val Elaborator::softmaxFinish(const Expr &e, Variable &state) {
  Location l = at(e.loc);
  if (e.name == "lse") {
    if (e.args.size() != 1) {
      diags.error(e.loc, "expects no argument of 'lse'");
      return Val::error();
    }
    return Val::ofSsa(
        tb->create<SoftmaxLseOp>(l, state.max.getType(), state.max, state.sum),
        state.preds);
  }
  if (e.args.size() != 2) {
    diags.error(e.loc, "expects one argument of '" + e.name + "', but got " +
                           Twine(e.args.size() - 1));
    return Val::error();
  }
  Val s = scoreArgument(e, state);
  if (s.isError())
    return s;
  if (axesOfVal(s).empty()) {
    diags.error(e.args[1]->loc, "expects a tile as argument of '" + e.name +
                                    "', but got " + describe(s));
    return Val::error();
  }
  PredSet preds = s.preds;
  preds.add(state.preds);
  Type type = s.ssa.getType();
  Value result =
      e.name == "weight"
          ? tb->create<SoftmaxWeightOp>(l, type, s.ssa, state.max, state.sum)
          : tb->create<SoftmaxNormalizeOp>(l, type, s.ssa, state.sum);
  return Val::ofSsa(result, preds);
}

} // namespace selvedge::frontend
