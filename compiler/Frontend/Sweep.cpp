// Elaborator: derivatives of functions that reduce rows.
//
// A gradient of the function's value goes back through its operations, last one
// first. Where a gradient is absent it is 0.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

namespace {

/// Finds the operations between a value and what it is made of.
class Dependence {
public:
  Dependence(Sweep &sweep, const llvm::DenseSet<Value> &loads)
      : sweep(sweep), loads(loads) {}

  bool dependsOn(Value v) {
    if (loads.contains(v))
      return true;
    Operation *op = v.getDefiningOp();
    // A condition or an integer is the same around almost every number.
    if (!op || !isa<FloatType>(getElementTypeOrSelf(v.getType())))
      return false;
    auto [known, isNew] = found.try_emplace(v, false);
    if (!isNew)
      return known->second;
    bool depends = false;
    for (OpOperand &operand : op->getOpOperands())
      depends |= dependsOn(operand.get()) || sweep.uses.contains(&operand);
    if (depends)
      sweep.operations.push_back(op);
    return found[v] = depends;
  }

private:
  Sweep &sweep;
  const llvm::DenseSet<Value> &loads;
  llvm::DenseMap<Value, bool> found;
};

} // namespace

std::shared_ptr<Sweep> Elaborator::sweepOf(const Val &x, Value standIn,
                                           const Val &value, size_t first) {
  auto sweep = std::make_shared<Sweep>();
  sweep->x = x;
  sweep->value = value;
  for (OpOperand &use : standIn.getUses())
    sweep->uses.insert(&use);
  llvm::DenseSet<Value> loads;
  for (size_t i = first; i < diffLoads.size(); ++i)
    if (loads.insert(diffLoads[i].first).second)
      sweep->loads.push_back(i);
  Dependence(*sweep, loads).dependsOn(value.ssa);
  return sweep;
}

bool Elaborator::hasReduction(const Sweep &sweep) {
  return llvm::any_of(sweep.operations, llvm::IsaPred<ReduceOp>);
}

Elaborator::SweptGradients Elaborator::sweepBack(SMLoc loc, const Sweep &sweep,
                                                 Val g) {
  Value value = sweep.value.ssa;
  g.ssa = tb->broadcast(
      at(loc), g.ssa,
      tb->unionOf(axesOf(g.ssa.getType()), axesOf(value.getType())));
  g.preds.add(sweep.value.preds);
  PredSet outer = g.preds;
  outer.add(sweep.x.preds);

  SweptGradients result{Val::ofFloat(0), {}};
  llvm::DenseMap<Value, Val> at{{value, g}};
  for (Operation *op : llvm::reverse(sweep.operations)) {
    Val of = at.lookup(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      bool isX = sweep.uses.contains(&operand);
      if (!isX &&
          !isa<FloatType>(getElementTypeOrSelf(operand.get().getType())))
        continue;
      Val part = throughOp(loc, op, operand.getOperandNumber(), of);
      Val &sum =
          isX ? result.x
              : at.try_emplace(operand.get(), Val::ofFloat(0)).first->second;
      sum = addedGradients(loc, sum, part);
      if (sum.isError())
        return {Val::error(), {}};
    }
  }
  if (result.x.is(Val::Kind::Ssa)) {
    result.x = filledBeyond(loc, result.x, outer);
    result.x.preds.add(sweep.x.preds);
  }
  for (size_t load : sweep.loads)
    if (auto found = at.find(diffLoads[load].first); found != at.end())
      result.loads.push_back({load, found->second});
  return result;
}

Val Elaborator::throughOp(SMLoc loc, Operation *op, unsigned i, const Val &g) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return throughReduction(loc, reduce, g);
  if (isa<BroadcastOp, SplatOp>(op)) {
    SmallVector<StringAttr> kept(axesOf(op->getOperand(0).getType()));
    ArrayRef<StringAttr> repeated = axesOf(op->getResult(0).getType());
    for (StringAttr axis : axesOfVal(g))
      if (!llvm::is_contained(repeated, axis))
        kept.push_back(axis);
    return summedTo(loc, g, kept);
  }
  Val result;
  if (std::optional<Choice> choice = choiceOf(loc, op)) {
    Val zero = Val::ofFloat(0);
    result = selectSlope(loc, choice->condition, i == choice->yes ? g : zero,
                         i == choice->no ? g : zero);
  } else {
    result = timesPartial(loc, op, i, g);
  }
  if (result.is(Val::Kind::Ssa))
    result.preds = g.preds;
  return result;
}

Val Elaborator::throughReduction(SMLoc loc, ReduceOp op, const Val &g) {
  Location l = at(loc);
  PredSet present;
  for (Value pred : op.getPresence())
    present.add(pred);
  Val share = g;
  Val result = Val::ofSsa(op.getResult()), source = Val::ofSsa(op.getSource());
  Value isTaken;
  if (op.getKind() != Combine::Add) {
    // Equal lanes share, and all do where the result is NaN.
    bool isMax = op.getKind() == Combine::Max;
    isTaken = tb->negate(l, binary(loc, isMax ? "<" : ">", source, result).ssa);
    Val taken = selectSlope(loc, isTaken, Val::ofFloat(1), Val::ofFloat(0));
    taken.preds = present;
    Val count = summedTo(
        loc, taken, SmallVector<StringAttr>(axesOf(op.getResult().getType())));
    share = binary(loc, "/", g, Val::ofSsa(count.ssa));
  }
  share.ssa = tb->broadcast(l, share.ssa,
                            tb->unionOf(axesOf(share.ssa.getType()),
                                        axesOf(op.getSource().getType())));
  PredSet preds = g.preds;
  preds.add(present);
  if (isTaken)
    share = selectSlope(loc, isTaken, share, Val::ofFloat(0));
  share.preds = preds;
  return share;
}

Val Elaborator::addedGradients(SMLoc loc, const Val &a, const Val &b) {
  if (!a.is(Val::Kind::Ssa))
    return b;
  if (!b.is(Val::Kind::Ssa))
    return b.isError() ? b : a;
  return binary(loc, "+", filledBeyond(loc, a, b.preds),
                filledBeyond(loc, b, a.preds));
}

Val Elaborator::filledBeyond(SMLoc loc, const Val &g, const PredSet &kept) {
  PredSet others = g.preds, ends = takeEnds(loc, others), left, filled;
  for (Value pred : others)
    (kept.contains(pred) ? left : filled).add(pred);
  Location l = at(loc);
  Value present = tb->conjunction(l, filled);
  if (!present)
    return g;
  Val result = selectSlope(loc, present, g, Val::ofFloat(0));
  result.preds = ends;
  result.preds.add(left);
  return result;
}

} // namespace selvedge::frontend
