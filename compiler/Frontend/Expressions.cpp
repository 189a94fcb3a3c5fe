// Elaborator: expressions other than operators and calls.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

Val Elaborator::eval(const Expr &e) {
  // Bounds the recursion: one tree is at most 200 high, calls nest trees.
  constexpr unsigned kDepth = 400;
  if (!spend(e.loc) || diags.full())
    return Val::error();
  if (evalDepth >= kDepth) {
    diags.error(e.loc, "expects at most " + Twine(kDepth) +
                           " levels of nesting after inlining");
    return Val::error();
  }
  ++evalDepth;
  Val v = evalKind(e);
  --evalDepth;
  return v;
}

Val Elaborator::evalKind(const Expr &e) {
  switch (e.kind) {
  case Expr::Kind::Int:
    return Val::ofInt(e.intValue);
  case Expr::Kind::Float:
    return Val::ofFloat(e.floatValue);
  case Expr::Kind::Bool:
    return Val::ofBool(e.intValue);
  case Expr::Kind::Name:
    return evalName(e);
  case Expr::Kind::Pair: {
    Val a = eval(*e.args[0]), b = eval(*e.args[1]);
    if (a.isError() || b.isError())
      return Val::error();
    Val v = Val::of(Val::Kind::Pair);
    v.pair = std::make_shared<std::pair<Val, Val>>(std::move(a), std::move(b));
    return v;
  }
  case Expr::Kind::Full:
    return Val::of(Val::Kind::Full);
  case Expr::Kind::Slice:
    return evalSlice(e);
  case Expr::Kind::Unary:
    return evalUnary(e);
  case Expr::Kind::Binary:
    return evalBinary(e);
  case Expr::Kind::Call:
    return evalCall(e);
  case Expr::Kind::Method:
    return evalMethod(e);
  case Expr::Kind::Index:
    return evalIndex(e);
  case Expr::Kind::Cast: {
    Val v = eval(*e.args[0]);
    Type to = resolveType(e.loc, e.name);
    return to ? convert(e.loc, v, to, Overflow::Sat) : Val::error();
  }
  case Expr::Kind::Where:
    return evalWhere(e);
  case Expr::Kind::Else:
    return evalElse(e);
  case Expr::Kind::If:
    return evalIf(e);
  case Expr::Kind::Zeros:
    return evalZeros(e);
  case Expr::Kind::Vjp:
    return evalVjp(e);
  }
  return Val::error();
}

std::optional<Val> Elaborator::lookupSignature(StringRef name) {
  if (auto it = params.find(name); it != params.end())
    return it->second;
  if (auto it = dimIndex.find(name); it != dimIndex.end()) {
    Val v = Val::of(Val::Kind::Affine);
    v.affine = getAffineSymbolExpr(it->second, ctx);
    return v;
  }
  for (auto [i, t] : llvm::enumerate(tensors)) {
    if (t.decl->name != name)
      continue;
    Val v = Val::of(Val::Kind::Tensor);
    v.tensor = i;
    return v;
  }
  for (auto [i, s] : llvm::enumerate(scalars)) {
    if (s.decl->name != name)
      continue;
    if (!inKernel())
      return Val::error();
    return Val::ofSsa(
        kernelBlock->getArgument(dimNames.size() + tensors.size() + i));
  }
  if (Type type = builtinType(name))
    return Val::ofType(type);
  return std::nullopt;
}

Val Elaborator::evalName(const Expr &e) {
  if (Variable *variable = find(e.name))
    return variable->value;
  if (std::optional<Val> v = lookupSignature(e.name)) {
    if (v->isError() && !params.count(e.name))
      diags.error(e.loc,
                  "the scalar '" + e.name + "' is known at run time only",
                  "sizes depend on parameters and dims");
    return *v;
  }
  std::vector<StringRef> names = visibleNames();
  std::string hint = didYouMean(e.name, names);
  if (functions.count(e.name))
    hint = findView(e.name) ? ("'" + e.name + "' is a view: index it").str()
                            : ("'" + e.name + "' is a function: call it").str();
  else if (tb && tb->isBlock(e.name))
    hint = "a block size may only follow 'by': the plan chooses it";
  diags.error(e.loc, "unknown name '" + e.name + "'", hint);
  return Val::error();
}

