// Elaborator: functions, built in and of the program.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

constexpr StringRef kMath[] = {"exp",   "log",  "tanh", "sqrt",
                               "rsqrt", "exp2", "log2", "abs"};
constexpr StringRef kReductions[] = {"sum", "max", "min", "count"};
constexpr StringRef kLater[] = {"all", "gather", "segments", "split", "philox"};

double foldMath(StringRef name, double x) {
  return name == "exp"     ? std::exp(x)
         : name == "log"   ? std::log(x)
         : name == "tanh"  ? std::tanh(x)
         : name == "sqrt"  ? std::sqrt(x)
         : name == "rsqrt" ? 1 / std::sqrt(x)
         : name == "exp2"  ? std::exp2(x)
         : name == "log2"  ? std::log2(x)
                           : std::fabs(x);
}

Value emitMath(TileBuilder &tb, Location l, StringRef name, Value x) {
  if (name == "exp")
    return tb.create<math::ExpOp>(l, x);
  if (name == "log")
    return tb.create<math::LogOp>(l, x);
  if (name == "tanh")
    return tb.create<math::TanhOp>(l, x);
  if (name == "sqrt")
    return tb.create<math::SqrtOp>(l, x);
  if (name == "rsqrt")
    return tb.create<math::RsqrtOp>(l, x);
  if (name == "exp2")
    return tb.create<math::Exp2Op>(l, x);
  if (name == "log2")
    return tb.create<math::Log2Op>(l, x);
  if (getElementTypeOrSelf(x.getType()).isInteger())
    return tb.create<math::AbsIOp>(l, x);
  return tb.create<math::AbsFOp>(l, x);
}

} // namespace

bool Elaborator::expectArgs(const Expr &e, size_t count, StringRef what) {
  if (e.args.size() == count)
    return true;
  diags.error(e.loc,
              "expects " + Twine(count) + " argument" +
                  (count == 1 ? "" : "s") + " of '" + e.name + "', but got " +
                  Twine(e.args.size()),
              what);
  return false;
}

bool Elaborator::isDot(const Expr &e) const {
  return e.kind == Expr::Kind::Call && e.name == "dot" &&
         !functions.count("dot");
}

Val Elaborator::evalCall(const Expr &e) {
  if (e.name == "super") {
    if (const FnDecl *next = overridden())
      return inlineFn(e, *next);
    diags.error(e.loc, "'super' needs a function that overrides another one",
                "it belongs into an op with 'extends'");
    return Val::error();
  }
  Variable *variable = find(e.name);
  if (variable && variable->value.is(Val::Kind::Pull))
    return callPull(e, variable->value);
  if (variable && variable->value.isError())
    return Val::error();
  if (auto it = functions.find(e.name);
      it != functions.end() && !it->second.empty())
    return inlineFn(e, *it->second.front());
  if (llvm::is_contained(kMath, e.name))
    return callMath(e);
  if (e.name == "max" || e.name == "min")
    return callMinMax(e);
  if (e.name == "sum" || e.name == "count")
    return callReduce(e);
  if (e.name == "select")
    return callSelect(e);
  if (e.name == "rel")
    return callRel(e);
  if (e.name == "dot")
    return callDot(e, nullptr);
  if (e.name == "online_softmax")
    return callSoftmax(e);
  if (e.name == "softmax_weight")
    return callSoftmaxWeight(e);
  if (e.name == "any")
    return callAny(e);
  if (e.name == "present")
    return callPresent(e);
  if (llvm::is_contained(kLater, e.name)) {
    diags.unsupported(e.loc, "'" + e.name + "'");
    return Val::error();
  }
  SmallVector<StringRef> names{
      "select",         "vjp", "rel",    "dot", "online_softmax",
      "softmax_weight", "any", "present"};
  names.append(std::begin(kMath), std::end(kMath));
  names.append(std::begin(kReductions), std::end(kReductions));
  for (const auto &[name, definitions] : functions)
    names.push_back(name);
  std::string hint = didYouMean(e.name, names);
  diags.error(e.loc, "unknown function '" + e.name + "'",
              hint.empty() ? "declare it: 'fn " + e.name + "(x) = ...;'"
                           : hint);
  return Val::error();
}

