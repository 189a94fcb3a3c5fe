// Lowers the body of one bound tile kernel to sm.seq: structure and elementwise
// operations. SPDX-License-Identifier: MIT
#include "compiler/Schedule/KernelLowering.h"

#include "dialect/Tile/Decisions.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

FailureOr<sm::KernelOp> KernelLowering::run(OpBuilder &module, StringRef name) {
  ProgramOp program = source.getProgram();
  SmallVector<Attribute> args;
  MLIRContext *ctx = source.getContext();
  for (auto dim : program.getDims().getAsRange<StringAttr>())
    args.push_back(sm::DimArgAttr::get(ctx, dim));
  for (unsigned i = 0; i < program.getTensors().size(); ++i)
    args.push_back(
        sm::PointerArgAttr::get(ctx, program.getTensorArg(i).getName()));
  for (unsigned i = 0; i < program.getScalars().size(); ++i)
    args.push_back(
        sm::ScalarArgAttr::get(ctx, program.getScalarArg(i).getName()));
  target = sm::KernelOp::create(module, source.getLoc(), name,
                                builder.getArrayAttr(args), *source.getWarps());
  Block &body = target.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  for (unsigned i = 0; i < args.size(); ++i) {
    BlockArgument from = source.getBody().getArgument(i);
    compute.values[from] = body.addArgument(from.getType(), from.getLoc());
  }
  for (auto axis : source.getAxes().getAsRange<AxisAttr>()) {
    int64_t size =
        cast<IntegerAttr>(source.getSizesAttr().get(axis.getName())).getInt();
    compute.axes[axis.getName()] = distribute(
        roles, axis.getName(), size, *source.getWarps(), variant.align ? 8 : 1);
  }
  emitCoordinates();
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  sm::ReturnOp::create(builder, withoutDecisions(source.getLoc()));
  return target;
}

Value KernelLowering::emitAffine(AffineExpr expr, Location loc) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIntOp::create(builder, loc, c.getValue(), 32);
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return compute.values.lookup(source.getDimArg(s.getPosition()));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value a = emitAffine(binary.getLHS(), loc),
        b = emitAffine(binary.getRHS(), loc);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, a, b);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, a, b);
  default:
    return arith::RemSIOp::create(builder, loc, a, b);
  }
}

/// Decodes the block number into the kernel's coordinates, the last range
/// fastest.
void KernelLowering::emitCoordinates() {
  Location loc = withoutDecisions(source.getLoc());
  Value rest = sm::BlockIdOp::create(builder, loc, builder.getI32Type());
  ArrayAttr ranges = source.getRanges();
  for (size_t i = ranges.size(); i-- > 0;) {
    auto iter = cast<IterAttr>(ranges[i]);
    Value count = emitAffine(iter.getExtent().getResult(0), loc), step;
    if (iter.getBlock()) {
      step = arith::ConstantIntOp::create(
          builder, loc,
          cast<IntegerAttr>(source.getSizesAttr().get(iter.getName())).getInt(),
          32);
      count = arith::CeilDivSIOp::create(builder, loc, count, step);
    }
    // Counts are positive wherever a block runs: a grid with a zero is not
    // launched.
    Value index =
        i == 0 ? rest
               : arith::RemUIOp::create(builder, loc, rest, count).getResult();
    rest = i == 0
               ? rest
               : arith::DivUIOp::create(builder, loc, rest, count).getResult();
    compute.values[source.getCoord(i)] =
        step ? arith::MulIOp::create(builder, loc, index, step).getResult()
             : index;
  }
}

Type KernelLowering::convertType(Type type, const Context &context) {
  if (!isTile(type))
    return type;
  SmallVector<sm::AxisDistAttr> axes;
  for (StringAttr axis : axesOf(type)) {
    auto it = context.axes.find(axis);
    if (it == context.axes.end())
      return {};
    axes.push_back(it->second);
  }
  auto dist = sm::DistAttr::get(type.getContext(), axes);
  if (!isComplete(dist))
    return {};
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               getElementTypeOrSelf(type), dist);
}

Value KernelLowering::value(Value v) { return compute.values.lookup(v); }

Value KernelLowering::valueIn(Value v, Context &context) {
  if (!isTile(v.getType()))
    return value(v);
  if (Value known = context.values.lookup(v))
    return known;
  Operation *def = v.getDefiningOp();
  Type type = convertType(v.getType(), context);
  if (!def || !type)
    return {};
  Value result;
  if (auto range = dyn_cast<RangeOp>(def)) {
    result = sm::RangeOp::create(builder, def->getLoc(), type,
                                 value(range.getStart()));
  } else if (auto splat = dyn_cast<SplatOp>(def)) {
    result = sm::SplatOp::create(builder, def->getLoc(), type,
                                 value(splat.getValue()));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(def)) {
    if (Value from = valueIn(broadcast.getSource(), context))
      result = sm::BroadcastOp::create(builder, def->getLoc(), type, from);
  } else if (auto load = dyn_cast<LoadOp>(def)) {
    auto indices = valuesIn(load.getIndices(), context),
         presence = valuesIn(load.getPresence(), context);
    if (succeeded(indices) && succeeded(presence))
      result = sm::LoadOp::create(builder, def->getLoc(), type,
                                  value(load.getTensor()), *indices, *presence,
                                  1, sm::CacheAttr());
  } else if (isa<arith::ArithDialect, math::MathDialect>(def->getDialect())) {
    if (Operation *clone = cloneElementwise(*def, context))
      result = clone->getResult(cast<OpResult>(v).getResultNumber());
  }
  if (result)
    context.values[v] = result;
  return result;
}