Val Elaborator::evalCondition(const Expr &e, StringRef what,
                              StringRef inClause) {
  llvm::SaveAndRestore scope(clause, inClause.empty() ? clause : inClause);
  Val v = eval(e);
  if (v.isError() || v.is(Val::Kind::Bool))
    return v;
  Type element = elementOf(v);
  if (element && element.isInteger(1))
    return v;
  diags.error(e.loc,
              "expects a condition as " + what + ", but got " + describe(v));
  return Val::error();
}

Val Elaborator::evalWhere(const Expr &e) {
  Val value = eval(*e.args[0]);
  Val condition = evalCondition(*e.args[1], "right side of 'where'", "where");
  return applyWhere(e.loc, value, condition);
}

SmallVector<Value> Elaborator::termsOf(SMLoc loc, const Val &condition) {
  if (condition.isError() ||
      (condition.is(Val::Kind::Bool) && condition.intValue))
    return {};
  if (condition.conjuncts.empty() || condition.ssa)
    return {materialise(loc, condition)};
  return SmallVector<Value>(condition.conjuncts.begin(),
                            condition.conjuncts.end());
}

Val Elaborator::applyWhere(SMLoc loc, const Val &value, const Val &condition) {
  if (value.isError() || condition.isError())
    return Val::error();
  if (condition.is(Val::Kind::Bool) && condition.intValue)
    return value;
  Val v = toSsa(loc, value);
  if (v.isError())
    return v;
  SmallVector<Value> terms = termsOf(loc, condition);
  // Lanes are removed per point of all axes that the condition mentions.
  SmallVector<StringAttr> axes = axesOfVal(v);
  for (Value term : terms)
    axes = tb->unionOf(axes, axesOf(term.getType()));
  v.ssa = tb->broadcast(at(loc), v.ssa, axes);
  v.preds.add(condition.preds);
  for (Value term : terms)
    v.preds.add(term);
  v.range.reset();
  return v;
}

Val Elaborator::evalElse(const Expr &e) {
  Val value = eval(*e.args[0]), otherwise = eval(*e.args[1]);
  if (value.isError() || otherwise.isError())
    return Val::error();
  Type type = elementOf(value);
  Val a = toSsa(e.loc, value);
  Val b = toSsa(e.loc, otherwise, type);
  if (a.isError() || b.isError())
    return Val::error();
  if (elementOf(a) != elementOf(b)) {
    diags.error(e.loc, "expects equal types around 'else', but got " +
                           describe(a) + " and " + describe(b));
    return Val::error();
  }
  Location l = at(e.loc);
  PredSet ends = takeEnds(e.loc, a.preds);
  Value present = tb->conjunction(l, a.preds);
  if (!present) {
    a.preds = ends;
    return a;
  }
  ends.add(takeEnds(e.loc, b.preds));
  SmallVector<StringAttr> axes = tb->unionOf(
      tb->unionOf(axesOfVal(a), axesOfVal(b)), axesOf(present.getType()));
  Value result = tb->create<arith::SelectOp>(l, tb->broadcast(l, present, axes),
                                             tb->broadcast(l, a.ssa, axes),
                                             tb->broadcast(l, b.ssa, axes));
  ends.add(joinElse(e.loc, a.preds, b.preds));
  return Val::ofSsa(result, ends);
}

std::optional<bool> Elaborator::constantCondition(const Expr &e, const Val &v) {
  if (v.is(Val::Kind::Bool))
    return v.intValue;
  if (!v.isError())
    diags.error(e.loc,
                "expects a condition known at compile time, but got " +
                    describe(v),
                "choose per element with select(c, a, b) or 'where'");
  return std::nullopt;
}

Val Elaborator::evalIf(const Expr &e) {
  Val condition = evalCondition(*e.args[0], "condition of 'if'");
  // Whether the caller passed a tensor is the same for all lanes.
  if (condition.ssa && condition.ssa.getDefiningOp<IsPresentOp>())
    return selectVal(e, condition, eval(*e.args[1]), eval(*e.args[2]));
  std::optional<bool> known = constantCondition(*e.args[0], condition);
  return known ? eval(*e.args[*known ? 1 : 2]) : Val::error();
}

