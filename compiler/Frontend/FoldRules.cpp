// The rules by which a step's values depend on where a range is cut.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldCheck.h"
#include "dialect/Tile/Accumulate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

using Kind = Form::Kind;

bool StepAnalysis::hasAxis(Value value) const {
  return llvm::is_contained(axesOf(value.getType()), range.axis);
}

bool StepAnalysis::hasAxis(ArrayAttr over) const {
  return llvm::is_contained(over, Attribute(range.axis));
}

void StepAnalysis::visit(Operation *op) {
  if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
    return visitUpdate(update);
  if (auto include = dyn_cast<SoftmaxIncludeOp>(op))
    return visitInclude(include);
  if (op->getNumResults() == 1) {
    // What is fixed is left to `get`, which knows constants.
    if (Form form = formOf(op); !form.isFixed())
      set(op->getResult(0), form);
    return;
  }
  if (auto store = dyn_cast<StoreOp>(op))
    visitStore(store);
}

void StepAnalysis::visitStore(StoreOp store) {
  // A block that adds to elements of all blocks adds a sum over its lanes.
  bool addsParts =
      addsToMemory(store) &&
      llvm::none_of(store.getIndices(), [&](Value i) { return hasAxis(i); });
  for (OpOperand &operand : store->getOpOperands()) {
    Form form = get(operand.get());
    bool isSum = form.isPart() && form.combine == Combine::Add;
    if (!addsParts || operand.get() != store.getValue()) {
      if (!form.isFixed())
        return report(misuse(store, form), store);
    } else if (form.isFixed() && form.constant != 0.0) {
      return report(Form::cut(CutReason::PerStep, store), store);
    } else if (!isSum && !form.isFixed()) {
      return report(misuse(store, form), store);
    }
  }
}

Form StepAnalysis::formOf(Operation *op) const {
  if (isa<RangeOp>(op) && get(op->getOperand(0)).is(Kind::Start))
    return Form::fixed();
  if (auto dot = dyn_cast<DotOp>(op))
    return formOfDot(dot);
  const Form *other = nullptr;
  Forms operands = getAll(op->getOperands());
  for (const Form &form : operands)
    if (!form.isFixed() && (!other || form.is(Kind::Cut)))
      other = &form;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    for (Value pred : reduce.getPresence())
      if (Form form = get(pred); !form.isFixed())
        return misuse(op, form);
    return reduceForm(reduce.getKind(), operands.front(),
                      hasAxis(reduce.getOver()), op);
  }
  if (!other)
    return Form::fixed();
  if (other->is(Kind::Cut))
    return *other;
  // One value per block beside elements of the block.
  if (hasAxis(op->getResult(0)) && !other->is(Kind::Weight))
    return misuse(op, *other);
  if (isa<SplatOp, BroadcastOp>(op))
    return *other;
  if (isa<SoftmaxLseOp, SoftmaxNormalizeOp, SoftmaxWeightOp>(op)) {
    for (const Form &form : llvm::drop_begin(operands))
      if (!form.isFixed())
        return misuse(op, form);
    return isa<SoftmaxNormalizeOp>(op)
               ? scaleForm(operands.front(), std::nullopt, op)
               : misuse(op, *other);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return operands[0].isFixed() ? joinForms(operands[1], operands[2], op)
                                 : misuse(op, operands[0]);
  return formOfArithmetic(op);
}

Form StepAnalysis::formOfArithmetic(Operation *op) const {
  Forms operands = getAll(op->getOperands());
  const Form &first = operands.front();
  const Form &last = operands.back();
  const Form &other = first.isFixed() ? last : first;
  bool isMinMax = other.isPart() && other.combine != Combine::Add;
  Form mirrored = other;
  if (isMinMax)
    mirrored.combine =
        other.combine == Combine::Max ? Combine::Min : Combine::Max;

  if (isa<ConvertOp, arith::ExtFOp, arith::SIToFPOp, arith::ExtUIOp>(op))
    return isMinMax ? other : scaleForm(other, std::nullopt, op);
  if (isa<arith::NegFOp>(op))
    return isMinMax ? mirrored : scaleForm(other, std::nullopt, op);
  // Increasing functions of any number.
  if (isa<math::ExpOp, math::Exp2Op, math::TanhOp>(op))
    return isMinMax ? other : misuse(op, other);
  if (isa<arith::AddFOp, arith::SubFOp>(op) && isMinMax &&
      (first.isFixed() || last.isFixed()))
    return isa<arith::SubFOp>(op) && first.isFixed() ? mirrored : other;
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return combineForms(Combine::Add, first, last, op);
  if (isa<arith::SubFOp, arith::SubIOp>(op)) {
    // What is taken away must be a reduction over the block, or weights.
    Form taken = scaleForm(last, std::nullopt, op);
    return combineForms(Combine::Add, first, taken, op);
  }
  if (isa<arith::MulFOp, arith::MulIOp>(op)) {
    const Form &factor = first.isFixed() ? first : last;
    if (!factor.isFixed())
      return misuse(op, other);
    bool isFloat = isa<arith::MulFOp>(op);
    return scaleForm(other, isFloat ? factor.constant : std::nullopt, op);
  }
  if (isa<arith::DivFOp>(op))
    return last.isFixed() ? scaleForm(first, last.constant, op)
                          : misuse(op, last);
  if (isa<arith::MaximumFOp, arith::MaxSIOp, arith::MinimumFOp, arith::MinSIOp>(
          op)) {
    bool isMax = isa<arith::MaximumFOp, arith::MaxSIOp>(op);
    Combine how = isMax ? Combine::Max : Combine::Min;
    // A maximum that is cut off above is the maximum of what is.
    if (isMinMax && other.combine != how && (first.isFixed() || last.isFixed()))
      return other;
    return combineForms(how, first, last, op);
  }
  return misuse(op, other);
}

