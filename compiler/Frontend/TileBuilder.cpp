// Emission of tile operations inside one kernel.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/TileBuilder.h"

#include "mlir/IR/OperationSupport.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

/// Whether all lanes are the constant true.
static bool isTrue(Value condition) {
  Operation *op = condition.getDefiningOp();
  while (op && isa<SplatOp, BroadcastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_if_present<arith::ConstantOp>(op);
  auto value =
      constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return value && value.getType().isInteger(1) && value.getInt() != 0;
}

TileBuilder::TileBuilder(MLIRContext *ctx, Block *body)
    : ctx(ctx), detached(ctx) {
  scopes.push_back({body, nullptr, {}});
}

void TileBuilder::enter(Operation *loop, Block *body) {
  scopes.back().openLoop = loop;
  scopes.push_back({body, nullptr, {}});
}

scf::ForOp TileBuilder::enterLoop(Location loc, Value start, Value stop,
                                  Value step, ValueRange inits) {
  auto loop = createHere<scf::ForOp>(loc, start, stop, step, inits);
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  enter(loop, loop.getBody());
  return loop;
}

void TileBuilder::leave() {
  scopes.pop_back();
  scopes.back().openLoop = nullptr;
}

bool TileBuilder::isOutside(Value value) const {
  return value.getParentBlock() != scopes.back().block;
}

void TileBuilder::insert(Operation *op, BlockScope &scope) {
  if (scope.openLoop)
    scope.block->getOperations().insert(Block::iterator(scope.openLoop), op);
  else
    scope.block->push_back(op);
}

TileBuilder::BlockScope &TileBuilder::scopeFor(Operation *op) {
  for (size_t i = scopes.size(); i-- > 1;)
    for (Value operand : op->getOperands())
      if (operand.getParentBlock() == scopes[i].block)
        return scopes[i];
  return scopes.front();
}

Value TileBuilder::outsideOfLoops(Value value,
                                  llvm::DenseMap<Value, Value> &known) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumResults() != 1 || def->getNumRegions() != 0)
    return value;
  if (Value found = known.lookup(value))
    return found;
  Operation *copy = def->clone();
  for (OpOperand &operand : copy->getOpOperands())
    operand.set(outsideOfLoops(operand.get(), known));
  BlockScope &scope = scopeFor(copy);
  if (scope.block != def->getBlock())
    return known[value] = share(copy, scope);
  copy->destroy();
  return known[value] = value;
}

Value TileBuilder::place(Operation *op) {
  // A condition that does not depend on a loop removes the same lanes in each
  // step: so it is one value.
  if (isa<arith::CmpFOp>(op)) {
    llvm::DenseMap<Value, Value> known;
    for (OpOperand &operand : op->getOpOperands())
      operand.set(outsideOfLoops(operand.get(), known));
  }
  // Other values, but for vectors that are loaded or compared with, stay where
  // the program computes them: moving a large tile out of a loop is the
  // scheduler's decision.
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  // A select chooses between an optional tensor and its default.
  bool isVector = isa<LoadOp, SplatOp, arith::SelectOp>(op) &&
                  axesOf(op->getResult(0).getType()).size() <= 1;
  bool isShared = element.isInteger() || isa<arith::ConstantOp>(op) || isVector;
  if (!isShared) {
    insert(op, scopes.back());
    return op->getResult(0);
  }
  return share(op, scopeFor(op));
}

Value TileBuilder::share(Operation *op, BlockScope &scope) {
  size_t hash = OperationEquivalence::computeHash(
      op, OperationEquivalence::directHashValue,
      OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations);
  auto [begin, end] = scope.shared.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!OperationEquivalence::isEquivalentTo(
            it->second, op, OperationEquivalence::exactValueMatch, nullptr,
            OperationEquivalence::IgnoreLocations))
      continue;
    op->destroy();
    return it->second->getResult(0);
  }
  insert(op, scope);
  scope.shared.emplace(hash, op);
  return op->getResult(0);
}