const FnDecl *Elaborator::overridden() const {
  if (const FnDecl *current = frames.back().fn)
    for (const auto &[name, definitions] : functions)
      for (size_t i = 0; i + 1 < definitions.size(); ++i)
        if (definitions[i] == current)
          return definitions[i + 1];
  return nullptr;
}

Val Elaborator::inlineFn(const Expr &e, const FnDecl &fn) {
  if (fn.isView) {
    diags.error(e.loc, "expects indices after the view '" + fn.name + "'",
                "write '" + fn.name + "[...]'");
    return Val::error();
  }
  if (!bindCall(e, fn, e.args))
    return Val::error();
  return leaveWith(eval(*fn.body));
}

Val Elaborator::inlineFn(const Expr &e, const FnDecl &fn,
                         std::vector<Val> args) {
  if (!bindValues(e, fn, std::move(args)))
    return Val::error();
  return leaveWith(eval(*fn.body));
}

Val Elaborator::leaveWith(Val result) {
  frames.pop_back();
  return result;
}

bool Elaborator::bindCall(const Expr &e, const FnDecl &fn,
                          ArrayRef<ExprPtr> args) {
  if (args.size() != fn.params.size()) {
    bool isOne = fn.params.size() == 1;
    StringRef what = fn.isView ? (isOne ? " index" : " indices")
                               : (isOne ? " argument" : " arguments");
    diags.error(e.loc, "expects " + Twine(fn.params.size()) + what + " of '" +
                           fn.name + "', but got " + Twine(args.size()));
    diags.note(fn.loc, "the " + fn.word() + " is defined here");
    return false;
  }
  std::vector<Val> values;
  for (const ExprPtr &arg : args) {
    values.push_back(eval(*arg));
    if (values.back().is(Val::Kind::Softmax)) {
      diags.unsupported(arg->loc, "an online softmax as argument");
      values.back() = Val::error();
    }
  }
  return bindValues(e, fn, std::move(values));
}

bool Elaborator::bindValues(const Expr &e, const FnDecl &fn,
                            std::vector<Val> values) {
  constexpr size_t kDepth = 32;
  if (frames.size() > kDepth) {
    diags.error(e.loc,
                "expects at most " + Twine(kDepth) + " calls inside each other",
                "functions are inlined and cannot call themselves");
    return false;
  }
  Frame frame;
  frame.fn = &fn;
  frame.scopes.emplace_back();
  for (auto [name, value] : llvm::zip_equal(fn.params, values)) {
    auto variable = std::make_unique<Variable>();
    variable->value = std::move(value);
    frame.scopes.back()[name] = std::move(variable);
  }
  frames.push_back(std::move(frame));
  return true;
}

Val Elaborator::callMath(const Expr &e) {
  if (!expectArgs(e, 1, ""))
    return Val::error();
  Val v = eval(*e.args[0]);
  if (v.isError())
    return v;
  if (v.is(Val::Kind::Int) && e.name == "abs")
    return v.intValue < 0 ? foldInts(e.loc, "-", 0, v.intValue) : v;
  if (v.isNumber())
    return Val::ofFloat(foldMath(e.name, v.number()));
  Type type = elementOf(v);
  bool isInt = type && type.isInteger(32);
  if (!type || !(type.isF32() || isInt)) {
    diags.error(e.loc,
                "expects f32 or i32 as argument of '" + e.name + "', but got " +
                    describe(v),
                isNarrow(type) ? "convert first: 'x as f32'" : "");
    return Val::error();
  }
  Val s = toSsa(e.loc, v,
                isInt && e.name == "abs" ? type : Builder(ctx).getF32Type());
  if (s.isError())
    return s;
  return Val::ofSsa(emitMath(*tb, at(e.loc), e.name, s.ssa), s.preds);
}