Form StepAnalysis::formOfDot(DotOp op) const {
  Form lhs = get(op.getLhs()), rhs = get(op.getRhs());
  for (Value pred : op.getPresence())
    if (Form form = get(pred); !form.isFixed())
      return misuse(op, form);
  bool overBlock = hasAxis(op.getOver());
  const Form &other = lhs.isFixed() ? rhs : lhs;
  Form product;
  if (!lhs.isFixed() && !rhs.isFixed())
    product = misuse(op, rhs.is(Kind::Cut) ? rhs : lhs);
  else if (!other.isFixed() && !other.is(Kind::Weight) &&
           hasAxis(op.getResult()))
    product = misuse(op, other);
  else
    product = reduceForm(Combine::Add, other, overBlock, op);
  return op.getInit()
             ? combineForms(Combine::Add, get(op.getInit()), product, op)
             : product;
}

void StepAnalysis::visitUpdate(SoftmaxUpdateOp op) {
  Form max = get(op.getMax()), sum = get(op.getSum());
  auto setAll = [&](const Form &form) {
    for (Value result : op.getResults())
      set(result, form);
  };
  SmallVector<Value> inputs{op.getScores()};
  inputs.append(op.getPresence().begin(), op.getPresence().end());
  for (Value input : inputs)
    if (Form form = get(input); !form.isFixed())
      return setAll(misuse(op, form));
  bool overBlock = op.getOver() == range.axis.getValue();
  if (max.isFixed() && sum.isFixed()) {
    setAll(overBlock ? Form::cut(CutReason::BlockSoftmax, op) : Form::fixed());
    if (!overBlock)
      for (auto [acc, result] : llvm::zip(op.getAccs(), op.getNewAccs()))
        if (Form form = get(acc); !form.isFixed())
          set(result, misuse(op, form));
    return;
  }
  if (!max.is(Kind::State) || !sum.is(Kind::State))
    return setAll(misuse(op, max.is(Kind::Cut) ? max : sum));
  if (!overBlock)
    return setAll(
        Form::cut(CutReason::ScoresPerStep, op, max.carried, max.state));

  Value before = max.reference, after = op.getNewMax();
  max.reference = sum.reference = after;
  Form weight = max;
  weight.kind = Kind::Weight;
  weight.carried = -1;
  set(op.getWeights(), weight);
  set(op.getNewMax(), max);
  set(op.getNewSum(), sum);
  for (auto [acc, result] : llvm::zip(op.getAccs(), op.getNewAccs())) {
    Form form = get(acc);
    if (form.is(Kind::Fold) && form.reference == before)
      form.reference = after;
    else if (form.is(Kind::Fold) || (form.isFixed() && form.constant != 0.0))
      form = Form::cut(form.reference ? CutReason::NotRescaled
                                      : CutReason::Unweighted,
                       op, form.carried, max.state);
    set(result, form);
  }
}

void StepAnalysis::visitInclude(SoftmaxIncludeOp op) {
  Form max = get(op.getMax());
  const Form *bad = nullptr;
  Forms operands = getAll(op->getOperands());
  for (const Form &form : operands)
    if (!form.isFixed() && (!bad || form.is(Kind::Cut)))
      bad = &form;
  Form form = !bad ? Form::fixed()
              : max.is(Kind::State) && !bad->is(Kind::Cut)
                  ? Form::cut(CutReason::Include, op, max.carried, max.state)
                  : misuse(op, *bad);
  for (Value result : op->getResults())
    set(result, form);
}

} // namespace selvedge::frontend
