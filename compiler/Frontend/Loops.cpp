// Elaborator: `for` loops and the variables that they carry.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

void Elaborator::collectAssigned(const Expr &e,
                                 SmallVectorImpl<Variable *> &vars) {
  auto add = [&](const Expr &name) {
    Variable *variable =
        name.kind == Expr::Kind::Name ? find(name.name) : nullptr;
    if (variable && variable->isMutable && !llvm::is_contained(vars, variable))
      vars.push_back(variable);
  };
  if (e.kind == Expr::Kind::Method &&
      (e.name == "update" || e.name == "include" || e.name == "merge")) {
    add(*e.args[0]);
    size_t first = e.name == "merge" ? 3 : 2;
    for (const ExprPtr &arg :
         llvm::drop_begin(e.args, std::min(first, e.args.size())))
      add(*arg);
  }
  for (const ExprPtr &arg : e.args)
    collectAssigned(*arg, vars);
}

void Elaborator::collectAssigned(const std::vector<Stmt> &body,
                                 SmallVectorImpl<Variable *> &vars) {
  for (const Stmt &stmt : body) {
    if (stmt.value)
      collectAssigned(*stmt.value, vars);
    if (stmt.target && stmt.target->kind == Expr::Kind::Name)
      if (Variable *variable = find(stmt.target->name);
          variable && variable->isMutable &&
          !llvm::is_contained(vars, variable))
        vars.push_back(variable);
    collectAssigned(stmt.body, vars);
    collectAssigned(stmt.elseBody, vars);
  }
}

Value Elaborator::clampBound(SMLoc loc, const Val &bound, bool isUpper) {
  Location l = at(loc);
  Val s = toSsa(loc, bound);
  if (s.isError())
    return {};
  bool isDim =
      bound.is(Val::Kind::Affine) && isa<AffineSymbolExpr>(bound.affine);
  if (isDim || (bound.is(Val::Kind::Int) && bound.intValue >= 0 &&
                bound.intValue <= maxExtent))
    return s.ssa;
  // Data may hold anything: a promise tightens the bound and is never trusted.
  Value value = s.ssa;
  if (!isUpper)
    return tb->create<arith::MaxSIOp>(l, value, tb->constantInt(l, 0));
  AffineExpr limit = getAffineConstantExpr(maxExtent, ctx);
  if (bound.promise &&
      isa<AffineSymbolExpr>(bound.promise.getHi().getResult(0)))
    limit = bound.promise.getHi().getResult(0);
  return tb->create<arith::MinSIOp>(l, value, tb->affine(l, limit));
}

void Elaborator::makeTotal(SMLoc loc, Val &lo, Val &hi) {
  PredSet presence = lo.preds;
  presence.add(hi.preds);
  if (presence.empty())
    return;
  Location l = at(loc);
  Value isThere = tb->conjunction(l, presence);
  for (Val *bound : {&lo, &hi}) {
    Val total = toSsa(loc, *bound);
    total.promise = bound->promise;
    total.preds = {};
    total.ssa = tb->create<arith::SelectOp>(l, isThere, total.ssa,
                                            tb->constantInt(l, 0));
    *bound = total;
  }
}