StringAttr Elaborator::resolveAxis(const Expr &e, bool create, bool quiet) {
  auto wrong = [&](const Twine &message, const Twine &hint) {
    if (!quiet)
      diags.error(e.loc, message, hint);
    return StringAttr();
  };
  if (e.kind != Expr::Kind::Name)
    return wrong("expects the name of a range or dimension as axis", "");
  if (Variable *variable = find(e.name)) {
    if (variable->value.range)
      return variable->value.range->axis;
    return wrong("expects an axis, but '" + e.name + "' is " +
                     describe(variable->value),
                 "a range has an axis when it is bound with 'by'");
  }
  std::optional<Val> v = lookupSignature(e.name);
  if (!v) {
    std::vector<StringRef> names = visibleNames();
    return wrong("unknown axis '" + e.name + "'", didYouMean(e.name, names));
  }
  if (!create) {
    if (StringAttr axis = tb->findFullAxis(e.name))
      return axis;
    return wrong("no tile here has the axis '" + e.name + "'",
                 "'" + e.name + "' becomes an axis by ':' in an index");
  }
  if (v->is(Val::Kind::Int) && v->intValue >= 1)
    return tb->fullAxis(e.name, v->intValue);
  return wrong("expects a range or a dimension bound at compile time, but '" +
                   e.name + "' is " + describe(*v),
               v->is(Val::Kind::Affine)
                   ? "loop over it with 'for', or bind it to a parameter: '" +
                         e.name + ": int = 64'"
                   : "");
}

Val Elaborator::evalZeros(const Expr &e) {
  if (!inKernel()) {
    diags.error(e.loc, "'zeros' belongs into a kernel");
    return Val::error();
  }
  Type type = resolveType(e.loc, e.name);
  SmallVector<StringAttr> axes;
  for (const ExprPtr &arg : e.args) {
    StringAttr axis = resolveAxis(*arg, /*create=*/true);
    if (!axis)
      return Val::error();
    if (llvm::is_contained(axes, axis)) {
      diags.error(arg->loc, "expects distinct axes, but got '" +
                                axis.getValue() + "' twice");
      return Val::error();
    }
    axes.push_back(axis);
  }
  if (!type)
    return Val::error();
  if (isByte(type)) {
    std::string name = nameOf(type).str();
    diags.error(e.loc, "expects f32 or i32 to compute with, but got " + name,
                name + " is a type of tensors: convert what is stored with "
                       "'as'");
    return Val::error();
  }
  Location l = at(e.loc);
  Value zero = isa<FloatType>(type) ? tb->constant(l, type, 0)
               : type.isInteger(1)  ? tb->constantBool(l, false)
                                    : tb->constantInt(l, 0);
  return Val::ofSsa(tb->broadcast(l, zero, axes));
}

Value Elaborator::saturated(Location l, Value value, IntegerType byte) {
  auto bound = [&](int64_t limit) {
    return tb->broadcast(l, tb->constantInt(l, limit), axesOf(value.getType()));
  };
  bool isUnsigned = byte.isUnsigned();
  value =
      tb->create<arith::MaxSIOp>(l, value, bound(isUnsigned ? 0 : INT8_MIN));
  return tb->create<arith::MinSIOp>(l, value,
                                    bound(isUnsigned ? UINT8_MAX : INT8_MAX));
}

/// Toward zero, saturated, NaN as 0: as `cvt.rzi.s32.f32`.
static int32_t toInteger(double number) {
  auto value = static_cast<float>(number);
  if (std::isnan(value))
    return 0;
  return static_cast<int32_t>(std::clamp(std::trunc(static_cast<double>(value)),
                                         static_cast<double>(INT32_MIN),
                                         static_cast<double>(INT32_MAX)));
}

