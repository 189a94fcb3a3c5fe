// Edits of values that make a program wrong.
// SPDX-License-Identifier: MIT
#include "MutantEdits.h"

#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace selvedge::testing {

bool isRepeat(Operation *op) {
  return isa_and_nonnull<tile::SplatOp, tile::BroadcastOp, sm::SplatOp,
                         sm::BroadcastOp>(op);
}

Value source(Value value) {
  while (isRepeat(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::optional<APFloat> constantOf(Value value) {
  APFloat number(0.0F);
  if (matchPattern(source(value), m_ConstantFloat(&number)))
    return number;
  return std::nullopt;
}

Value splat(OpBuilder &b, Location loc, TypedAttr attr, Type type) {
  Value scalar = arith::ConstantOp::create(b, loc, attr);
  if (sm::isRegisterTile(type))
    return sm::SplatOp::create(b, loc, type, scalar);
  return tile::isTile(type) ? tile::SplatOp::create(b, loc, type, scalar)
                            : scalar;
}

Value shifted(OpBuilder &b, Value predicate, Fault fault) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return {};
  auto strict = compare.getPredicate() == arith::CmpIPredicate::slt,
       loose = compare.getPredicate() == arith::CmpIPredicate::sle;
  auto make = [&](arith::CmpIPredicate kind, Value bound) -> Value {
    return arith::CmpIOp::create(b, compare.getLoc(), kind, compare.getLhs(),
                                 bound);
  };
  if (strict && fault == Fault::Widen)
    return make(arith::CmpIPredicate::sle, compare.getRhs());
  if (loose && fault == Fault::Narrow)
    return make(arith::CmpIPredicate::slt, compare.getRhs());
  bool isLower = compare.getPredicate() == arith::CmpIPredicate::sge ||
                 compare.getPredicate() == arith::CmpIPredicate::sgt;
  if (!strict && !loose && !isLower)
    return {};
  Value one = splat(b, compare.getLoc(), b.getI32IntegerAttr(1),
                    compare.getRhs().getType());
  bool up = (fault == Fault::Widen) != isLower;
  Value bound =
      up ? arith::AddIOp::create(b, compare.getLoc(), compare.getRhs(), one)
               .getResult()
         : arith::SubIOp::create(b, compare.getLoc(), compare.getRhs(), one)
               .getResult();
  return make(compare.getPredicate(), bound);
}

Value onOtherAxis(OpBuilder &b, Value predicate, ValueRange indices) {
  auto compare = source(predicate).getDefiningOp<arith::CmpIOp>();
  if (!compare || !tile::isTile(compare.getType()))
    return {};
  Value bound = source(compare.getRhs());
  if (tile::isTile(bound.getType()))
    return {};
  for (Value index : indices) {
    if (!index.getDefiningOp<tile::RangeOp>() ||
        index.getType() == compare.getLhs().getType())
      continue;
    Location loc = compare.getLoc();
    Value wide = tile::SplatOp::create(b, loc, index.getType(), bound);
    return arith::CmpIOp::create(b, loc, compare.getPredicate(), index, wide);
  }
  return {};
}

void leaves(Value condition, SmallVectorImpl<Value> &found) {
  Value inner = source(condition);
  if (auto both = inner.getDefiningOp<arith::AndIOp>()) {
    leaves(both.getLhs(), found);
    leaves(both.getRhs(), found);
  } else if (!llvm::is_contained(found, inner)) {
    found.push_back(inner);
  }
}

Value rebuilt(OpBuilder &b, Value condition, Value leaf, Fault fault) {
  if (condition == leaf)
    return fault == Fault::Delete ? Value() : shifted(b, leaf, fault);
  Operation *def = condition.getDefiningOp();
  bool isAnd = isa_and_nonnull<arith::AndIOp>(def);
  if (!isAnd && !isRepeat(def))
    return condition;
  IRMapping map;
  SmallVector<Value> left;
  for (Value operand : def->getOperands())
    if (Value value = rebuilt(b, operand, leaf, fault)) {
      map.map(operand, value);
      left.push_back(value);
    }
  if (left.size() == def->getNumOperands())
    return b.clone(*def, map)->getResult(0);
  return isAnd && left.size() == 1 ? left[0] : Value();
}

} // namespace selvedge::testing