bool Elaborator::loopBounds(const RangeDecl &range, size_t number,
                            LoopBounds &bounds) {
  if (!checkBlockName(range))
    return false;
  bounds.lo = range.lo ? eval(*range.lo) : Val::ofInt(0);
  bounds.hi = eval(*range.hi[number]);
  if (range.isLength && !bounds.lo.isError() && !bounds.hi.isError()) {
    // Parts that are as long as they are apart, and do not wrap.
    if (Value partIndex = partNumber(*range.lo, bounds.hi)) {
      size_t part = *stores->find(partIndex);
      std::optional<int64_t> most = stores->mostOf(part);
      if (most && *most < (int64_t(1) << 31) / bounds.hi.intValue)
        bounds.tells.push_back(part);
    }
    bounds.hi = binary(range.loc, "+", bounds.lo, bounds.hi);
  }
  if (bounds.lo.is(Val::Kind::Int) && bounds.lo.intValue < 0) {
    diags.error(range.lo->loc, "expects a range that starts at 0 or later");
    return false;
  }
  for (const Val *bound : {&bounds.lo, &bounds.hi}) {
    if (bound->isError())
      return false;
    Type type = elementOf(*bound);
    if (!type || !type.isInteger(32) ||
        (bound->is(Val::Kind::Ssa) && !axesOfVal(*bound).empty())) {
      diags.error(range.loc,
                  "expects integer scalars as bounds of a range, but got " +
                      describe(*bound));
      return false;
    }
  }
  makeTotal(range.loc, bounds.lo, bounds.hi);
  bounds.start = clampBound(range.loc, bounds.lo, /*isUpper=*/false);
  bounds.stop = clampBound(range.loc, bounds.hi, /*isUpper=*/true);
  if (!bounds.start || !bounds.stop)
    return false;
  bounds.rangeStart = bounds.start;
  Location l = at(range.loc);
  Type i32 = Builder(ctx).getI32Type();
  if (range.block.empty()) {
    bounds.step = tb->constantInt(l, 1);
  } else {
    bounds.step = tb->create<BlockSizeOp>(
        l, i32, Builder(ctx).getStringAttr(range.block));
    bounds.axis = tb->addAxis(&range, range.names[number], range.block, 0);
  }
  return !range.parts || splitBounds(range, number, bounds);
}

Value Elaborator::integerScalar(const Expr &e, StringRef what) {
  Val v = eval(e);
  if (v.isError())
    return {};
  Type type = elementOf(v);
  if (!type || !type.isInteger(32) || !axesOfVal(v).empty()) {
    diags.error(e.loc, "expects an integer scalar as " + what + ", but got " +
                           describe(v));
    return {};
  }
  return materialise(e.loc, v);
}

void Elaborator::noteParts(const Val &parts, AffineExpr most) {
  auto symbol = dyn_cast_if_present<AffineSymbolExpr>(parts.affine);
  auto size = llvm::find_if(launchSizes, [&](const LaunchSizeInfo &s) {
    return symbol && dimNames[symbol.getPosition()] == s.decl->name;
  });
  if (size == launchSizes.end())
    return;
  if (most && !llvm::is_contained(size->parts, most))
    size->parts.push_back(most);
}