Val Elaborator::convertByte(SMLoc loc, const Val &byte, Type to) {
  Location l = at(loc);
  Type from = elementOf(byte), ssaType = byte.ssa.getType();
  // No value of a byte is out of range; Inf has to stay Inf.
  Overflow overflow =
      isa<Float8E5M2Type>(from) ? Overflow::Inf : Overflow::Clamp;
  Value wide, value = byte.ssa;
  Builder b(ctx);
  if (isByteFloat(from)) {
    wide = tb->create<arith::ExtFOp>(
        l, withElementType(ssaType, b.getF32Type()), value);
  } else {
    Type i32 = withElementType(ssaType, b.getI32Type());
    if (from.isUnsignedInteger()) {
      value = tb->create<UnrealizedConversionCastOp>(
          l, withElementType(ssaType, signlessOf(from)), value);
      wide = tb->create<arith::ExtUIOp>(l, i32, value);
    } else {
      wide = tb->create<arith::ExtSIOp>(l, i32, value);
    }
  }
  return convert(loc, Val::ofSsa(wide, byte.preds), to, overflow);
}

Val Elaborator::convertToInteger(SMLoc loc, const Val &v, Type to) {
  Location l = at(loc);
  Val s = v;
  Builder b(ctx);
  Type i32 = withElementType(s.ssa.getType(), b.getI32Type());
  if (isa<FloatType>(elementOf(s))) {
    s = convert(loc, s, b.getF32Type(), Overflow::Inf);
    s = Val::ofSsa(tb->create<arith::FPToSIOp>(l, i32, s.ssa), s.preds);
  }
  if (to.isInteger(32))
    return s;
  Value value =
      tb->create<arith::TruncIOp>(l, withElementType(i32, signlessOf(to)),
                                  saturated(l, s.ssa, cast<IntegerType>(to)));
  if (to.isUnsignedInteger())
    value = tb->create<UnrealizedConversionCastOp>(l, withElementType(i32, to),
                                                   value);
  return Val::ofSsa(value, s.preds);
}

Val Elaborator::convert(SMLoc loc, const Val &v, Type to, Overflow overflow) {
  if (v.isError())
    return v;
  Type from = elementOf(v);
  Type f32 = Builder(ctx).getF32Type();
  if (!from) {
    diags.error(loc, "expects a value before 'as', but got " + describe(v));
    return Val::error();
  }
  if (from == to)
    return v;
  if (v.isNumber() && to.isF32())
    return Val::ofFloat(v.number());
  if (v.is(Val::Kind::Float) && to.isInteger(32))
    return Val::ofInt(toInteger(v.floatValue));
  Val s = toSsa(loc, v, v.isNumber() ? f32 : Type());
  if (s.isError())
    return s;
  Location l = at(loc);
  auto typeOf = [&](Type element) {
    return withElementType(s.ssa.getType(), element);
  };
  if (to.isInteger(32) && from.isInteger(1))
    return Val::ofSsa(tb->create<arith::ExtUIOp>(l, typeOf(to), s.ssa),
                      s.preds);
  if (isByte(from))
    return convertByte(loc, s, to);
  bool isNumber = !from.isInteger(1);
  if ((to.isInteger(32) || to.isInteger(8)) && isNumber)
    return convertToInteger(loc, s, to);
  if (!isa<FloatType>(to)) {
    diags.unsupported(
        loc, "the conversion of " + describe(v) + " to " + nameOf(to).str(),
        isNumber ? "compare: 'x != 0'" : "convert it to i32 first");
    return Val::error();
  }
  Value value = s.ssa;
  if (from.isInteger(1))
    value = tb->create<arith::UIToFPOp>(l, typeOf(f32), value);
  else if (value.getType() != typeOf(f32) && from.isInteger(32))
    value = tb->create<arith::SIToFPOp>(l, typeOf(f32), value);
  else if (from.isBF16() || from.isF16())
    value = tb->create<arith::ExtFOp>(l, typeOf(f32), value);
  if (!to.isF32())
    value = tb->create<ConvertOp>(l, typeOf(to), value,
                                  isByteFloat(to) ? Overflow::Clamp : overflow);
  return Val::ofSsa(value, s.preds);
}

} // namespace selvedge::frontend
