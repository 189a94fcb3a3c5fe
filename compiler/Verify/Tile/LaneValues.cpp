// Values of kernels as functions of their lanes, the same however written.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/LaneValues.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

using Number = LaneValues::Number;

static uint64_t keyOf(Attribute attribute) {
  return reinterpret_cast<uintptr_t>(attribute.getAsOpaquePointer());
}

static uint64_t keyOf(Type type) {
  return reinterpret_cast<uintptr_t>(type.getAsOpaquePointer());
}

static uint64_t maskOf(unsigned width) {
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

static bool isInteger(Value value) {
  return isa<IntegerType>(getElementTypeOrSelf(value));
}

Number LaneValues::intern(Key key) {
  auto [known, isNew] = numbers.try_emplace(std::move(key), sums.size());
  if (isNew)
    sums.emplace_back();
  return known->second;
}

/// Equal expressions become one operation in whichever order they are written.
Number LaneValues::commuting(Tag tag, Number a, Number b) {
  return intern({tag, std::min(a, b), std::max(a, b)});
}

Number LaneValues::add(const Sum &sum) {
  if (sum.terms.size() == 1 && sum.constant == 0 &&
      sum.terms.begin()->second == 1)
    return sum.terms.begin()->first;
  Key key = {Tag::Integer, sum.width, sum.constant};
  for (auto [number, factor] : sum.terms)
    llvm::append_values(key, number, factor);
  Number number = intern(std::move(key));
  sums[number] = sum;
  return number;
}

Number LaneValues::integer(int64_t value, unsigned width) {
  return add({width, static_cast<uint64_t>(value) & maskOf(width)});
}

std::optional<int64_t> LaneValues::constantOf(Number number) const {
  const Sum &sum = sums[number];
  if (sum.width == 0 || !sum.terms.empty())
    return std::nullopt;
  return sum.width == 1 ? int64_t(sum.constant)
                        : llvm::SignExtend64(sum.constant, sum.width);
}

LaneValues::Sum LaneValues::sumOf(Number number, unsigned width) const {
  return sums[number].width != 0 ? sums[number] : Sum{width, 0, {{number, 1}}};
}

LaneValues::Sum LaneValues::sumOf(Value value) const {
  return sumOf(of(value), getElementTypeOrSelf(value).getIntOrFloatBitWidth());
}

LaneValues::Sum LaneValues::combine(Sum a, const Sum &b, uint64_t factor) {
  uint64_t mask = maskOf(a.width);
  a.constant = (a.constant + factor * b.constant) & mask;
  for (auto [number, times] : b.terms) {
    uint64_t &sum = a.terms[number];
    sum = (sum + factor * times) & mask;
    if (sum == 0)
      a.terms.erase(number);
  }
  return a;
}

Number LaneValues::floating(APFloat value) {
  APInt bits = value.bitcastToAPInt();
  return intern({Tag::Float, bits.getBitWidth(), bits.getZExtValue(),
                 uint64_t(APFloat::SemanticsToEnum(value.getSemantics()))});
}

Number LaneValues::multiply(Number a, Number b, unsigned width) {
  Sum x = sumOf(a, width), y = sumOf(b, width);
  if (!x.terms.empty())
    std::swap(x, y);
  if (x.terms.empty())
    return add(combine({width}, y, x.constant));
  return intern({Tag::Product, width, std::min(a, b), std::max(a, b)});
}

Number LaneValues::multiple(Number number, int64_t factor, unsigned width) {
  return multiply(number, integer(factor, width), width);
}

/// A quotient or remainder, as defineQuotient() has it or else by 1 the whole.
Number LaneValues::divide(Tag tag, Number x, Number by) {
  bool isRemainder = tag == Tag::Remainder || tag == Tag::SignedRemainder,
       isDefined = numbers.count({tag, x, by}) != 0;
  return constantOf(by) == 1 && !isRemainder && !isDefined
             ? x
             : intern({tag, x, by});
}

Number LaneValues::affine(AffineExpr expr, ArrayRef<Number> symbols) {
  constexpr unsigned width = 32;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integer(constant.getValue(), width);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Number a = affine(binary.getLHS(), symbols),
         b = affine(binary.getRHS(), symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(combine(sumOf(a, width), sumOf(b, width), 1));
  case AffineExprKind::Mul:
    return multiply(a, b, width);
  case AffineExprKind::FloorDiv:
    return divide(Tag::FloorDiv, a, b);
  case AffineExprKind::CeilDiv:
    return divide(Tag::CeilDiv, a, b);
  default:
    return divide(Tag::SignedRemainder, a, b);
  }
}

Number LaneValues::element(Number tensor, ArrayRef<Number> indices,
                           ArrayRef<Number> presence) {
  Key key = {Tag::Element, tensor, indices.size()};
  llvm::append_range(key, indices);
  llvm::append_range(key, presence);
  return intern(std::move(key));
}

Number LaneValues::range(StringAttr axis, Number start) {
  return intern({Tag::Range, keyOf(axis), start});
}

void LaneValues::defineQuotient(Number x, Number by, Number quotient,
                                Number remainder) {
  numbers[{Tag::Quotient, x, by}] = quotient;
  numbers[{Tag::Remainder, x, by}] = remainder;
}

void LaneValues::bind(ValueRange values, ValueRange others) {
  for (auto [value, other] : llvm::zip_equal(values, others)) {
    Number number = fresh();
    bind(value, number);
    bind(other, number);
  }
}

Number LaneValues::of(Value value) const {
  auto found = known.find(value);
  assert(found != known.end() && "operations are visited in order");
  return found->second;
}

SmallVector<Number> LaneValues::of(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value v) { return of(v); });
}

