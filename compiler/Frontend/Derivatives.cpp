// Elaborator: derivatives of functions.
//
// `vjp(f)(x, ...)` inlines f with a stand-in for x and follows the operations
// that are made of it. An elementwise function changes each element with the
// element of x in its place only, so its derivative is one tile, the slope, and
// the product of a gradient with it is all that there is to pull back. Of a
// function of whole rows Sweep.cpp takes the gradient back, operation by
// operation.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

static bool isNumber(const Val &v, double number) {
  return v.isNumber() && v.number() == number;
}

Val Elaborator::scaled(SMLoc loc, const Val &a, const Val &b) {
  if (isNumber(a, 0) || isNumber(b, 0))
    return Val::ofFloat(0);
  return isNumber(a, 1) ? b : isNumber(b, 1) ? a : binary(loc, "*", a, b);
}

Val Elaborator::added(SMLoc loc, const Val &a, const Val &b) {
  return isNumber(a, 0) ? b : isNumber(b, 0) ? a : binary(loc, "+", a, b);
}

Val Elaborator::evalVjp(const Expr &e) {
  auto it = functions.find(e.name);
  if (it == functions.end() || it->second.empty()) {
    SmallVector<StringRef> names;
    for (const auto &[name, definitions] : functions)
      names.push_back(name);
    diags.error(e.loc, "unknown function '" + e.name + "' in 'vjp'",
                didYouMean(e.name, names));
    return Val::error();
  }
  const FnDecl &fn = *it->second.front();
  if (fn.params.empty() || e.args.size() != fn.params.size())
    return expectArgs(e, std::max<size_t>(fn.params.size(), 1), ""),
           Val::error();
  std::vector<Val> args;
  for (const ExprPtr &arg : e.args)
    args.push_back(eval(*arg));
  Val x = toSsa(e.loc, args.front(), Builder(ctx).getF32Type());
  if (x.isError())
    return x;
  auto standIn = tb->createHere<UnrealizedConversionCastOp>(
      at(e.loc), x.ssa.getType(), x.ssa);
  Slopes slopes;
  slopes.loc = e.loc;
  slopes.x = standIn.getResult(0);
  args.front() = Val::ofSsa(slopes.x, x.preds);
  size_t firstLoad = diffLoads.size();
  Val value =
      toSsa(e.loc, inlineFn(e, fn, std::move(args)), Builder(ctx).getF32Type());
  Val pull = Val::of(Val::Kind::Pull);
  if (value.isError())
    return value;
  auto sweep = sweepOf(x, slopes.x, value, firstLoad);
  bool isSwept = hasReduction(*sweep) || axesOfVal(value) != axesOfVal(x);
  Val slope = isSwept ? Val::ofFloat(1) : slopeOf(slopes, value.ssa);
  if (isSwept)
    pull.sweep = sweep;
  std::vector<std::pair<size_t, Val>> inputs;
  if (!isSwept && !slope.isError())
    inputs = inputSlopes(e.loc, value.ssa, slopes.x, firstLoad);
  auto isStandIn = [&](const Val &v) {
    return v.is(Val::Kind::Ssa) && v.ssa == slopes.x;
  };
  if (isStandIn(value))
    value.ssa = x.ssa;
  if (isStandIn(slope))
    slope.ssa = x.ssa;
  for (auto &[load, by] : inputs)
    if (isStandIn(by))
      by.ssa = x.ssa;
  standIn.getResult(0).replaceAllUsesWith(x.ssa);
  standIn.erase();
  if (slope.isError())
    return slope;
  if (slope.is(Val::Kind::Ssa))
    slope.preds = value.preds;
  for (auto &[load, by] : inputs) {
    if (by.isError())
      return by;
    if (by.is(Val::Kind::Ssa))
      by.preds = value.preds;
  }
  pull.slope = std::make_shared<Val>(slope);
  pull.inputSlopes =
      std::make_shared<std::vector<std::pair<size_t, Val>>>(std::move(inputs));
  Val result = Val::of(Val::Kind::Pair);
  result.pair = std::make_shared<std::pair<Val, Val>>(value, pull);
  return result;
}

