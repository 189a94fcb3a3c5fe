// The body of a loop over blocks of an axis, for one lane of that axis.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/OneLaneBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;

bool OneLaneBody::hasAxis(Type type) const {
  return llvm::is_contained(axesOf(type), axis);
}

/// The new axis comes last: axes of a tile are in the order of the kernel's.
Type OneLaneBody::retyped(Type type) const {
  if (!hasAxis(type))
    return type;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto tensor = cast<RankedTensorType>(type);
  for (auto [name, size] : llvm::zip_equal(axesOf(type), tensor.getShape())) {
    if (name == axis)
      continue;
    axes.push_back(name);
    sizes.push_back(size);
  }
  axes.push_back(lane);
  sizes.push_back(1);
  return tileType(tensor.getElementType(), axes, sizes);
}

ArrayAttr OneLaneBody::renamed(ArrayAttr axes) const {
  return ArrayAttr::get(axes.getContext(),
                        llvm::map_to_vector(axes, [&](Attribute name) {
                          return name == axis ? Attribute(lane) : name;
                        }));
}

/// Whether an operation in front of the loop is repeated in it: then it holds
/// no registers while the loops before run, and has the new axis.
static bool isRepeatable(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return op->getParentOfType<KernelOp>()
               .getTensorArgOf(load.getTensor())
               .getRole() == Role::In;
  return isa<RangeOp, SplatOp, BroadcastOp, ConvertOp, KnownOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

Value OneLaneBody::adapt(OpBuilder &b, Value v) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  if (!isTile(v.getType()))
    return v;
  Operation *def = v.getDefiningOp();
  if (def && isRepeatable(def))
    return succeeded(emitOp(b, *def)) ? mapping.lookup(v) : Value();
  if (!hasAxis(v.getType()))
    return v;
  loop.emitOpError("cannot run lane by lane along '")
      << axis.getValue()
      << "' for exact masks: expects that axis only in values of a step, but a "
         "tile from outside has it";
  return {};
}

LogicalResult OneLaneBody::emitClone(OpBuilder &b, Operation &op) {
  if (auto range = dyn_cast<RangeOp>(op);
      range && hasAxis(range.getType()) &&
      range.getStart() != loop.getInductionVar())
    return op.emitOpError("cannot run lane by lane for exact masks: expects "
                          "indices along '")
           << axis.getValue() << "' that start at the loop's";
  if (op.getNumRegions() != 0)
    return op.emitOpError("cannot run lane by lane for exact masks: expects "
                          "steps without branches and loops");
  Operation *clone = b.clone(op, mapping);
  for (Value result : clone->getResults())
    result.setType(retyped(result.getType()));
  if (auto reduce = dyn_cast<ReduceOp>(clone))
    reduce.setOverAttr(renamed(reduce.getOver()));
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      constant.setValueAttr(
          DenseElementsAttr::get(cast<ShapedType>(constant.getType()),
                                 dense.getSplatValue<Attribute>()));
  mapping.map(op.getResults(), clone->getResults());
  return success();
}

/// A sum of terms, each selected by its presence: where that is false the other
/// factor is data of other rows, and zero times that need not be zero.
void OneLaneBody::emitDot(OpBuilder &b, DotOp dot) {
  Location loc = dot.getLoc();
  // All axes of the operands: those of the result, then the contracted ones.
  Type result = retyped(dot.getType());
  SmallVector<StringAttr> axes(axesOf(result));
  SmallVector<int64_t> sizes;
  if (isTile(result))
    sizes.assign(cast<RankedTensorType>(result).getShape().begin(),
                 cast<RankedTensorType>(result).getShape().end());
  auto factors = llvm::map_to_vector(
      ValueRange{dot.getLhs(), dot.getRhs()},
      [&](Value v) { return mapping.lookup(v); });
  auto tensor = cast<RankedTensorType>(factors.front().getType());
  for (auto over : renamed(dot.getOver()).getAsRange<StringAttr>()) {
    auto at = llvm::find(axesOf(tensor), over) - axesOf(tensor).begin();
    axes.push_back(over);
    sizes.push_back(tensor.getDimSize(at));
  }
  Type f32 = b.getF32Type(), full = tileType(f32, axes, sizes);
  for (Value &factor : factors) {
    if (getElementTypeOrSelf(factor.getType()) != f32)
      factor = arith::ExtFOp::create(
          b, loc, withElementType(factor.getType(), f32), factor);
    factor = broadcastTo(b, loc, factor, full);
  }
  Value term = arith::MulFOp::create(b, loc, factors[0], factors[1]);
  SmallVector<Value> presence;
  Value exists;
  for (Value p : dot.getPresence()) {
    presence.push_back(mapping.lookup(p));
    Value wide = broadcastTo(b, loc, presence.back(), full);
    exists = exists ? arith::AndIOp::create(b, loc, exists, wide).getResult()
                    : wide;
  }
  if (exists) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(f32));
    term = arith::SelectOp::create(b, loc, exists, term,
                                   broadcastTo(b, loc, zero, full));
  }
  Value sum = ReduceOp::create(b, loc, result, Combine::Add, term,
                               renamed(dot.getOver()), presence);
  if (dot.getInit())
    sum = arith::AddFOp::create(b, loc, mapping.lookup(dot.getInit()), sum);
  mapping.map(dot.getResult(), sum);
}

LogicalResult OneLaneBody::emitOp(OpBuilder &b, Operation &op) {
  for (Value operand : op.getOperands()) {
    Value adapted = adapt(b, operand);
    if (!adapted)
      return failure();
    mapping.map(operand, adapted);
  }
  // The steps test what a part of the loop made true.
  if (auto known = dyn_cast<KnownOp>(op))
    return mapping.map(known.getResult(), mapping.lookup(known.getPredicate())),
           success();
  if (auto dot = dyn_cast<DotOp>(op))
    return emitDot(b, dot), success();
  return emitClone(b, op);
}

FailureOr<scf::ForOp> OneLaneBody::emit(OpBuilder &builder, Value low,
                                        Value high, ValueRange inits) {
  Value one =
      arith::ConstantIntOp::create(builder, loop.getLoc(), 1, 32);
  auto lanes =
      scf::ForOp::create(builder, loop.getLoc(), low, high, one, inits);
  mapping.map(loop.getInductionVar(), lanes.getInductionVar());
  mapping.map(loop.getRegionIterArgs(), lanes.getRegionIterArgs());
  OpBuilder b = OpBuilder::atBlockEnd(lanes.getBody());
  for (Operation &op : *loop.getBody())
    if (failed(emitOp(b, op)))
      return failure();
  return lanes;
}

} // namespace selvedge::safety
