// Elaborator: derivatives of elementwise functions.
//
// `vjp(f)(x, ...)` inlines f with a stand-in for x and follows the operations
// that are made of it. An elementwise function changes each element with the
// element of x in its place only, so its derivative is one tile, the slope, and
// the product of a gradient with it is all that there is to pull back.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  Val slope = value.isError() ? value : slopeOf(slopes, value.ssa);
  if (!value.isError() && value.ssa.getType() != x.ssa.getType() &&
      !slope.isNumber()) {
    diags.error(e.loc,
                "expects a function whose value has the axes of its first "
                "argument, " +
                    describe(x) + ", but '" + e.name + "' gives " +
                    describe(value),
                "the derivative is taken of one element by another");
    slope = Val::error();
  }
  std::vector<std::pair<size_t, Val>> inputs;
  if (!value.isError() && !slope.isError())
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
  Val pull = Val::of(Val::Kind::Pull);
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
  if (e.args.size() == 2 && pull.inputSlopes->empty())
    return Val::ofBool(true);
  if (e.args.size() != 2) {
    diags.error(e.loc, "expects a gradient as argument of 'inputs'");
    return Val::error();
  }
  Type f32 = Builder(ctx).getF32Type();
  Val g = eval(*e.args[1]);
  if (g.isNumber())
    g = toSsa(e.loc, g, f32);
  if (g.isError())
    return g;
  if (!g.is(Val::Kind::Ssa) || elementOf(g) != f32) {
    diags.error(e.args[1]->loc,
                "expects f32 as argument of 'inputs', but got " + describe(g));
    return Val::error();
  }
  for (const auto &[load, slope] : *pull.inputSlopes) {
    Val part = scaled(e.loc, g, slope);
    if (part.isError())
      return part;
    addToGradient(e.loc, diffLoads[load].second, part);
  }
  return Val::ofBool(true);
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
  Location l = at(loc);
  Val s = toSsa(loc, g);
  SmallVector<StringAttr> over, rest;
  for (StringAttr axis : axesOfVal(s))
    (llvm::is_contained(access.axes, axis) ? rest : over).push_back(axis);
  Value sum = s.ssa;
  PredSet presence = s.preds;
  if (!over.empty()) {
    PredSet consumed, kept;
    splitPreds(loc, s.preds, over, consumed, kept);
    SmallVector<Attribute> names(over.begin(), over.end());
    sum = tb->create<ReduceOp>(l, tb->tileOf(info.element, rest), Combine::Add,
                               sum, ArrayAttr::get(ctx, names),
                               ValueRange(consumed));
    presence = kept;
  }
  presence.add(access.preds);
  if (std::optional<bool> anyOrder = checkAddition(loc, tensor, access))
    setAddsToMemory(tb->createHere<StoreOp>(
                        l, sum,
                        kernelBlock->getArgument(dimNames.size() + tensor),
                        access.values, ValueRange(presence)),
                    *anyOrder);
}