StringAttr TileBuilder::uniqueAxisName(StringRef name) const {
  std::string unique = name.str();
  auto taken = [&](const Axis &a) { return a.name.getValue() == unique; };
  for (unsigned i = 1; llvm::any_of(axes, taken); ++i)
    unique = (name + "_" + Twine(i)).str();
  return StringAttr::get(ctx, unique);
}

StringAttr TileBuilder::addAxis(const void *key, StringRef name,
                                StringRef block, int64_t extent) {
  for (const Axis &axis : axes)
    if (axis.key == key)
      return axis.name;
  StringAttr unique = uniqueAxisName(name);
  StringAttr blockAttr =
      block.empty() ? StringAttr() : StringAttr::get(ctx, block);
  axes.push_back(
      {unique, AxisAttr::get(ctx, unique, blockAttr, extent), key, ""});
  return unique;
}

StringAttr TileBuilder::findFullAxis(StringRef dim) const {
  for (const Axis &axis : axes)
    if (!axis.key && axis.dim == dim)
      return axis.name;
  return {};
}

StringAttr TileBuilder::fullAxis(StringRef dim, int64_t extent) {
  if (StringAttr found = findFullAxis(dim))
    return found;
  StringAttr unique = uniqueAxisName(dim);
  axes.push_back({unique, AxisAttr::get(ctx, unique, StringAttr(), extent),
                  nullptr, dim.str()});
  return unique;
}

void TileBuilder::setInside(StringAttr name, Value inside) {
  for (Axis &axis : axes)
    if (axis.name == name)
      axis.inside = inside;
}

Value TileBuilder::insideOf(Location loc, StringAttr name) {
  for (const Axis &axis : axes) {
    if (axis.name != name)
      continue;
    if (axis.inside || axis.key)
      return axis.inside;
    Value index = create<RangeOp>(loc, tileOf(IntegerType::get(ctx, 32), name),
                                  constantInt(loc, 0));
    return compare(loc, arith::CmpIPredicate::slt, index,
                   constantInt(loc, axis.attr.getExtent()));
  }
  return {};
}

bool TileBuilder::isBlock(StringRef name) const {
  return llvm::any_of(axes, [&](const Axis &axis) {
    return axis.attr.getBlock() && axis.attr.getBlock().getValue() == name;
  });
}

ArrayAttr TileBuilder::axesAttr() const {
  SmallVector<Attribute> attrs;
  for (const Axis &axis : axes)
    attrs.push_back(axis.attr);
  return ArrayAttr::get(ctx, attrs);
}

SmallVector<StringAttr> TileBuilder::unionOf(ArrayRef<StringAttr> a,
                                             ArrayRef<StringAttr> b) const {
  SmallVector<StringAttr> result;
  for (const Axis &axis : axes)
    if (llvm::is_contained(a, axis.name) || llvm::is_contained(b, axis.name))
      result.push_back(axis.name);
  return result;
}

Type TileBuilder::tileOf(Type element, ArrayRef<StringAttr> names) const {
  SmallVector<int64_t> sizes(names.size(), ShapedType::kDynamic);
  return tileType(element, unionOf(names, {}), sizes);
}

Value TileBuilder::constant(Location loc, Type type, double value) {
  // What is too large for a float of 8 bits is its largest number, as when it
  // is narrowed.
  if (isByteFloat(type) && !std::isnan(value)) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(type).getFloatSemantics();
    double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
    value = std::clamp(value, -largest, largest);
  }
  return create<arith::ConstantOp>(loc, detached.getFloatAttr(type, value));
}