std::vector<std::pair<size_t, Val>>
Elaborator::inputSlopes(SMLoc loc, Value value, Value x, size_t first) {
  std::vector<std::pair<size_t, Val>> found;
  llvm::DenseSet<Value> seen;
  for (size_t i = first; i < diffLoads.size(); ++i) {
    Slopes slopes;
    slopes.loc = loc;
    slopes.x = diffLoads[i].first;
    slopes.known[x] = Val::ofFloat(0);
    if (!seen.insert(slopes.x).second)
      continue;
    Val slope = slopeOf(slopes, value);
    if (!isNumber(slope, 0))
      found.push_back({i, slope});
  }
  return found;
}

Val Elaborator::pullInputs(const Expr &e, const Val &pull) {
  // Of a function without such inputs nothing is computed.
  bool hasInputs =
      !pull.inputSlopes->empty() || (pull.sweep && !pull.sweep->loads.empty());
  if (e.args.size() == 2 && !hasInputs)
    return Val::ofBool(true);
  if (e.args.size() != 2) {
    diags.error(e.loc, "expects a gradient as argument of 'inputs'");
    return Val::error();
  }
  Val g = gradientArgument(*e.args[1], "'inputs'");
  if (g.isError())
    return g;
  std::vector<std::pair<size_t, Val>> parts;
  if (pull.sweep)
    parts = sweepBack(e.loc, *pull.sweep, g).loads;
  else
    for (const auto &[load, slope] : *pull.inputSlopes)
      parts.push_back({load, scaled(e.loc, g, slope)});
  for (const auto &[load, part] : parts) {
    if (part.isError())
      return part;
    addToGradient(e.loc, diffLoads[load].second, part);
  }
  return Val::ofBool(true);
}

Val Elaborator::gradientArgument(const Expr &argument, const Twine &of) {
  Type f32 = Builder(ctx).getF32Type();
  Val g = eval(argument);
  if (g.isNumber())
    g = toSsa(argument.loc, g, f32);
  if (g.isError() || (g.is(Val::Kind::Ssa) && elementOf(g) == f32))
    return g;
  diags.error(argument.loc,
              "expects f32 as argument of " + of + ", but got " + describe(g));
  return Val::error();
}

void Elaborator::reduceIndices(SMLoc loc, Access &access) {
  const TensorInfo &gradient = tensors[*tensors[access.tensor].gradient];
  Location l = at(loc);
  using arith::CmpIPredicate;
  for (auto [i, dim] : llvm::enumerate(tensors[access.tensor].decl->dims)) {
    if (!dim.isBroadcast)
      continue;
    Value extent = tb->affine(l, gradient.dims[i].extent);
    Value isSum =
        tb->compare(l, CmpIPredicate::eq, extent, tb->constantInt(l, 1));
    Value &index = access.values[i];
    SmallVector<StringAttr> axes = llvm::to_vector(axesOf(index.getType()));
    index = tb->create<arith::SelectOp>(
        l, tb->broadcast(l, isSum, axes),
        tb->broadcast(l, tb->constantInt(l, 0), axes), index);
    access.preds.add(tb->compare(l, CmpIPredicate::slt, index, extent));
    llvm::erase_if(access.coordinates,
                   [&](const auto &c) { return c.dim == i; });
    access.coordinates.push_back({static_cast<unsigned>(i), index});
  }
}

/// What has axes that the input lacks is summed over them.
void Elaborator::addToGradient(SMLoc loc, const Access &of, const Val &g) {
  Access access = of;
  unsigned tensor = *tensors[access.tensor].gradient;
  if (isOfOtherKernel(tensor))
    return;
  reduceIndices(loc, access);
  TensorInfo &info = tensors[tensor];
  info.isStoredHere = true;
  Val sum = summedTo(loc, toSsa(loc, g), access.axes);
  PredSet presence = sum.preds;
  presence.add(access.preds);
  if (std::optional<bool> anyOrder = checkAddition(loc, tensor, access))
    setAddsToMemory(tb->createHere<StoreOp>(
                        at(loc), sum.ssa,
                        kernelBlock->getArgument(dimNames.size() + tensor),
                        access.values, ValueRange(presence)),
                    *anyOrder);
}