SmallVector<Number> LaneValues::ofPresence(ValueRange presence) const {
  SmallVector<Number> all = of(presence);
  llvm::erase_if(all, [&](Number number) { return constantOf(number) == 1; });
  return all;
}

bool LaneValues::isNever(ValueRange presence) const {
  return llvm::is_contained(
      llvm::map_range(presence, [&](Value p) { return constantOf(of(p)); }),
      std::optional<int64_t>(0));
}

Number LaneValues::identity(Combine kind, Type element) {
  bool isMax = kind == Combine::Max;
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    return floating(kind == Combine::Add ? APFloat::getZero(semantics)
                                         : APFloat::getInf(semantics, isMax));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  return integer(kind == Combine::Add ? 0
                 : isMax ? APInt::getSignedMinValue(width).getSExtValue()
                         : APInt::getSignedMaxValue(width).getSExtValue(),
                 width);
}

Number LaneValues::reduce(Combine kind, Type element, Number source,
                          ArrayAttr over, ArrayRef<Number> presence) {
  Key key = {Tag::Reduce, uint64_t(kind), keyOf(element), source};
  auto axes = llvm::map_to_vector(over, [](Attribute a) { return keyOf(a); });
  llvm::sort(axes);
  llvm::append_range(key, axes);
  llvm::append_range(key, presence);
  return intern(std::move(key));
}

std::optional<Number> LaneValues::ofConstant(arith::ConstantOp op) {
  APInt integral;
  if (matchPattern(op.getResult(), m_ConstantInt(&integral)))
    return add({integral.getBitWidth(), integral.getZExtValue()});
  APFloat value(0.0f);
  if (matchPattern(op.getResult(), m_ConstantFloat(&value)))
    return floating(value);
  return std::nullopt;
}

/// Sums, differences, multiples and compares of integers.
std::optional<Number> LaneValues::ofInteger(Operation *op) {
  auto wraps = [](auto sum) {
    return sum.getOverflowFlags() == arith::IntegerOverflowFlags::none &&
           !getElementTypeOrSelf(sum).isInteger(1);
  };
  if (auto sum = dyn_cast<arith::AddIOp>(op); sum && wraps(sum))
    return add(combine(sumOf(sum.getLhs()), sumOf(sum.getRhs()), 1));
  if (auto difference = dyn_cast<arith::SubIOp>(op);
      difference && wraps(difference))
    return add(combine(sumOf(difference.getLhs()), sumOf(difference.getRhs()),
                       ~uint64_t(0)));
  if (auto product = dyn_cast<arith::MulIOp>(op); product && wraps(product))
    return multiply(
        of(product.getLhs()), of(product.getRhs()),
        getElementTypeOrSelf(product.getType()).getIntOrFloatBitWidth());
  for (auto [isOne, tag] : {std::pair(isa<arith::DivUIOp>(op), Tag::Quotient),
                            {isa<arith::RemUIOp>(op), Tag::Remainder},
                            {isa<arith::FloorDivSIOp>(op), Tag::FloorDiv},
                            {isa<arith::CeilDivSIOp>(op), Tag::CeilDiv},
                            {isa<arith::RemSIOp>(op), Tag::SignedRemainder}})
    if (isOne)
      return divide(tag, of(op->getOperand(0)), of(op->getOperand(1)));
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || of(compare.getLhs()) != of(compare.getRhs()))
    return std::nullopt;
  return integer(arith::applyCmpPredicate(compare.getPredicate(), APInt(32, 0),
                                          APInt(32, 0)),
                 1);
}

