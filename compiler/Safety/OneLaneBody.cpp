// The body of a loop over blocks of an axis, for one lane of that axis.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/OneLaneBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;

/// Lanes of a contracted axis that are multiplied at a time: two or four per
/// thread. Whatever the loops before have in registers stays there.
static constexpr int64_t partSize = 8;

OneLaneBody::OneLaneBody(scf::ForOp loop, StringAttr axis, NoteIds &ids)
    : loop(loop), kernel(loop->getParentOfType<KernelOp>()), ids(ids) {
  cuts.push_back({axis, addAxis(axis.getValue() + ".lane", 1), 1, {}});
}

StringAttr OneLaneBody::addAxis(const Twine &text, int64_t size) {
  auto name = StringAttr::get(kernel.getContext(), text);
  if (kernel.getSizes()->contains(name))
    return name;
  OpBuilder b(kernel);
  SmallVector<Attribute> axes(kernel.getAxes().getValue());
  axes.push_back(AxisAttr::get(kernel.getContext(), name, {}, size));
  kernel.setAxesAttr(b.getArrayAttr(axes));
  NamedAttrList sizes(*kernel.getSizes());
  sizes.set(name, b.getI64IntegerAttr(size));
  kernel.setSizesAttr(sizes.getDictionary(kernel.getContext()));
  return name;
}

const OneLaneBody::Cut *OneLaneBody::cutOf(Type type) const {
  const Cut *found = llvm::find_if(cuts, [&](const Cut &cut) {
    return llvm::is_contained(axesOf(type), cut.axis);
  });
  return found == cuts.end() ? nullptr : found;
}

/// New axes come last: those of a tile are in the order of the kernel's.
Type OneLaneBody::retyped(Type type) const {
  if (!cutOf(type))
    return type;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto tensor = cast<RankedTensorType>(type);
  auto isCut = [&](StringAttr name) {
    return llvm::any_of(cuts, [&](const Cut &cut) { return cut.axis == name; });
  };
  for (auto [name, size] : llvm::zip_equal(axesOf(type), tensor.getShape()))
    if (!isCut(name)) {
      axes.push_back(name);
      sizes.push_back(size);
    }
  for (const Cut &cut : cuts)
    if (llvm::is_contained(axesOf(type), cut.axis)) {
      axes.push_back(cut.part);
      sizes.push_back(cut.size);
    }
  return tileType(tensor.getElementType(), axes, sizes);
}

ArrayAttr OneLaneBody::renamed(ArrayAttr axes) const {
  return ArrayAttr::get(axes.getContext(),
                        llvm::map_to_vector(axes, [&](Attribute name) {
                          for (const Cut &cut : cuts)
                            if (name == cut.axis)
                              return Attribute(cut.part);
                          return name;
                        }));
}

/// Whether an operation in front of the step that uses it is repeated in it:
/// then it holds no registers before, and has the new axes.
static bool isRepeatable(Operation *op) {
  // A load finds the same again where the kernel does not write its tensor.
  if (auto load = dyn_cast<LoadOp>(op))
    return llvm::none_of(load.getTensor().getUsers(), llvm::IsaPred<StoreOp>);
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
  const Cut *cut = cutOf(v.getType());
  if (!cut)
    return v;
  loop.emitOpError("cannot have exact masks: expects tiles along '")
      << cut->axis.getValue()
      << "' that a step computes from what it loads, found another one";
  return {};
}

LogicalResult OneLaneBody::emitClone(OpBuilder &b, Operation &op) {
  if (op.getNumRegions() != 0)
    return op.emitOpError("cannot have exact masks: expects steps without "
                          "branches and loops");
  const Cut *cut =
      isa<RangeOp>(op) ? cutOf(op.getResult(0).getType()) : nullptr;
  if (cut && !cut->from && op.getOperand(0) != loop.getInductionVar())
    return op.emitOpError("cannot have exact masks: expects indices along '")
           << cut->axis.getValue() << "' that start at the loop's";
  Operation *clone = b.clone(op, mapping);
  for (Value result : clone->getResults())
    result.setType(retyped(result.getType()));
  if (cut && cut->from) {
    // Lanes of a part are those of the whole axis: slices that begin elsewhere
    // are as far from them as before.
    OpBuilder::InsertionGuard guard(b);
    Value start = clone->getOperand(0), range = clone->getResult(0);
    clone->setOperand(0, cut->from);
    b.setInsertionPointAfter(clone);
    if (!matchPattern(start, m_Zero()))
      range = arith::AddIOp::create(
          b, op.getLoc(), range,
          broadcastTo(b, op.getLoc(), start, range.getType()));
    mapping.map(op.getResult(0), range);
    return success();
  }
  if (auto reduce = dyn_cast<ReduceOp>(clone))
    reduce.setOverAttr(renamed(reduce.getOver()));
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      constant.setValueAttr(
          dense.resizeSplat(cast<ShapedType>(constant.getType())));
  mapping.map(op.getResults(), clone->getResults());
  return success();
}