Val Elaborator::callMinMax(const Expr &e) {
  // Over several axes it can only reduce.
  if (e.args.size() > 2)
    return callReduce(e);
  if (!expectArgs(e, 2, "max(a, b) takes the larger one, max(t, axis) reduces"))
    return Val::error();
  Val a = eval(*e.args[0]);
  if (a.isError())
    return a;
  // An axis of the first argument as second one asks for a reduction.
  if (a.is(Val::Kind::Ssa)) {
    StringAttr axis = resolveAxis(*e.args[1], /*create=*/false, /*quiet=*/true);
    if (axis && llvm::is_contained(axesOfVal(a), axis))
      return callReduce(e);
  }
  Val b = eval(*e.args[1]);
  if (b.isError())
    return b;
  bool isMax = e.name == "max";
  if (a.is(Val::Kind::Int) && b.is(Val::Kind::Int))
    return Val::ofInt(isMax ? std::max(a.intValue, b.intValue)
                            : std::min(a.intValue, b.intValue));
  if (a.isNumber() && b.isNumber()) {
    double x = a.number(), y = b.number();
    bool isNan = std::isnan(x) || std::isnan(y);
    return Val::ofFloat(isNan   ? std::nan("")
                        : isMax ? std::max(x, y)
                                : std::min(x, y));
  }
  Type type = commonType(e.loc, e.name, a, b);
  if (!type)
    return Val::error();
  if (type.isInteger(1)) {
    diags.error(e.loc, "expects numbers as arguments of '" + e.name + "'");
    return Val::error();
  }
  Val x = toSsa(e.loc, a, type), y = toSsa(e.loc, b, type);
  if (x.isError() || y.isError())
    return Val::error();
  Location l = at(e.loc);
  Value p = x.ssa, q = y.ssa, result;
  tb->unify(l, p, q);
  if (isa<FloatType>(type))
    result = isMax ? tb->create<arith::MaximumFOp>(l, p, q)
                   : tb->create<arith::MinimumFOp>(l, p, q);
  else
    result = isMax ? tb->create<arith::MaxSIOp>(l, p, q)
                   : tb->create<arith::MinSIOp>(l, p, q);
  PredSet preds = x.preds;
  preds.add(y.preds);
  Val v = Val::ofSsa(result, preds);
  deriveExtreme(isMax, a, b, v);
  return v;
}

void Elaborator::deriveExtreme(bool isMax, const Val &a, const Val &b,
                               Val &result) const {
  auto isNonNegative = [&](const Val &v) {
    return v.isOfDims() ? provablyNonNegative(asAffine(v)) : v.nonNegative;
  };
  // What is known of either; a function of dims says more than what is only
  // below one.
  const Val &bound = a.isOfDims() || !(b.isOfDims() || endOf(b)) ? a : b;
  if (isMax) {
    result.nonNegative = isNonNegative(a) || isNonNegative(b);
    result.lower = bound.isOfDims() ? asAffine(bound) : bound.lower;
  } else {
    result.nonNegative = isNonNegative(a) && isNonNegative(b);
    result.atMost = endOf(bound);
    result.promise = a.promise ? a.promise : b.promise;
    if (result.nonNegative && result.atMost)
      result.upper = result.atMost + 1;
  }
}

Val Elaborator::callSelect(const Expr &e) {
  if (!expectArgs(e, 3, "select(condition, a, b)"))
    return Val::error();
  Val c = evalCondition(*e.args[0], "first argument of 'select'");
  return selectVal(e, c, eval(*e.args[1]), eval(*e.args[2]));
}