Val Elaborator::summedTo(SMLoc loc, const Val &v, ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> over, rest;
  for (StringAttr axis : axesOfVal(v))
    (llvm::is_contained(axes, axis) ? rest : over).push_back(axis);
  if (over.empty())
    return v;
  PredSet consumed, kept;
  splitPreds(loc, v.preds, over, consumed, kept);
  SmallVector<Attribute> names(over.begin(), over.end());
  return Val::ofSsa(
      tb->create<ReduceOp>(at(loc), tb->tileOf(elementOf(v), rest),
                           Combine::Add, v.ssa, ArrayAttr::get(ctx, names),
                           ValueRange(consumed)),
      kept);
}

/// The gradient, with the lanes that both have, times the slope; or taken back.
Val Elaborator::callPull(const Expr &e, const Val &pull) {
  if (!expectArgs(e, 1, ""))
    return Val::error();
  if (pull.sweep) {
    Val g = gradientArgument(*e.args.front(), "'" + e.name + "'");
    return g.isError() ? g : sweepBack(e.loc, *pull.sweep, g).x;
  }
  Val gradient = eval(*e.args.front());
  return gradient.isError() ? gradient : scaled(e.loc, gradient, *pull.slope);
}

Val Elaborator::slopeOf(Slopes &slopes, Value v) {
  if (v == slopes.x)
    return Val::ofFloat(1);
  if (auto known = slopes.known.find(v); known != slopes.known.end())
    return known->second;
  Operation *op = v.getDefiningOp();
  bool depends = op && llvm::any_of(op->getOperands(), [&](Value operand) {
                   return !isNumber(slopeOf(slopes, operand), 0);
                 });
  // A condition or an integer is the same around almost every number.
  bool isStep = !isa<FloatType>(getElementTypeOrSelf(v.getType()));
  Val slope = depends && !isStep ? slopeOfOp(slopes, op) : Val::ofFloat(0);
  slopes.known[v] = slope;
  return slope;
}

Val Elaborator::slopeOfOp(Slopes &slopes, Operation *op) {
  SMLoc loc = slopes.loc;
  auto slope = [&](unsigned i) { return slopeOf(slopes, op->getOperand(i)); };
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (slope(i).isError())
      return Val::error();
  if (std::optional<Choice> choice = choiceOf(loc, op))
    return selectSlope(loc, choice->condition, slope(choice->yes),
                       slope(choice->no));
  if (isa<BroadcastOp, SplatOp>(op)) {
    Val of = slope(0);
    if (of.isNumber())
      return of;
    return Val::ofSsa(
        tb->broadcast(at(loc), of.ssa, axesOf(op->getResult(0).getType())));
  }
  Val sum = Val::ofFloat(0);
  for (unsigned i = 0; i < op->getNumOperands() && !sum.isError(); ++i)
    if (Val by = slope(i); !isNumber(by, 0)) {
      Val part = timesPartial(loc, op, i, by);
      sum = part.isError() ? part : added(loc, sum, part);
    }
  return sum;
}

std::optional<Elaborator::Choice> Elaborator::choiceOf(SMLoc loc,
                                                       Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return Choice{select.getCondition(), 1, 2};
  // Where both are equal it is the second one's.
  bool isMax = isa<arith::MaximumFOp>(op);
  if (!isMax && !isa<arith::MinimumFOp>(op))
    return std::nullopt;
  Val first = binary(loc, isMax ? ">" : "<", scalarOperand(op, 0),
                     scalarOperand(op, 1));
  return Choice{first.ssa, 0, 1};
}