/// Where its presence is false a term is data of other rows times zero, which
/// need not be zero.
Value OneLaneBody::addTerms(OpBuilder &b, DotOp dot, Value sum) {
  Location loc = dot.getLoc();
  Value factors[] = {adapt(b, dot.getLhs()), adapt(b, dot.getRhs())};
  if (!factors[0] || !factors[1])
    return {};
  // All axes of the operands: those of the result, then the contracted ones.
  Type result = retyped(dot.getType());
  SmallVector<StringAttr> axes(axesOf(result));
  SmallVector<int64_t> sizes;
  if (auto tensor = dyn_cast<RankedTensorType>(result))
    llvm::append_range(sizes, tensor.getShape());
  auto factor = cast<RankedTensorType>(factors[0].getType());
  for (auto over : renamed(dot.getOver()).getAsRange<StringAttr>()) {
    size_t at = llvm::find(axesOf(factor), over) - axesOf(factor).begin();
    axes.push_back(over);
    sizes.push_back(factor.getDimSize(at));
  }
  Type f32 = b.getF32Type(), full = tileType(f32, axes, sizes);
  for (Value &v : factors) {
    if (getElementTypeOrSelf(v.getType()) != f32)
      v = arith::ExtFOp::create(b, loc, withElementType(v.getType(), f32), v);
    v = broadcastTo(b, loc, v, full);
  }
  Value term = arith::MulFOp::create(b, loc, factors[0], factors[1]);
  SmallVector<Value> presence;
  Value exists;
  for (Value p : dot.getPresence()) {
    presence.push_back(adapt(b, p));
    if (!presence.back())
      return {};
    Value wide = broadcastTo(b, loc, presence.back(), full);
    exists =
        exists ? arith::AndIOp::create(b, loc, exists, wide).getResult() : wide;
  }
  if (exists) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(f32));
    SafetyNote note{
        ids.next(kernel, "term"),
        "guard",
        "terms of a product",
        "an absent lane is data of other rows: 0 times NaN or Inf is NaN",
        {}};
    term = arith::SelectOp::create(b, withNote(loc, note), exists, term,
                                   broadcastTo(b, loc, zero, full));
  }
  Value terms = ReduceOp::create(b, loc, result, Combine::Add, term,
                                 renamed(dot.getOver()), presence);
  return sum ? arith::AddFOp::create(b, loc, sum, terms).getResult() : terms;
}

Value OneLaneBody::addParts(OpBuilder &b, DotOp dot, Value sum) {
  Location loc = dot.getLoc();
  auto over = cast<StringAttr>(dot.getOver()[0]);
  int64_t size = kernel.getSizes()->getAs<IntegerAttr>(over).getInt();
  auto i32 = [&](int64_t v) {
    return arith::ConstantIntOp::create(b, loc, v, 32).getResult();
  };
  if (!sum) {
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    sum = broadcastTo(b, loc, zero, retyped(dot.getType()));
  }
  // No part starts past the last one: so the index says that lanes exist.
  auto parts = scf::ForOp::create(b, loc, i32(0), i32(size - partSize + 1),
                                  i32(partSize), sum);
  OneLaneBody inner(*this);
  inner.cuts.push_back({over, addAxis(over.getValue() + ".part", partSize),
                        partSize, parts.getInductionVar()});
  for (auto [from, to] : mapping.getValueMap())
    if (llvm::is_contained(axesOf(from.getType()), over))
      inner.mapping.erase(from);
  OpBuilder in = OpBuilder::atBlockEnd(parts.getBody());
  Value next = inner.addTerms(in, dot, parts.getRegionIterArg(0));
  // A program that the pass declines stays valid: the author has the reason.
  scf::YieldOp::create(in, loc, next ? next : parts.getRegionIterArg(0));
  return next ? parts.getResult(0) : Value();
}

LogicalResult OneLaneBody::emitDot(OpBuilder &b, DotOp dot) {
  Value sum;
  if (dot.getInit() && !(sum = adapt(b, dot.getInit())))
    return failure();
  auto over = dot.getOver().getAsRange<StringAttr>();
  bool isCut = llvm::any_of(over, [&](StringAttr name) {
    return llvm::any_of(cuts, [&](const Cut &cut) { return cut.axis == name; });
  });
  sum = isCut || !llvm::hasSingleElement(over) ? addTerms(b, dot, sum)
                                               : addParts(b, dot, sum);
  if (sum)
    mapping.map(dot.getResult(), sum);
  return success(static_cast<bool>(sum));
}

LogicalResult OneLaneBody::emitOp(OpBuilder &b, Operation &op) {
  if (auto dot = dyn_cast<DotOp>(op))
    return emitDot(b, dot);
  for (Value operand : op.getOperands()) {
    Value adapted = adapt(b, operand);
    if (!adapted)
      return failure();
    mapping.map(operand, adapted);
  }
  // The steps test what a part of the loop made true.
  if (auto known = dyn_cast<KnownOp>(op)) {
    mapping.map(known.getResult(), mapping.lookup(known.getPredicate()));
    return success();
  }
  return emitClone(b, op);
}

FailureOr<scf::ForOp> OneLaneBody::emit(OpBuilder &builder, Value low,
                                        Value high, ValueRange inits) {
  Value one = arith::ConstantIntOp::create(builder, loop.getLoc(), 1, 32);
  auto lanes =
      scf::ForOp::create(builder, loop.getLoc(), low, high, one, inits);
  mapping.map(loop.getInductionVar(), lanes.getInductionVar());
  mapping.map(loop.getRegionIterArgs(), lanes.getRegionIterArgs());
  OpBuilder b = OpBuilder::atBlockEnd(lanes.getBody());
  for (Operation &op : *loop.getBody())
    if (failed(emitOp(b, op))) {
      // See addParts.
      if (!isa<scf::YieldOp>(op))
        scf::YieldOp::create(b, op.getLoc(), lanes.getRegionIterArgs());
      return failure();
    }
  return lanes;
}

} // namespace selvedge::safety