Val Elaborator::selectVal(const Expr &e, const Val &c, const Val &a,
                          const Val &b) {
  if (c.isError() || a.isError() || b.isError())
    return Val::error();
  if (c.is(Val::Kind::Bool))
    return c.intValue ? a : b;
  Type x = elementOf(a), y = elementOf(b);
  Type type = x == y ? x : Type();
  if (x && y && x != y) // numbers mix; other types do not
    type = commonType(e.loc, "select", a, b);
  if (!type) {
    if (!x || !y)
      diags.error(e.loc, "expects values in 'select', but got " + describe(a) +
                             " and " + describe(b));
    return Val::error();
  }
  Val s = toSsa(e.loc, c), p = toSsa(e.loc, a, type), q = toSsa(e.loc, b, type);
  if (s.isError() || p.isError() || q.isError())
    return Val::error();
  Location l = at(e.loc);
  SmallVector<StringAttr> axes =
      tb->unionOf(tb->unionOf(axesOfVal(p), axesOfVal(q)), axesOfVal(s));
  Value result = tb->create<arith::SelectOp>(l, tb->broadcast(l, s.ssa, axes),
                                             tb->broadcast(l, p.ssa, axes),
                                             tb->broadcast(l, q.ssa, axes));
  PredSet preds = s.preds;
  preds.add(joinSelected(e.loc, s.ssa, p.preds, q.preds));
  return Val::ofSsa(result, preds);
}

bool Elaborator::reducedAxes(const Expr &e, const Val &reduced,
                             SmallVectorImpl<StringAttr> &over) {
  SmallVector<StringAttr> axes = axesOfVal(reduced);
  for (const ExprPtr &arg : llvm::drop_begin(e.args)) {
    StringAttr axis = resolveAxis(*arg, /*create=*/false);
    if (!axis)
      return false;
    if (!llvm::is_contained(axes, axis) || llvm::is_contained(over, axis)) {
      diags.error(arg->loc, "expects an axis of " + describe(reduced) +
                                ", but got '" + axis.getValue() + "'");
      return false;
    }
    over.push_back(axis);
  }
  return true;
}

Val Elaborator::callReduce(const Expr &e) {
  if (e.args.size() < 2) {
    expectArgs(e, 2, "name the axes to reduce over: sum(t, i)");
    return Val::error();
  }
  Val v = eval(*e.args[0]);
  if (v.isError())
    return v;
  bool isCount = e.name == "count";
  Type type = elementOf(v);
  if (!v.is(Val::Kind::Ssa) ||
      !(isCount || type.isF32() || type.isInteger(32))) {
    diags.error(e.loc,
                "expects a tile of f32 or i32 in '" + e.name + "', but got " +
                    describe(v),
                isNarrow(type) ? "convert first: 'x as f32'" : "");
    return Val::error();
  }
  Val s = toSsa(e.loc, v);
  SmallVector<StringAttr> axes = axesOfVal(s), over, rest;
  if (!reducedAxes(e, s, over))
    return Val::error();
  for (StringAttr axis : axes)
    if (!llvm::is_contained(over, axis))
      rest.push_back(axis);
  PredSet consumed, kept;
  splitPreds(e.loc, s.preds, over, consumed, kept);
  Location l = at(e.loc);
  Value source = s.ssa;
  if (isCount) {
    source = tb->broadcast(l, tb->constantInt(l, 1), axes);
    type = Builder(ctx).getI32Type();
  }
  SmallVector<Attribute> names(over.begin(), over.end());
  Combine kind = e.name == "max"   ? Combine::Max
                 : e.name == "min" ? Combine::Min
                                   : Combine::Add;
  Value result =
      tb->create<ReduceOp>(l, tb->tileOf(type, rest), kind, source,
                           ArrayAttr::get(ctx, names), ValueRange(consumed));
  return Val::ofSsa(result, kept);
}