/// What repeats a scalar is computed of the scalar, once.
Val Elaborator::scalarOperand(Operation *op, unsigned i) {
  auto splat = op->getOperand(i).getDefiningOp<SplatOp>();
  Value scalar = splat ? splat.getOperand() : op->getOperand(i);
  FloatAttr number;
  return matchPattern(scalar, m_Constant(&number))
             ? Val::ofFloat(number.getValueAsDouble())
             : Val::ofSsa(scalar);
}

Val Elaborator::timesPartial(SMLoc loc, Operation *op, unsigned i,
                             const Val &v) {
  auto negated = [&](const Val &x) { return scaled(loc, Val::ofFloat(-1), x); };
  auto times = [&](const Val &a, const Val &b) { return scaled(loc, a, b); };
  auto over = [&](const Val &a, const Val &b) {
    return binary(loc, "/", a, b);
  };
  Val x = Val::ofSsa(op->getOperand(0)), y = Val::ofSsa(op->getResult(0));
  return llvm::TypeSwitch<Operation *, Val>(op)
      .Case([&](arith::AddFOp) { return v; })
      .Case([&](arith::SubFOp) { return i == 0 ? v : negated(v); })
      .Case([&](arith::NegFOp) { return negated(v); })
      .Case([&](arith::MulFOp) {
        Val other = scalarOperand(op, 1 - i);
        bool isSquare = op->getOperand(0) == op->getOperand(1);
        return i == 0 || isSquare ? times(v, other) : times(other, v);
      })
      .Case([&](arith::DivFOp) {
        Val below = scalarOperand(op, 1);
        return i == 0 ? times(v, over(Val::ofFloat(1), below))
                      : over(negated(times(y, v)), below);
      })
      // Rounding moves a number by less than its last bit.
      .Case<ConvertOp, arith::ExtFOp>([&](Operation *) { return v; })
      .Case([&](math::ExpOp) { return times(y, v); })
      .Case([&](math::Exp2Op) {
        return times(times(y, Val::ofFloat(llvm::numbers::ln2)), v);
      })
      .Case([&](math::LogOp) { return over(v, x); })
      .Case([&](math::Log2Op) {
        return over(v, times(x, Val::ofFloat(llvm::numbers::ln2)));
      })
      .Case([&](math::TanhOp) {
        return times(binary(loc, "-", Val::ofFloat(1), times(y, y)), v);
      })
      .Case([&](math::SqrtOp) { return over(v, times(Val::ofFloat(2), y)); })
      .Case([&](math::RsqrtOp) {
        return times(times(Val::ofFloat(-0.5), times(y, times(y, y))), v);
      })
      .Case([&](math::AbsFOp) {
        Val isNegative = binary(loc, "<", x, Val::ofFloat(0));
        return selectSlope(loc, isNegative.ssa, negated(v), v);
      })
      .Default([&](Operation *) {
        diags.error(loc, "expects a function of elementwise operations and "
                         "reductions, but got " +
                             (isa<DotOp>(op)
                                  ? "a product"
                                  : "'" + op->getName().getStringRef() + "'") +
                             " of what the derivative is taken by");
        return Val::error();
      });
}

/// `condition ? a : b`, of which either may be a number.
Val Elaborator::selectSlope(SMLoc loc, Value condition, const Val &a,
                            const Val &b) {
  if (a.isNumber() && b.isNumber() && a.number() == b.number())
    return a;
  Location l = at(loc);
  Type f32 = Builder(ctx).getF32Type();
  Value x = toSsa(loc, a, f32).ssa, y = toSsa(loc, b, f32).ssa;
  SmallVector<StringAttr> axes =
      tb->unionOf(axesOf(condition.getType()),
                  tb->unionOf(axesOf(x.getType()), axesOf(y.getType())));
  return Val::ofSsa(tb->create<arith::SelectOp>(
      l, tb->broadcast(l, condition, axes), tb->broadcast(l, x, axes),
      tb->broadcast(l, y, axes)));
}

} // namespace selvedge::frontend
