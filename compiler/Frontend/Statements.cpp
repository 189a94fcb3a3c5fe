// Elaborator: bindings, assignments and stores.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Accumulate.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

void Elaborator::elaborate(const std::vector<Stmt> &body) {
  for (const Stmt &stmt : body) {
    if (diags.full() || !spend(stmt.loc))
      return;
    elaborateStmt(stmt);
  }
}

void Elaborator::elaborateStmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Kind::Let:
  case Stmt::Kind::Var:
    return elaborateBinding(stmt);
  case Stmt::Kind::Assign:
  case Stmt::Kind::AddAssign:
    return assign(stmt);
  case Stmt::Kind::Eval: {
    Val v = eval(*stmt.value);
    if (stmt.value->kind != Expr::Kind::Method && !v.isError())
      diags.error(stmt.loc, "this statement has no effect",
                  "bind the value with 'let', or store it");
    return;
  }
  case Stmt::Kind::For:
    return elaborateFor(stmt);
  case Stmt::Kind::If: {
    std::optional<bool> condition = constantCondition(
        *stmt.value, evalCondition(*stmt.value, "condition of 'if'"));
    if (!condition)
      return;
    frames.back().scopes.emplace_back();
    elaborate(*condition ? stmt.body : stmt.elseBody);
    frames.back().scopes.pop_back();
    return;
  }
  }
}

/// `let (a, b) = pair;`
void Elaborator::elaboratePair(const Stmt &stmt, const Val &v) {
  if (!v.isError() && !v.is(Val::Kind::Pair))
    diags.error(stmt.loc,
                "expects a pair for '(" + stmt.name + ", " + stmt.second +
                    ")', but got " + describe(v),
                "'vjp(f)(x)' gives one");
  bool isPair = v.is(Val::Kind::Pair);
  define(stmt.loc, stmt.name, isPair ? v.pair->first : Val::error(), false);
  define(stmt.loc, stmt.second, isPair ? v.pair->second : Val::error(), false);
}

void Elaborator::elaborateBinding(const Stmt &stmt) {
  Val v = eval(*stmt.value);
  if (!stmt.second.empty())
    return elaboratePair(stmt, v);
  bool isVar = stmt.kind == Stmt::Kind::Var;
  if (v.is(Val::Kind::Softmax)) {
    auto owned = llvm::find_if(
        newStates, [&](const auto &state) { return state.get() == v.softmax; });
    if (!isVar || owned == newStates.end()) {
      diags.error(stmt.loc, isVar ? "an online softmax cannot be copied"
                                  : "an online softmax changes: bind it with "
                                    "'var'");
      define(stmt.loc, stmt.name, Val::error(), isVar);
      return;
    }
    Variable *variable = define(stmt.loc, stmt.name, v, true);
    *variable = std::move(**owned);
    newStates.erase(owned);
    variable->name = stmt.name;
    variable->value = v;
    variable->value.softmax = variable;
    variable->isMutable = true;
    return;
  }
  bool isValue = elementOf(v) || v.isError() || v.is(Val::Kind::Pair);
  if (!isValue) {
    diags.error(stmt.loc, "expects a value for '" + stmt.name + "', but got " +
                              describe(v));
    v = Val::error();
  }
  if (isVar) {
    v = toSsa(stmt.value->loc, v);
    Val plain = v.isError() ? v : Val::ofSsa(v.ssa, v.preds);
    v = plain; // a variable keeps no facts about its first value
  }
  if (onBinding && v.is(Val::Kind::Ssa) && v.ssa)
    bound.emplace_back(stmt.loc, v.ssa, v.preds);
  define(stmt.loc, stmt.name, v, isVar);
}

void Elaborator::assign(const Stmt &stmt) {
  if (stmt.target->kind == Expr::Kind::Index) {
    const Expr &base = *stmt.target->args[0];
    if (base.kind == Expr::Kind::Name && findView(base.name))
      return diags.error(base.loc,
                         "cannot store to the view '" + base.name + "'",
                         "store to the tensor that it stands for");
    return store(stmt);
  }
  StringRef name = stmt.target->name;
  Variable *variable = find(name);
  if (!variable) {
    std::vector<StringRef> names = visibleNames();
    bool isTensor = false;
    for (const TensorInfo &t : tensors)
      isTensor |= t.decl->name == name;
    diags.error(stmt.target->loc,
                isTensor ? "expects indices after the tensor '" + name + "'"
                         : "no variable '" + name + "'",
                isTensor ? ("write '" + name + "[...] = ...'").str()
                         : didYouMean(name, names));
    return;
  }
  if (!variable->isMutable || variable->isSoftmax()) {
    if (!variable->value.isError())
      diags.error(stmt.target->loc, "cannot assign to '" + name + "'",
                  variable->isSoftmax() ? "use its methods"
                                        : "declare it with 'var'");
    return;
  }
  assignVar(stmt, *variable);
}