/// Conditions of which a side is a constant, and selects by one.
std::optional<Number> LaneValues::ofLogic(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<int64_t> condition = constantOf(of(select.getCondition()));
    return condition ? std::optional(of(*condition ? select.getTrueValue()
                                                   : select.getFalseValue()))
                     : std::nullopt;
  }
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) ||
      !getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return std::nullopt;
  SmallVector<Number> sides = of(op->getOperands());
  std::optional<int64_t> left = constantOf(sides[0]),
                         right = constantOf(sides[1]);
  if (isa<arith::XOrIOp>(op))
    return left && right ? std::optional(integer(*left ^ *right, 1))
                         : std::nullopt;
  int64_t deciding = isa<arith::OrIOp>(op) ? 1 : 0;
  if (left)
    return *left == deciding ? sides[0] : sides[1];
  if (right)
    return *right == deciding ? sides[1] : sides[0];
  return std::nullopt;
}

/// Minima and maxima of which the constant side decides; a maximum is at least
/// its constant.
std::optional<Number> LaneValues::ofLimits(Operation *op) {
  bool isMax = isa<arith::MaxSIOp>(op);
  if (!isMax && !isa<arith::MinSIOp>(op))
    return std::nullopt;
  Number a = of(op->getOperand(0)), b = of(op->getOperand(1));
  if (constantOf(b))
    std::swap(a, b);
  std::optional<int64_t> constant = constantOf(a), other = constantOf(b);
  if (!constant)
    return std::nullopt;
  if (other)
    return integer(isMax ? std::max(*constant, *other)
                         : std::min(*constant, *other),
                   getElementTypeOrSelf(op->getResult(0).getType())
                       .getIntOrFloatBitWidth());
  if (!isMax)
    if (auto known = least.find(b);
        known != least.end() && *constant <= known->second)
      return a;
  visitOther(op, 0);
  if (isMax)
    least[of(op->getResult(0))] = *constant;
  return of(op->getResult(0));
}

/// What products are made of.
std::optional<Number> LaneValues::ofFloat(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return std::nullopt;
  // `contract` lets a sum round once where it would round twice.
  auto isPlain = [](auto of) {
    return (of.getFastmath() == arith::FastMathFlags::none ||
            of.getFastmath() == arith::FastMathFlags::contract) &&
           getElementTypeOrSelf(of.getType()).isF32();
  };
  if (auto sum = dyn_cast<arith::AddFOp>(op); sum && isPlain(sum))
    return commuting(Tag::Add, of(sum.getLhs()), of(sum.getRhs()));
  if (auto product = dyn_cast<arith::MulFOp>(op); product && isPlain(product))
    return commuting(Tag::Multiply, of(product.getLhs()), of(product.getRhs()));
  if (auto wide = dyn_cast<arith::ExtFOp>(op);
      wide && getElementTypeOrSelf(wide.getType()).isF32())
    return intern({Tag::Widen, of(wide.getIn())});
  return std::nullopt;
}

Number LaneValues::ofProduct(DotOp dot) {
  Type f32 = Float32Type::get(dot.getContext());
  if (isNever(dot.getPresence()))
    return dot.getInit() ? of(dot.getInit()) : identity(Combine::Add, f32);
  auto factor = [&](Value operand) {
    return getElementTypeOrSelf(operand).isF32()
               ? of(operand)
               : intern({Tag::Widen, of(operand)});
  };
  Number terms =
      commuting(Tag::Multiply, factor(dot.getLhs()), factor(dot.getRhs()));
  Number sum = reduce(Combine::Add, f32, terms, dot.getOver(),
                      ofPresence(dot.getPresence()));
  return dot.getInit() ? commuting(Tag::Add, of(dot.getInit()), sum) : sum;
}

