// What would make NaN of a row that nothing contributes to.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Guards.h"

#include "compiler/Verify/Arithmetic/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::verify {

using namespace mlir;

StringRef nameOf(Unguarded kind) {
  return kind == Unguarded::Exponential
             ? "exponential against a maximum that may be -inf"
             : "inverse of a sum that may be 0";
}

/// The value behind repetitions and parts.
static Value whole(Value value) {
  while (true) {
    value = strip(value);
    Operation *def = value.getDefiningOp();
    if (!isa_and_nonnull<sm::ColumnsOp, sm::RelayoutOp>(def))
      return value;
    value = def->getOperand(0);
  }
}

static bool isNumber(Value value,
                     llvm::function_ref<bool(const APFloat &)> is) {
  auto number = dyn_cast_or_null<FloatAttr>(constantOf(whole(value)));
  return number && is(number.getValue());
}

static bool isZero(Value value) {
  return isNumber(value, [](const APFloat &v) { return v.isZero(); });
}

/// `x == number ? 0 : value`, false for NaN; the null value where it is not.
static Value comparedByGuard(arith::SelectOp select,
                             llvm::function_ref<bool(const APFloat &)> number) {
  auto compare = whole(select.getCondition()).getDefiningOp<arith::CmpFOp>();
  bool isGuard =
      compare && compare.getPredicate() == arith::CmpFPredicate::OEQ &&
      isNumber(compare.getRhs(), number) && isZero(select.getTrueValue());
  return isGuard ? whole(compare.getLhs()) : Value();
}

/// Whether a value is the largest of some, times a factor.
static bool isMaximum(Value value) {
  Operation *def = strip(value).getDefiningOp();
  if (!def)
    return false;
  return llvm::TypeSwitch<Operation *, bool>(def)
      .Case<tile::ReduceOp, sm::ReduceOp, sm::FoldOp>(
          [](auto reduce) { return reduce.getKind() == tile::Combine::Max; })
      .Case<arith::MaximumFOp>([](auto) { return true; })
      .Case<arith::MulFOp, arith::NegFOp, sm::RelayoutOp>([](auto scaled) {
        return llvm::any_of(scaled->getOperands(), isMaximum);
      })
      .Case([](arith::SelectOp select) {
        Value compared = comparedByGuard(
            select, [](const APFloat &v) { return v.isNegInfinity(); });
        bool isGuarded =
            compared && isSame(compared, whole(select.getFalseValue()));
        return !isGuarded && (isMaximum(select.getTrueValue()) ||
                              isMaximum(select.getFalseValue()));
      })
      .Default([](Operation *) { return false; });
}

/// Whether a summand may be subtracted: a negative, or one times what may be
/// less than 0.
static bool isSubtracted(Value summand) {
  Operation *def = whole(summand).getDefiningOp();
  if (isa_and_nonnull<arith::NegFOp>(def))
    return true;
  auto product = dyn_cast_or_null<arith::MulFOp>(def);
  if (!product)
    return false;
  auto isPositive = [](const APFloat &v) { return !v.isNegative(); };
  if (isNumber(product.getRhs(), isPositive))
    return isSubtracted(product.getLhs());
  return !isNumber(product.getLhs(), isPositive) ||
         isSubtracted(product.getRhs());
}

/// What an exponent subtracts; null where it is no difference, such as a
/// maximum and the log of a sum.
static Value subtrahendOf(Value exponent) {
  exponent = strip(exponent);
  Operation *def = exponent.getDefiningOp();
  if (!def)
    return {};
  return llvm::TypeSwitch<Operation *, Value>(def)
      .Case([](arith::SubFOp difference) { return difference.getRhs(); })
      .Case([](math::FmaOp sum) { return sum.getC(); })
      .Case([](arith::AddFOp sum) {
        return isSubtracted(sum.getRhs())   ? sum.getRhs()
               : isSubtracted(sum.getLhs()) ? sum.getLhs()
                                            : Value();
      })
      .Case([](arith::MulFOp product) {
        Value difference = subtrahendOf(product.getLhs());
        return difference ? difference : subtrahendOf(product.getRhs());
      })
      .Default([](Operation *) { return Value(); });
}

/// Whether all that is made of a value by factors is dropped where a sum is 0:
/// `sum`, if it is given. An arm of a branch that hands it on is that of warps
/// without such rows.
static bool isDroppedForZero(Value value, Value sum) {
  auto isDropped = [&](Operation *user) {
    if (auto select = dyn_cast<arith::SelectOp>(user)) {
      Value compared =
          select.getFalseValue() == value
              ? comparedByGuard(select,
                                [](const APFloat &v) { return v.isZero(); })
              : Value();
      return compared && (!sum || isSame(compared, whole(sum)));
    }
    return isa<arith::MulFOp, tile::BroadcastOp, tile::SplatOp, sm::BroadcastOp,
               sm::SplatOp, sm::RelayoutOp, sm::ColumnsOp>(user) &&
           isDroppedForZero(user->getResult(0), sum);
  };
  auto isHandedOn = [](Operation *user) {
    return isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp());
  };
  return llvm::any_of(value.getUsers(), isDropped) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return isHandedOn(user) || isDropped(user);
         });
}

void visitUnguarded(Operation *kernel,
                    llvm::function_ref<void(Operation *, Unguarded)> visit) {
  kernel->walk([&](Operation *op) {
    if (isa<math::Exp2Op, math::ExpOp>(op)) {
      Value subtrahend = subtrahendOf(op->getOperand(0));
      if (subtrahend && isMaximum(subtrahend) &&
          !isDroppedForZero(op->getResult(0), {}))
        visit(op, Unguarded::Exponential);
    } else if (auto quotient = dyn_cast<arith::DivFOp>(op)) {
      bool isInverse = isa<RankedTensorType>(quotient.getType()) &&
                       isNumber(quotient.getLhs(), [](const APFloat &v) {
                         return v.isExactlyValue(1);
                       });
      if (isInverse && !isDroppedForZero(quotient, quotient.getRhs()))
        visit(op, Unguarded::Quotient);
    }
  });
}

} // namespace selvedge::verify