bool Elaborator::splitBounds(const RangeDecl &range, size_t number,
                             LoopBounds &bounds) {
  Value part = integerScalar(*range.part, "the number of a part"),
        parts = integerScalar(*range.parts, "a number of parts");
  if (!part || !parts)
    return false;
  AffineExpr most = bounds.hi.promise ? bounds.hi.promise.getHi().getResult(0)
                    : bounds.hi.is(Val::Kind::Ssa) ? bounds.hi.atMost
                                                   : asAffine(bounds.hi);
  noteParts(eval(*range.parts), most);
  Location l = at(range.loc);
  Value one = tb->constantInt(l, 1), zero = tb->constantInt(l, 0);
  // Equal numbers of blocks, but for the last parts; of elements, where the
  // loop is a range of its kernel. Clamped at each step: no part leaves the
  // range, whatever its number is.
  bool isInBlocks = !isLoopInOrder(range, number);
  Value unit = isInBlocks ? bounds.step : one;
  Value stop = tb->create<arith::MaxSIOp>(l, bounds.stop, bounds.start);
  Value length = tb->create<arith::SubIOp>(l, stop, bounds.start);
  auto ceilDiv = [&](Value a, Value b) {
    Value more = tb->create<arith::SubIOp>(l, b, one);
    return tb->floorDiv(l, tb->create<arith::AddIOp>(l, a, more), b);
  };
  Value units = ceilDiv(length, unit);
  Value ofEach = ceilDiv(units, tb->create<arith::MaxSIOp>(l, parts, one));
  if (isInBlocks) {
    // A part begins where a block does. Its last block ends with it, or where
    // the range ends: that is the end of its lanes.
    units = tb->create<arith::MaxSIOp>(l, units, zero);
    Value first = tb->create<arith::MulIOp>(l, part, ofEach);
    first = tb->create<arith::MinSIOp>(
        l, tb->create<arith::MaxSIOp>(l, first, zero), units);
    Value count = tb->create<arith::MinSIOp>(
        l, tb->create<arith::SubIOp>(l, units, first), ofEach);
    Value from = tb->create<arith::AddIOp>(
        l, bounds.start, tb->create<arith::MulIOp>(l, first, unit));
    // Behind every range, and a multiple of every block.
    static_assert((maxExtent + 1) % maxBlock == 0);
    from = tb->create<arith::MaxSIOp>(l, from, bounds.start);
    bounds.start =
        tb->create<arith::MinSIOp>(l, from, tb->constantInt(l, maxExtent + 1));
    Value end = tb->create<arith::AddIOp>(
        l, bounds.start, tb->create<arith::MulIOp>(l, count, unit));
    bounds.stop = tb->create<arith::MinSIOp>(l, end, bounds.stop);
    return true;
  }
  Value skipped = tb->create<arith::MulIOp>(l, part, ofEach);
  Value from = tb->create<arith::AddIOp>(l, bounds.start, skipped);
  from = tb->create<arith::MaxSIOp>(l, from, bounds.start);
  from = tb->create<arith::MinSIOp>(l, from, stop);
  Value left = tb->create<arith::SubIOp>(l, stop, from);
  Value count = tb->create<arith::MinSIOp>(l, left, ofEach);
  bounds.start = from;
  bounds.stop = tb->create<arith::MinSIOp>(
      l, tb->create<arith::AddIOp>(l, from, count), bounds.stop);
  PredSet preds = bounds.hi.preds;
  bounds.hi = Val::ofSsa(bounds.stop, preds);
  return true;
}

void Elaborator::bindLoopVar(const RangeDecl &range, size_t number,
                             const LoopBounds &bounds, Value iv) {
  Val v;
  // The range starts at its clamped lower bound.
  Val lo = bounds.lo.is(Val::Kind::Int)
               ? bounds.lo
               : Val::ofSsa(bounds.rangeStart, bounds.lo.preds);
  if (bounds.axis) {
    v = rangeVal(range.loc, bounds.axis, iv, lo, bounds.hi);
  } else {
    v = Val::ofSsa(iv, bounds.hi.preds);
    v.preds.add(lo.preds);
    v.nonNegative = true;
    v.upper = endOf(bounds.hi);
    if (!bounds.lo.is(Val::Kind::Ssa))
      v.lower = asAffine(bounds.lo);
  }
  stores->enter(range.names[number], v.ssa, bounds.tells, greatestOf(v));
  define(range.loc, range.names[number], v, /*isMutable=*/false);
}

BlockedRange Elaborator::blockedRange(const RangeDecl &range,
                                      const LoopBounds &bounds, Operation *loop,
                                      ArrayRef<Variable *> carried) const {
  Value first = cast<scf::ForOp>(loop).getInductionVar();
  BlockedRange blocked{range.names.front(), bounds.axis, loop, first, {}};
  for (const Variable *variable : carried)
    // A softmax is carried as its maximum and its sum.
    blocked.names.append(variable->isSoftmax() ? 2 : 1, variable->name);
  return blocked;
}

scf::ForOp Elaborator::enterWhen(const RangeDecl &range, ValueRange carried) {
  if (!range.when)
    return {};
  Val condition = evalCondition(*range.when, "condition of 'when'");
  if (condition.isError())
    return {};
  if (!axesOfVal(condition).empty()) {
    diags.error(range.when->loc,
                "expects a condition that is the same for all lanes of a step, "
                "but got " +
                    describe(condition),
                "any(c): whether it holds in some lane");
    return {};
  }
  Location l = at(range.when->loc);
  // An absent condition does not hold.
  PredSet terms = condition.preds;
  if (Value c = materialise(range.when->loc, condition))
    terms.add(c);
  Value zero = tb->constantInt(l, 0), one = tb->constantInt(l, 1);
  Value steps =
      tb->create<arith::SelectOp>(l, tb->conjunction(l, terms), one, zero);
  return tb->enterLoop(l, zero, steps, one, carried);
}