/// The gradient, with the lanes that both have, times the slope.
Val Elaborator::callPull(const Expr &e, const Val &slope) {
  if (!expectArgs(e, 1, ""))
    return Val::error();
  Val gradient = eval(*e.args.front());
  return gradient.isError() ? gradient : scaled(e.loc, gradient, slope);
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
  // What repeats a scalar is computed of the scalar, once.
  auto operand = [&](unsigned i) {
    auto splat = op->getOperand(i).getDefiningOp<SplatOp>();
    return Val::ofSsa(splat ? splat.getOperand() : op->getOperand(i));
  };
  auto slope = [&](unsigned i) { return slopeOf(slopes, op->getOperand(i)); };
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (slope(i).isError())
      return Val::error();
  return llvm::TypeSwitch<Operation *, Val>(op)
      .Case([&](arith::AddFOp) { return added(loc, slope(0), slope(1)); })
      .Case([&](arith::SubFOp) {
        return added(loc, slope(0), scaled(loc, Val::ofFloat(-1), slope(1)));
      })
      .Case([&](arith::NegFOp) {
        return scaled(loc, Val::ofFloat(-1), slope(0));
      })
      .Case([&](arith::MulFOp) {
        return added(loc, scaled(loc, slope(0), operand(1)),
                     scaled(loc, operand(0), slope(1)));
      })
      .Case([&](arith::DivFOp) {
        Val quotient = Val::ofSsa(op->getResult(0)), below = operand(1);
        if (isNumber(slope(1), 0))
          return scaled(loc, slope(0),
                        binary(loc, "/", Val::ofFloat(1), below));
        Val above = added(
            loc, slope(0),
            scaled(loc, Val::ofFloat(-1), scaled(loc, quotient, slope(1))));
        return binary(loc, "/", above, below);
      })
      // Where both are equal it is the second one's.
      .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto choice) {
        bool isMax = isa<arith::MaximumFOp>(op);
        Val first = binary(loc, isMax ? ">" : "<", operand(0), operand(1));
        return selectSlope(loc, first.ssa, slope(0), slope(1));
      })
      .Case([&](arith::SelectOp select) {
        return selectSlope(loc, select.getCondition(), slope(1), slope(2));
      })
      // Rounding moves a number by less than its last bit.
      .Case<ConvertOp, arith::ExtFOp>([&](Operation *) { return slope(0); })
      .Case<BroadcastOp, SplatOp>([&](Operation *repeat) {
        Val of = slope(0);
        if (of.isNumber())
          return of;
        return Val::ofSsa(tb->broadcast(
            at(loc), of.ssa, axesOf(repeat->getResult(0).getType())));
      })
      .Default([&](Operation *) { return mathSlope(slopes, op); });
}

Val Elaborator::mathSlope(Slopes &slopes, Operation *op) {
  SMLoc loc = slopes.loc;
  auto times = [&](const Val &a, const Val &b) { return scaled(loc, a, b); };
  auto over = [&](const Val &a, const Val &b) {
    return binary(loc, "/", a, b);
  };
  Val x = op->getNumOperands() ? Val::ofSsa(op->getOperand(0)) : Val(),
      y = op->getNumResults() ? Val::ofSsa(op->getResult(0)) : Val();
  Val inner = op->getNumOperands() ? slopeOf(slopes, op->getOperand(0)) : Val();
  return llvm::TypeSwitch<Operation *, Val>(op)
      .Case([&](math::ExpOp) { return times(y, inner); })
      .Case([&](math::Exp2Op) {
        return times(times(y, Val::ofFloat(llvm::numbers::ln2)), inner);
      })
      .Case([&](math::LogOp) { return over(inner, x); })
      .Case([&](math::Log2Op) {
        return over(inner, times(x, Val::ofFloat(llvm::numbers::ln2)));
      })
      .Case([&](math::TanhOp) {
        return times(binary(loc, "-", Val::ofFloat(1), times(y, y)), inner);
      })
      .Case(
          [&](math::SqrtOp) { return over(inner, times(Val::ofFloat(2), y)); })
      .Case([&](math::RsqrtOp) {
        return times(times(Val::ofFloat(-0.5), times(y, times(y, y))), inner);
      })
      .Case([&](math::AbsFOp) {
        Val isNegative = binary(loc, "<", x, Val::ofFloat(0));
        return selectSlope(loc, isNegative.ssa, times(Val::ofFloat(-1), inner),
                           inner);
      })
      .Default([&](Operation *) {
        diags.error(loc,
                    "expects a function that is elementwise in its first "
                    "argument, but got " +
                        (isa<ReduceOp>(op) ? "a reduction"
                         : isa<DotOp>(op)
                             ? "a product"
                             : "'" + op->getName().getStringRef() + "'") +
                        " of it",
                    "the derivative is taken of one element by another");
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