void Elaborator::assignVar(const Stmt &stmt, Variable &variable) {
  if (variable.value.isError()) {
    eval(*stmt.value);
    return;
  }
  Val v;
  if (stmt.kind == Stmt::Kind::Assign) {
    v = eval(*stmt.value);
  } else if (isDot(*stmt.value) && elementOf(variable.value).isF32()) {
    // The arguments may update the variable itself: read it after them.
    v = callDot(*stmt.value, &variable.value);
  } else {
    v = eval(*stmt.value);
    v = binary(stmt.loc, "+", variable.value, v);
  }
  if (v.isError())
    return;
  Type type = elementOf(variable.value);
  Val s = toSsa(stmt.loc, v, v.is(Val::Kind::Int) ? type : Type());
  if (s.isError())
    return;
  SmallVector<StringAttr> axes = axesOfVal(variable.value);
  if (elementOf(s) != type || tb->unionOf(axes, axesOfVal(s)) != axes) {
    diags.error(stmt.loc,
                "expects a value like '" + stmt.target->name + "', " +
                    describe(variable.value) + ", but got " + describe(s),
                elementOf(s) == type
                    ? "declare it with the axes that it takes: "
                      "'zeros f32[i]' has those of 'i'"
                    : "");
    return;
  }
  variable.value =
      Val::ofSsa(tb->broadcast(at(stmt.loc), s.ssa, axes), s.preds);
}

Val Elaborator::evalStored(const Expr &e, const TensorInfo &target) {
  // A narrowing right before the store follows the output's overflow rule.
  if (e.kind == Expr::Kind::Cast) {
    Val v = eval(*e.args[0]);
    Type to = resolveType(e.loc, e.name);
    return to ? convert(e.loc, v, to, target.overflow) : Val::error();
  }
  if (e.kind == Expr::Kind::Where) {
    Val v = evalStored(*e.args[0], target);
    return applyWhere(
        e.loc, v, evalCondition(*e.args[1], "right side of 'where'", "where"));
  }
  return eval(e);
}

void Elaborator::store(const Stmt &stmt) {
  Access access;
  bool ok = resolveAccess(*stmt.target, access);
  if (!ok) {
    eval(*stmt.value);
    return;
  }
  TensorInfo &info = tensors[access.tensor];
  StringRef name = info.decl->name;
  bool isAdd = stmt.kind == Stmt::Kind::AddAssign;
  Val v = isAdd ? eval(*stmt.value) : evalStored(*stmt.value, info);
  if (v.isError() || isOfOtherKernel(access.tensor))
    return;
  info.isStoredHere = true;
  if (info.decl->isTemp && info.isLoadedHere) {
    diags.error(stmt.target->loc,
                "temp '" + name + "' is loaded and stored by the same kernel",
                "iterations of a kernel run in any order: store it in another "
                "kernel");
    return;
  }
  if (!info.decl->isStored()) {
    diags.error(stmt.target->loc, "cannot store to the input '" + name + "'");
    diags.note(info.decl->loc, "the tensor is declared here");
    return;
  }
  if (isAdd && !info.element.isF32() && !info.element.isInteger(32)) {
    diags.error(stmt.target->loc,
                "expects a tensor of f32 or i32 to add to, but '" + name +
                    "' is of " + info.decl->elementType,
                "add to a temp of f32, and convert it in a second kernel");
    return;
  }
  Val s = toSsa(stmt.value->loc, v,
                v.isNumber() &&
                        (isa<FloatType>(info.element) || isByte(info.element))
                    ? info.element
                    : Type());
  if (s.isError())
    return;
  if (elementOf(s) != info.element) {
    diags.error(stmt.value->loc,
                "expects a value of type " + info.decl->elementType + " for " +
                    info.decl->storedWord() + " '" + name + "', but got " +
                    describe(s),
                "convert it explicitly: 'x as " + info.decl->elementType + "'");
    return;
  }
  for (StringAttr axis : axesOfVal(s)) {
    if (llvm::is_contained(access.axes, axis))
      continue;
    diags.error(stmt.loc,
                "the value has the axis '" + axis.getValue() +
                    "', which no index of '" + name + "' has",
                "reduce over it, or index with it");
    return;
  }
  std::optional<bool> anyOrder = false;
  if (isAdd)
    anyOrder = checkAddition(stmt.loc, access.tensor, access);
  else
    stores->store(stmt.loc, name, access.tensor, access.coordinates,
                  access.values);
  if (!anyOrder)
    return;
  PredSet presence = s.preds;
  presence.add(access.preds);
  auto op = tb->createHere<StoreOp>(
      at(stmt.loc), s.ssa,
      kernelBlock->getArgument(dimNames.size() + access.tensor), access.values,
      ValueRange(presence));
  if (isAdd)
    setAddsToMemory(op, *anyOrder && info.element.isF32());
}

} // namespace selvedge::frontend