void Elaborator::elaborateFor(const Stmt &stmt) {
  constexpr unsigned kDepth = 6; // a body is built up to twice per loop
  if (tb->loopDepth() >= kDepth) {
    diags.error(stmt.loc, "expects at most " + Twine(kDepth) +
                              " loops inside each other");
    return;
  }
  if (stmt.range.names.size() != 1)
    return diags.unsupported(
        stmt.range.loc, "a loop over a pair",
        "write two loops, one inside the other, or one over "
        "the product with 'r / R' and 'r % R'");
  LoopBounds bounds;
  if (!loopBounds(stmt.range, 0, bounds))
    return;
  SmallVector<Variable *> carried;
  collectAssigned(stmt.body, carried);
  llvm::erase_if(carried, [](Variable *v) { return v->value.isError(); });

  // The presence of a carried variable must be known before the body is built:
  // start from what it is before the loop, build, join, until nothing is added.
  SmallVector<Value> inits;
  for (Variable *variable : carried) {
    if (variable->isSoftmax())
      inits.append({variable->max, variable->sum});
    else
      inits.push_back(variable->value.ssa);
  }
  auto setValues = [&](ValueRange values) {
    size_t next = 0;
    for (Variable *variable : carried) {
      if (variable->isSoftmax()) {
        variable->max = values[next++];
        variable->sum = values[next++];
      } else {
        variable->value.ssa = values[next++];
      }
    }
  };
  auto predsOf = [](Variable *v) -> PredSet & {
    return v->isSoftmax() ? v->preds : v->value.preds;
  };
  Location l = at(stmt.loc);
  while (true) {
    unsigned errorsBefore = diags.errorCount();
    size_t storesBefore = stores->count(), iterations = stores->depth();
    SmallVector<PredSet> before;
    for (Variable *variable : carried)
      before.push_back(predsOf(variable));

    scf::ForOp loop =
        tb->enterLoop(l, bounds.start, bounds.stop, bounds.step, inits);
    Block *body = loop.getBody();
    frames.back().scopes.emplace_back();
    setValues(loop.getRegionIterArgs());
    bindLoopVar(stmt.range, 0, bounds, loop.getInductionVar());
    frames.back().scopes.emplace_back();
    scf::ForOp inner = enterWhen(stmt.range, loop.getRegionIterArgs());
    if (inner)
      setValues(inner.getRegionIterArgs());
    elaborate(stmt.body);
    frames.back().scopes.pop_back();
    frames.back().scopes.pop_back();

    SmallVector<Value> results;
    bool grown = false;
    for (auto [i, variable] : llvm::enumerate(carried)) {
      if (variable->isSoftmax())
        results.append({variable->max, variable->sum});
      else
        results.push_back(variable->value.ssa);
      PredSet after = before[i];
      for (Value pred : predsOf(variable)) {
        if (tb->isOutside(pred) && pred.getParentBlock() != body)
          after.add(pred);
        else
          diags.error(stmt.loc,
                      "'" + variable->name +
                          "', which the loop carries, would lose lanes in "
                          "some steps only",
                      "a condition on the loop's own index must be reduced "
                      "over, or filled with 'else', before it is carried");
      }
      grown |= after.size() != before[i].size();
      predsOf(variable) = after;
    }
    if (inner) {
      tb->createHere<scf::YieldOp>(l, results);
      tb->leave();
      results.assign(inner->result_begin(), inner->result_end());
    }
    tb->createHere<scf::YieldOp>(l, results);
    tb->leave();
    stores->leave(iterations);
    if (grown && diags.errorCount() == errorsBefore) {
      folds->forget(loop);
      loop.erase();
      stores->truncate(storesBefore);
      setValues(inits);
      continue;
    }
    setValues(loop.getResults());
    if (bounds.axis)
      folds->add(blockedRange(stmt.range, bounds, loop, carried));
    return;
  }
}

} // namespace selvedge::frontend
