// How a value depends on where a range is cut into blocks.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/FoldForm.h"

#include <limits>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {
namespace {

using Kind = Form::Kind;

/// Whether combining with `form` changes nothing.
bool isNeutral(Combine how, const Form &form) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  double neutral = how == Combine::Add ? 0 : how == Combine::Max ? -inf : inf;
  return form.isFixed() && form.constant == neutral;
}

/// Any number of equal values has the maximum or minimum of one of them.
bool isIdempotent(Combine how) { return how != Combine::Add; }

} // namespace

bool Form::operator==(const Form &other) const {
  return kind == other.kind && constant == other.constant &&
         combine == other.combine && carried == other.carried &&
         state == other.state && reference == other.reference &&
         reason == other.reason && where == other.where;
}

Form Form::fixed(std::optional<double> constant) {
  Form form;
  form.kind = Kind::Fixed;
  form.constant = constant;
  return form;
}

Form Form::part(Combine how) {
  Form form;
  form.kind = Kind::Fold;
  form.combine = how;
  return form;
}

Form Form::cut(CutReason reason, Operation *where, int carried, int state) {
  Form form;
  form.kind = Kind::Cut;
  form.reason = reason;
  form.where = where;
  form.carried = carried;
  form.state = state;
  return form;
}

Form misuse(Operation *op, const Form &operand) {
  switch (operand.kind) {
  case Kind::Cut:
    return operand;
  case Kind::Weight:
    return Form::cut(CutReason::Weights, op, -1, operand.state);
  case Kind::State:
    return Form::cut(CutReason::Running, op, operand.carried, operand.state);
  case Kind::Fold:
    return operand.isPart() ? Form::cut(CutReason::Block, op, -1, operand.state)
                            : Form::cut(CutReason::Reads, op, operand.carried);
  default:
    return Form::cut(CutReason::Block, op);
  }
}

Form combineForms(Combine how, const Form &x, const Form &y, Operation *op) {
  for (const Form *form : {&x, &y})
    if (form->is(Kind::Cut) || form->is(Kind::State) || form->is(Kind::Start))
      return misuse(op, *form);
  if (x.isFixed() && y.isFixed())
    return Form::fixed();
  if (isNeutral(how, x))
    return y;
  if (isNeutral(how, y))
    return x;
  if (x.is(Kind::Weight) || y.is(Kind::Weight)) {
    bool isSum = how == Combine::Add && x.is(Kind::Weight) &&
                 y.is(Kind::Weight) && x.reference == y.reference;
    return isSum ? x : misuse(op, x.is(Kind::Weight) ? x : y);
  }
  Form carried = x, part = y;
  if (carried.isFixed() || (carried.isPart() && !part.isFixed()))
    std::swap(carried, part);
  if (part.isFixed()) {
    if (!isIdempotent(how))
      return Form::cut(CutReason::PerStep, op, carried.carried);
    part = Form::part(how);
  }
  for (const Form *form : {&carried, &part})
    if (form->combine && form->combine != how)
      return form->isPart() ? misuse(op, *form)
                            : Form::cut(CutReason::Mixed, op, form->carried);
  bool isTwice = part.carried == carried.carried && isIdempotent(how);
  if (!part.isPart() && !isTwice)
    return misuse(op, part);
  if (carried.reference != part.reference) {
    if (carried.isPart())
      return Form::cut(CutReason::Weights, op, -1,
                       std::max(carried.state, part.state));
    return part.reference ? Form::cut(CutReason::NotRescaled, op,
                                      carried.carried, part.state)
                          : Form::cut(CutReason::Unweighted, op,
                                      carried.carried, carried.state);
  }
  carried.combine = how;
  return carried;
}

Form joinForms(const Form &x, const Form &y, Operation *op) {
  if (x.is(Kind::Unset) || x.is(Kind::Cut))
    return x.is(Kind::Unset) ? y : x;
  if (y.is(Kind::Unset) || y.is(Kind::Cut) || x == y)
    return y.is(Kind::Unset) ? x : y;
  if (x.isFixed() && y.isFixed())
    return Form::fixed();
  const Form &fixed = x.isFixed() ? x : y, &other = x.isFixed() ? y : x;
  if (fixed.isFixed()) {
    if (other.is(Kind::Weight) && isNeutral(Combine::Add, fixed))
      return other;
    if (other.isPart() &&
        (isNeutral(*other.combine, fixed) || isIdempotent(*other.combine)))
      return other;
    return misuse(op, other);
  }
  bool isFold = x.is(Kind::Fold) && y.is(Kind::Fold) &&
                x.carried == y.carried && x.reference == y.reference &&
                (!x.combine || !y.combine || x.combine == y.combine);
  if (isFold)
    return x.combine ? x : y;
  return misuse(op, x);
}

Form scaleForm(const Form &x, std::optional<double> factor, Operation *op) {
  bool isSum = x.isPart() && x.combine == Combine::Add;
  bool keepsOrder = x.isPart() && factor && *factor > 0;
  return x.isFixed() || x.is(Kind::Weight) || isSum || keepsOrder
             ? (x.isFixed() ? Form::fixed() : x)
             : misuse(op, x);
}

Form reduceForm(Combine how, const Form &x, bool overBlock, Operation *op) {
  if (x.isFixed())
    return overBlock ? Form::part(how) : Form::fixed();
  if (x.is(Kind::Weight) && how == Combine::Add) {
    if (!overBlock)
      return x;
    Form form = Form::part(how);
    form.state = x.state;
    form.reference = x.reference;
    return form;
  }
  bool isSame = x.isPart() && x.combine == how && !overBlock;
  return isSame ? x : misuse(op, x);
}

} // namespace selvedge::frontend