Val Elaborator::callRel(const Expr &e) {
  if (!expectArgs(e, 1, "rel(i) counts from the start of the range i"))
    return Val::error();
  Val v = eval(*e.args[0]);
  if (v.isError())
    return v;
  if (!v.range) {
    diags.error(e.args[0]->loc,
                "expects a range as argument of 'rel', but got " + describe(v),
                "only a range that is bound with 'by' counts from a start");
    return Val::error();
  }
  if (!v.range->lo)
    return v;
  Value lo = v.range->lo, index = v.ssa;
  tb->unify(at(e.loc), index, lo);
  Val result =
      Val::ofSsa(tb->create<arith::SubIOp>(at(e.loc), index, lo), v.preds);
  result.nonNegative = !v.range->isSegment;
  return result;
}

Val Elaborator::callAny(const Expr &e) {
  if (e.args.empty()) {
    expectArgs(e, 1, "any(condition, axes...): over all axes without names");
    return Val::error();
  }
  Val c = evalCondition(*e.args[0], "first argument of 'any'");
  if (c.isError() || c.is(Val::Kind::Bool))
    return c;
  Val s = toSsa(e.loc, c);
  if (s.isError())
    return s;
  SmallVector<StringAttr> axes = axesOfVal(s), over;
  if (!reducedAxes(e, s, over))
    return Val::error();
  if (e.args.size() == 1)
    over = axes;
  if (over.empty())
    return Val::ofSsa(s.ssa, s.preds);
  SmallVector<StringAttr> rest;
  for (StringAttr axis : axes)
    if (!llvm::is_contained(over, axis))
      rest.push_back(axis);
  PredSet consumed, kept;
  splitPreds(e.loc, s.preds, over, consumed, kept);
  Location l = at(e.loc);
  Type i32 = Builder(ctx).getI32Type();
  Value ones = tb->create<arith::ExtUIOp>(
      l, withElementType(s.ssa.getType(), i32), s.ssa);
  SmallVector<Attribute> names(over.begin(), over.end());
  Value most =
      tb->create<ReduceOp>(l, tb->tileOf(i32, rest), Combine::Max, ones,
                           ArrayAttr::get(ctx, names), ValueRange(consumed));
  return Val::ofSsa(
      tb->compare(l, arith::CmpIPredicate::sgt, most, tb->constantInt(l, 0)),
      kept);
}

Val Elaborator::callPresent(const Expr &e) {
  if (!expectArgs(e, 1, "present(t) of an optional tensor t"))
    return Val::error();
  const Expr &arg = *e.args[0];
  std::optional<Val> v =
      arg.kind == Expr::Kind::Name ? lookupSignature(arg.name) : std::nullopt;
  if (!v || !v->is(Val::Kind::Tensor) || !tensors[v->tensor].decl->isOptional) {
    diags.error(arg.loc, "expects the name of an optional tensor in 'present'",
                v && v->is(Val::Kind::Tensor)
                    ? "write '?' after the type of '" + arg.name + "'"
                    : "");
    return Val::error();
  }
  if (!inKernel()) {
    diags.error(e.loc, "whether a tensor is present is known at run time only");
    return Val::error();
  }
  return Val::ofSsa(tb->create<IsPresentOp>(
      at(e.loc), Builder(ctx).getI1Type(),
      kernelBlock->getArgument(dimNames.size() + v->tensor)));
}

/// Whether `e` names the precision of a product of f32; an error for others.
static bool isPrecision(const Expr &e, Diagnostics &diags) {
  if (e.kind == Expr::Kind::Name && e.name == "bf16x3")
    return true;
  diags.error(e.loc, "expects a precision as third argument of 'dot'",
              "bf16x3: three products of bf16, which keep 16 bits of each "
              "factor (tf32 keeps 11)");
  return false;
}