FailureOr<SmallVector<Value>> KernelLowering::valuesIn(ValueRange values,
                                                       Context &context) {
  SmallVector<Value> result;
  for (Value v : values) {
    result.push_back(valueIn(v, context));
    if (!result.back())
      return failure();
  }
  return result;
}

Operation *KernelLowering::cloneElementwise(Operation &op, Context &context) {
  IRMapping mapping;
  for (Value operand : op.getOperands()) {
    Value mapped = valueIn(operand, context);
    if (!mapped)
      return nullptr;
    mapping.map(operand, mapped);
  }
  Operation *clone = builder.clone(op, mapping);
  for (Value result : clone->getResults()) {
    Type type = convertType(result.getType(), context);
    if (!type) {
      clone->erase();
      return nullptr;
    }
    result.setType(type);
  }
  return clone;
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (failed(lowerOp(op)))
      return failure();
  return success();
}

LogicalResult KernelLowering::lowerOp(Operation &op) {
  if (isa<ReturnOp>(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto load = dyn_cast<LoadOp>(op))
    return lowerLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return lowerStore(store);
  if (auto dot = dyn_cast<DotOp>(op))
    return lowerDot(dot);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return lowerReduce(reduce);
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    SmallVector<Value> results;
    for (Value v : yield.getResults())
      results.push_back(value(v));
    scf::YieldOp::create(builder, op.getLoc(), results);
    return success();
  }
  if (auto present = dyn_cast<IsPresentOp>(op)) {
    compute.values[present] = sm::IsPresentOp::create(
        builder, op.getLoc(), builder.getI1Type(), value(present.getTensor()));
    return success();
  }
  if (auto any = dyn_cast<AnyOp>(op)) {
    // Its rows must be the warp's own: it decides alone.
    if (roles.splitCols)
      return any.emitOpError("expects rows that one warp holds, but the warps "
                             "of this kernel share them");
    compute.values[any] = sm::AnyOp::create(
        builder, op.getLoc(), builder.getI1Type(), value(any.getCondition()));
    return success();
  }
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type type = convertType(convert.getType(), compute);
    if (!type)
      return convert.emitOpError(
          "has axes that no distribution of this kernel can hold together");
    compute.values[convert] = sm::ConvertOp::create(builder, op.getLoc(), type,
                                                    value(convert.getSource()),
                                                    convert.getOverflow());
    return success();
  }
  for (Value result : op.getResults()) {
    if (isTile(result.getType())) {
      if (!valueIn(result, compute))
        return op.emitOpError("cannot be lowered: its axes share lanes or "
                              "warps, or it is not supported on this target");
    } else {
      Operation *clone = cloneElementwise(op, compute);
      if (!clone)
        return op.emitOpError("cannot be lowered to this target");
      compute.values[result] =
          clone->getResult(cast<OpResult>(result).getResultNumber());
    }
  }
  return success();
}

LogicalResult KernelLowering::lowerFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(value(init));
  auto lowered = scf::ForOp::create(
      builder, loop.getLoc(), value(loop.getLowerBound()),
      value(loop.getUpperBound()), value(loop.getStep()), inits);
  compute.values[loop.getInductionVar()] = lowered.getInductionVar();
  for (auto [from, to] :
       llvm::zip_equal(loop.getRegionIterArgs(), lowered.getRegionIterArgs()))
    compute.values[from] = to;
  {
    OpBuilder::InsertionGuard guard(builder);
    if (inits.empty())
      lowered.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(lowered.getBody());
    if (failed(lowerBlock(*loop.getBody())))
      return failure();
  }
  for (auto [from, to] :
       llvm::zip_equal(loop.getResults(), lowered.getResults()))
    compute.values[from] = to;
  return success();
}

LogicalResult KernelLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(convertType(type, compute));
  auto lowered = scf::IfOp::create(builder, branch.getLoc(), types,
                                   value(branch.getCondition()),
                                   !branch.getElseRegion().empty());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), lowered->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    to.front().clear();
    builder.setInsertionPointToEnd(&to.front());
    if (failed(lowerBlock(from.front())))
      return failure();
  }
  for (auto [from, to] :
       llvm::zip_equal(branch.getResults(), lowered.getResults()))
    compute.values[from] = to;
  return success();
}

} // namespace selvedge::schedule