std::optional<Number> LaneValues::ofTile(Operation *op, unsigned stored) {
  if (isa<SplatOp, BroadcastOp, KnownOp>(op))
    return of(op->getOperand(0));
  if (auto tile = dyn_cast<RangeOp>(op))
    return range(axesOf(tile.getType())[0], of(tile.getStart()));
  if (auto size = dyn_cast<BlockSizeOp>(op)) {
    auto known = sizes.find(size.getBlockAttr());
    return known == sizes.end() ? std::nullopt
                                : std::optional(integer(known->second, 32));
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return ofProduct(dot);
  if (auto sum = dyn_cast<ReduceOp>(op)) {
    Type element = getElementTypeOrSelf(sum.getType());
    return isNever(sum.getPresence())
               ? identity(sum.getKind(), element)
               : reduce(sum.getKind(), element, of(sum.getSource()),
                        sum.getOver(), ofPresence(sum.getPresence()));
  }
  auto load = dyn_cast<LoadOp>(op);
  // Predicates that are not tested are named by their places.
  if (!load || !load.getGarbage().empty())
    return std::nullopt;
  Key key = {Tag::Load, of(load.getTensor()), stored, uint64_t(load.getFill())};
  llvm::append_range(key, of(load.getIndices()));
  llvm::append_range(key, ofPresence(load.getPresence()));
  return intern(std::move(key));
}

/// A step that no lane enters leaves the state, and has no weights.
void LaneValues::visitStep(SoftmaxUpdateOp step) {
  SmallVector<Number> state = {of(step.getMax()), of(step.getSum())};
  llvm::append_range(state, of(step.getAccs()));
  bool isIdle = isNever(step.getPresence());
  Key key = {Tag::Step, keyOf(step.getOverAttr()), of(step.getScores())};
  llvm::append_range(key, state);
  llvm::append_range(key, ofPresence(step.getPresence()));
  for (OpResult result : step->getResults()) {
    unsigned place = result.getResultNumber();
    Number idle =
        place == 0 ? identity(Combine::Add, Float32Type::get(step.getContext()))
                   : state[place - 1];
    Key one = key;
    llvm::append_values(one, uint64_t(state.size()), uint64_t(place));
    bind(result, isIdle ? idle : intern(std::move(one)));
  }
}

/// The same operation on the same values; where it may look at several lanes,
/// along the same axes.
void LaneValues::visitOther(Operation *op, unsigned stored) {
  bool isOfLanes = op->hasTrait<OpTrait::Elementwise>() ||
                   isa<SoftmaxIncludeOp, SoftmaxNormalizeOp, SoftmaxLseOp,
                       SoftmaxWeightOp, ConvertOp>(op);
  auto appendType = [&](Key &key, Value value) {
    key.push_back(keyOf(getElementTypeOrSelf(value)));
    if (auto tile = dyn_cast<RankedTensorType>(value.getType());
        tile && !isOfLanes)
      key.push_back(keyOf(tile.getEncoding()));
  };
  Key key = {Tag::Other,
             reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer()),
             keyOf(op->getPropertiesAsAttribute()), stored};
  SmallVector<Key> operands;
  for (Value operand : op->getOperands()) {
    appendType(operands.emplace_back(), operand);
    operands.back().push_back(of(operand));
  }
  if (op->hasTrait<OpTrait::IsCommutative>())
    llvm::sort(operands);
  for (const Key &operand : operands)
    llvm::append_range(key, operand);
  for (OpResult result : op->getResults()) {
    Key one = key;
    appendType(one, result);
    one.push_back(result.getResultNumber());
    bind(result, intern(std::move(one)));
  }
}

void LaneValues::visit(Operation *op, unsigned stored) {
  if (auto step = dyn_cast<SoftmaxUpdateOp>(op))
    return visitStep(step);
  std::optional<Number> number;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    number = ofConstant(constant);
  if (!number)
    number = ofTile(op, stored);
  if (!number && op->getNumResults() == 1 && isInteger(op->getResult(0)))
    number = ofInteger(op);
  if (!number)
    number = ofLimits(op);
  if (!number)
    number = ofLogic(op);
  if (!number)
    number = ofFloat(op);
  if (number)
    bind(op->getResult(0), *number);
  else
    visitOther(op, stored);
}

} // namespace selvedge::verify