std::pair<Value, Value> Elaborator::splitFactor(Location l, Value factor) {
  Type narrow =
           tile::withElementType(factor.getType(), Builder(ctx).getBF16Type()),
       wide = factor.getType();
  auto round = [&](Value v) {
    return tb->create<ConvertOp>(l, narrow, v, Overflow::Sat);
  };
  Value high = round(factor);
  Value back = tb->create<arith::ExtFOp>(l, wide, high);
  return {high, round(tb->create<arith::SubFOp>(l, factor, back))};
}

Val Elaborator::callDot(const Expr &e, const Val *init) {
  bool isSplit = e.args.size() == 3;
  if (isSplit ? !isPrecision(*e.args[2], diags)
              : !expectArgs(e, 2, "dot(a, b)"))
    return Val::error();
  Val a = eval(*e.args[0]), b = eval(*e.args[1]);
  if (a.isError() || b.isError())
    return Val::error();
  Type type = elementOf(a);
  for (const Val *v : {&a, &b}) {
    Type t = elementOf(*v);
    bool isTile = v->is(Val::Kind::Ssa) && !axesOfVal(*v).empty();
    if (isTile && isByte(t)) {
      diags.unsupported(e.loc, "a product of " + describe(*v),
                        "convert it: 'as bf16' keeps every value of " +
                            nameOf(t).str());
      return Val::error();
    }
    if (isTile && isa<FloatType>(t))
      continue;
    diags.error(e.loc, "expects tiles of numbers in 'dot', but got " +
                           describe(a) + " and " + describe(b));
    return Val::error();
  }
  if (type != elementOf(b)) {
    diags.error(e.loc,
                "expects equal types in 'dot', but got " + describe(a) +
                    " and " + describe(b),
                "convert one of them with 'as'");
    return Val::error();
  }
  if (isSplit && !type.isF32()) {
    diags.error(e.args[2]->loc,
                "expects factors of f32 beside a precision, but got " +
                    describe(a) + " and " + describe(b),
                "products of bf16 and f16 are exact: leave it out");
    return Val::error();
  }
  SmallVector<StringAttr> over, rest;
  SmallVector<StringAttr> axesA = axesOfVal(a), axesB = axesOfVal(b);
  for (StringAttr axis : tb->unionOf(axesA, axesB)) {
    bool shared =
        llvm::is_contained(axesA, axis) && llvm::is_contained(axesB, axis);
    (shared ? over : rest).push_back(axis);
  }
  if (over.empty()) {
    diags.error(e.loc,
                "expects a common axis in 'dot', but got " + describe(a) +
                    " and " + describe(b),
                "axes are equal by name: index both tensors with the same "
                "range, or ':' on a dimension of the same name");
    return Val::error();
  }
  PredSet consumed, kept;
  splitPreds(e.loc, a.preds, over, consumed, kept);
  splitPreds(e.loc, b.preds, over, consumed, kept);
  Location l = at(e.loc);
  Type result = tb->tileOf(Builder(ctx).getF32Type(), rest);
  SmallVector<Attribute> names(over.begin(), over.end());
  // Accumulate only into a tile of the result's own type; otherwise add.
  Value accumulator =
      init && init->ssa.getType() == result ? init->ssa : Value();
  auto multiply = [&](Value x, Value y, Value sum) {
    return tb->create<DotOp>(l, result, x, y, sum, ArrayAttr::get(ctx, names),
                             ValueRange(consumed));
  };
  Value value;
  if (isSplit) {
    // The product of both remainders is below what f32 keeps of the rest.
    auto [highA, lowA] = splitFactor(l, a.ssa);
    auto [highB, lowB] = splitFactor(l, b.ssa);
    value = multiply(lowA, highB, accumulator);
    value = multiply(highA, lowB, value);
    value = multiply(highA, highB, value);
  } else {
    value = multiply(a.ssa, b.ssa, accumulator);
  }
  Val v = Val::ofSsa(value, kept);
  if (!init)
    return v;
  if (!accumulator)
    return binary(e.loc, "+", *init, v);
  v.preds.add(init->preds);
  return v;
}

} // namespace selvedge::frontend