Value TileBuilder::constantInt(Location loc, int64_t value) {
  return create<arith::ConstantOp>(
      loc, detached.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value TileBuilder::constantBool(Location loc, bool value) {
  return create<arith::ConstantOp>(loc, detached.getBoolAttr(value));
}

Value TileBuilder::affine(Location loc, AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantInt(loc, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return scopes.front().block->getArgument(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Add) {
    // a - b is kept as a + b * -1.
    auto scaled = dyn_cast<AffineBinaryOpExpr>(right);
    if (scaled && scaled.getKind() == AffineExprKind::Mul &&
        scaled.getRHS() == getAffineConstantExpr(-1, ctx)) {
      Value l = affine(loc, left), r = affine(loc, scaled.getLHS());
      return create<arith::SubIOp>(loc, l, r);
    }
  }
  Value l = affine(loc, left), r = affine(loc, right);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return create<arith::AddIOp>(loc, l, r);
  case AffineExprKind::Mul:
    return create<arith::MulIOp>(loc, l, r);
  case AffineExprKind::FloorDiv:
    return floorDiv(loc, l, r);
  case AffineExprKind::CeilDiv:
    return ceilDiv(loc, l, r);
  case AffineExprKind::Mod:
    return modulo(loc, l, r);
  default:
    llvm_unreachable("the front end builds no other affine expression");
  }
}

Value TileBuilder::broadcast(Location loc, Value value,
                             ArrayRef<StringAttr> target) {
  if (axesOf(value.getType()).size() == target.size())
    return value;
  Type type = tileOf(getElementTypeOrSelf(value.getType()), target);
  if (!isTile(value.getType()))
    return create<SplatOp>(loc, type, value);
  return create<BroadcastOp>(loc, type, value);
}

void TileBuilder::unify(Location loc, Value &a, Value &b) {
  SmallVector<StringAttr> all =
      unionOf(axesOf(a.getType()), axesOf(b.getType()));
  a = broadcast(loc, a, all);
  b = broadcast(loc, b, all);
}

Value TileBuilder::conjunction(Location loc, ValueRange conditions) {
  Value all;
  for (Value condition : conditions) {
    if (!all) {
      all = condition;
      continue;
    }
    unify(loc, all, condition);
    all = create<arith::AndIOp>(loc, all, condition);
  }
  return all;
}

Value TileBuilder::disjunction(Location loc, ValueRange conditions) {
  Value any = conditions.front();
  for (Value condition : conditions.drop_front())
    any = either(loc, any, condition);
  return any;
}

Value TileBuilder::negate(Location loc, Value condition) {
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
    return create<arith::CmpIOp>(loc,
                                 arith::invertPredicate(compare.getPredicate()),
                                 compare.getLhs(), compare.getRhs());
  if (auto negation = condition.getDefiningOp<arith::XOrIOp>())
    if (isTrue(negation.getRhs()))
      return negation.getLhs();
  Value yes =
      broadcast(loc, constantBool(loc, true), axesOf(condition.getType()));
  return create<arith::XOrIOp>(loc, condition, yes);
}

Value TileBuilder::either(Location loc, Value a, Value b) {
  unify(loc, a, b);
  return create<arith::OrIOp>(loc, a, b);
}

Value TileBuilder::compare(Location loc, arith::CmpIPredicate how, Value a,
                           Value b) {
  unify(loc, a, b);
  return create<arith::CmpIOp>(loc, how, a, b);
}

Value TileBuilder::atLeastOne(Location loc, Value divisor) {
  // Division by zero is undefined behaviour in arith.
  if (divisor.getDefiningOp<arith::ConstantOp>())
    return divisor;
  Value one = broadcast(loc, constantInt(loc, 1), axesOf(divisor.getType()));
  return create<arith::MaxSIOp>(loc, divisor, one);
}

Value TileBuilder::floorDiv(Location loc, Value a, Value b) {
  b = atLeastOne(loc, b);
  unify(loc, a, b);
  return create<arith::FloorDivSIOp>(loc, a, b);
}

Value TileBuilder::ceilDiv(Location loc, Value a, Value b) {
  b = atLeastOne(loc, b);
  unify(loc, a, b);
  return create<arith::CeilDivSIOp>(loc, a, b);
}

Value TileBuilder::modulo(Location loc, Value a, Value b) {
  // a - floor(a / b) * b; the remainder of arith truncates instead.
  Value quotient = floorDiv(loc, a, b);
  b = atLeastOne(loc, b);
  unify(loc, quotient, b);
  Value product = create<arith::MulIOp>(loc, quotient, b);
  unify(loc, a, product);
  return create<arith::SubIOp>(loc, a, product);
}

} // namespace selvedge::frontend
