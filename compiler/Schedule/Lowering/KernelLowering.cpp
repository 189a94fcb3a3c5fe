// Lowers the body of one bound tile kernel to sm.seq: structure and elementwise
// operations. SPDX-License-Identifier: MIT
#include "compiler/Schedule/Lowering/KernelLowering.h"

#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

AxisSizes sizesOf(KernelOp kernel) {
  AxisSizes sizes;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    sizes[axis.getName()] =
        cast<IntegerAttr>(kernel.getSizesAttr().get(axis.getName())).getInt();
  return sizes;
}

FailureOr<sm::KernelOp> KernelLowering::run(OpBuilder &module, StringRef name) {
  ProgramOp program = source.getProgram();
  SmallVector<Attribute> args;
  MLIRContext *ctx = source.getContext();
  for (auto dim : program.getDims().getAsRange<StringAttr>())
    args.push_back(sm::DimArgAttr::get(ctx, dim));
  for (unsigned i = 0; i < program.getTensors().size(); ++i) {
    TensorArgAttr tensor = program.getTensorArg(i);
    args.push_back(sm::PointerArgAttr::get(ctx, tensor.getName(),
                                           sm::knownStrides(tensor)));
  }
  for (unsigned i = 0; i < program.getScalars().size(); ++i)
    args.push_back(
        sm::ScalarArgAttr::get(ctx, program.getScalarArg(i).getName()));
  target = sm::KernelOp::create(module, source.getLoc(), name,
                                builder.getArrayAttr(args), *source.getWarps(),
                                source.getSource(), /*schedule=*/{});
  Block &body = target.getBody().emplaceBlock();
  builder.setInsertionPointToStart(&body);
  for (unsigned i = 0; i < args.size(); ++i) {
    BlockArgument from = source.getBody().getArgument(i);
    scalars[from] = body.addArgument(from.getType(), from.getLoc());
  }
  AxisSizes sizes = sizesOf(source);
  int64_t warps = *source.getWarps();
  for (const LayoutGroup &group : layouts.getGroups()) {
    Context &context = contexts.emplace_back();
    context.axes = layOut(group, sizes, warps, variant.align ? 8 : 1);
    // Contracted axes that no tile has: proofs speak of them.
    for (auto [axis, size] : sizes)
      context.axes.insert({axis, layOutColumns(axis, size, warps)});
  }
  emitCoordinates();
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  sm::ReturnOp::create(builder, withoutDecisions(source.getLoc()));
  noteRelayouts();
  return target;
}

/// What it costs that the kernel has several layouts.
void KernelLowering::noteRelayouts() {
  int64_t renamed = 0, moved = 0, shuffles = 0, exchanged = 0, bytes = 0;
  target.walk([&](sm::RelayoutOp relayout) {
    if (std::optional<sm::WarpMove> move = relayout.findMove()) {
      int64_t count = move->countShuffles();
      ++(count + move->countSelects() == 0 ? renamed : moved);
      shuffles += count;
      return;
    }
    ++exchanged;
    bytes += relayout.scratchType(32 * target.getWarps()).getBytes();
  });
  if (renamed + moved + exchanged == 0)
    return;
  auto count = [](int64_t n) {
    return std::to_string(n) + (n == 1 ? " tile moves" : " tiles move");
  };
  noteDecision(
      target,
      {"layouts",
       std::to_string(contexts.size()) + ", " +
           count(renamed + moved + exchanged) + " between them",
       "products and reductions want the axes held in different ways; " +
           count(exchanged) + " through shared memory, which takes " +
           std::to_string(bytes) + " bytes and a barrier each, " +
           std::to_string(moved) + " inside warps by " +
           std::to_string(shuffles) + " shuffles, " + std::to_string(renamed) +
           " by renaming registers"});
}

Value KernelLowering::emitAffine(AffineExpr expr, Location loc) {
  if (auto c = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIntOp::create(builder, loc, c.getValue(), 32);
  if (auto s = dyn_cast<AffineSymbolExpr>(expr))
    return scalars.lookup(source.getDimArg(s.getPosition()));
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
    // A range of one has no digit.
    if (!iter.getBlock() && iter.getExtent().isSingleConstant() &&
        iter.getExtent().getSingleConstantResult() == 1) {
      scalars[source.getCoord(i)] =
          arith::ConstantIntOp::create(builder, loc, 0, 32);
      continue;
    }
    AffineExpr blocks = iter.getExtent().getResult(0);
    int64_t size = 1;
    if (iter.getBlock()) {
      size =
          cast<IntegerAttr>(source.getSizesAttr().get(iter.getName())).getInt();
      blocks = blocks.ceilDiv(size);
    }
    Value count = emitAffine(blocks, loc);
    // Counts are positive wherever a block runs: a grid with a zero is not
    // launched.
    Value index =
        i == 0 ? rest
               : arith::RemUIOp::create(builder, loc, rest, count).getResult();
    rest = i == 0
               ? rest
               : arith::DivUIOp::create(builder, loc, rest, count).getResult();
    Value coord = source.getCoord(i);
    scalars[coord] = index;
    if (!iter.getBlock())
      continue;
    blockNumbers[coord] = {index, size};
    scalars[coord] = arith::MulIOp::create(
        builder, loc, index,
        arith::ConstantIntOp::create(builder, loc, size, 32));
  }
}

Value KernelLowering::blockNumberOf(Operation &op) const {
  auto quotient = dyn_cast<arith::DivUIOp>(op);
  auto known =
      quotient ? blockNumbers.find(quotient.getLhs()) : blockNumbers.end();
  if (known == blockNumbers.end())
    return {};
  auto [number, size] = known->second;
  return getConstantIntValue(quotient.getRhs()) == size ? number : Value();
}

Type KernelLowering::convertType(Type type, const Context &context) {
  if (!isTile(type))
    return type;
  SmallVector<sm::AxisLayoutAttr> axes;
  for (StringAttr axis : axesOf(type)) {
    auto it = context.axes.find(axis);
    if (it == context.axes.end())
      return {};
    axes.push_back(it->second);
  }
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               getElementTypeOrSelf(type),
                               sm::LayoutAttr::get(type.getContext(), axes));
}

void KernelLowering::define(Value v, Value lowered) {
  std::optional<unsigned> home = layouts.homeOf(v);
  if (!home) {
    scalars[v] = lowered;
    return;
  }
  contexts[*home].values[v] = lowered;
  for (unsigned group : layouts.neededIn(v))
    if (group != *home)
      contexts[group].values[v] = sm::RelayoutOp::create(
          builder, withoutNote(v.getLoc()),
          convertType(v.getType(), contexts[group]), lowered,
          /*scratch=*/Value());
}

Value KernelLowering::value(Value v) {
  std::optional<unsigned> home = layouts.homeOf(v);
  return home ? contexts[*home].values.lookup(v) : scalars.lookup(v);
}

Value KernelLowering::valueIn(Value v, Context &context) {
  if (!isTile(v.getType()))
    return scalars.lookup(v);
  if (Value known = context.values.lookup(v))
    return known;
  Type type = convertType(v.getType(), context);
  Value result = v.getDefiningOp() && type ? emitIn(v, context, type) : Value();
  if (result)
    context.values[v] = result;
  return result;
}

/// A tile that follows from its operands alone.
Value KernelLowering::emitIn(Value v, Context &context, Type type) {
  Operation *def = v.getDefiningOp();
  Location loc = def->getLoc();
  if (auto range = dyn_cast<RangeOp>(def))
    return sm::RangeOp::create(builder, loc, type, value(range.getStart()));
  if (auto splat = dyn_cast<SplatOp>(def))
    return sm::SplatOp::create(builder, loc, type, value(splat.getValue()));
  if (auto broadcast = dyn_cast<BroadcastOp>(def)) {
    Value from = valueIn(broadcast.getSource(), context);
    return from ? sm::BroadcastOp::create(builder, loc, type, from).getResult()
                : Value();
  }
  if (auto load = dyn_cast<LoadOp>(def))
    return loadIn(load, context, type, 1, sm::CacheAttr());
  if (auto convert = dyn_cast<ConvertOp>(def)) {
    Value from = valueIn(convert.getSource(), context);
    return from ? sm::ConvertOp::create(builder, loc, type, from,
                                        convert.getOverflow())
                      .getResult()
                : Value();
  }
  // Folding may have made a constant of a whole tile.
  if (auto constant = dyn_cast<arith::ConstantOp>(def))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(
          builder, loc,
          SplatElementsAttr::get(cast<ShapedType>(type),
                                 splat.getSplatValue<Attribute>()));
  if (!isa<arith::ArithDialect, math::MathDialect>(def->getDialect()))
    return {};
  Operation *clone = cloneElementwise(*def, context);
  return clone ? clone->getResult(cast<OpResult>(v).getResultNumber())
               : Value();
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
  if (isa<scf::YieldOp>(op))
    return success(); // of the loop or branch around
  if (auto present = dyn_cast<IsPresentOp>(op)) {
    scalars[present] = sm::IsPresentOp::create(
        builder, op.getLoc(), builder.getI1Type(), value(present.getTensor()));
    return success();
  }
  if (auto any = dyn_cast<AnyOp>(op)) {
    unsigned place = layouts.placeOf(any);
    // Its rows must be the warp's own: it decides alone.
    if (layouts.getGroups()[place].splitCols)
      return any.emitOpError("expects rows that one warp holds, but the warps "
                             "of this kernel share them");
    scalars[any] =
        sm::AnyOp::create(builder, op.getLoc(), builder.getI1Type(),
                          valueIn(any.getCondition(), contexts[place]));
    return success();
  }
  return lowerPure(op);
}

/// Computes an operation in every layout that needs it; where it is anchored
/// once, and moves it.
LogicalResult KernelLowering::lowerPure(Operation &op) {
  for (Value result : op.getResults()) {
    if (auto convert = dyn_cast<ConvertOp>(op);
        convert && !isTile(result.getType())) {
      scalars[result] = sm::ConvertOp::create(
          builder, op.getLoc(), result.getType(), value(convert.getSource()),
          convert.getOverflow());
      continue;
    }
    if (Value number = blockNumberOf(op)) {
      scalars[result] = number;
      continue;
    }
    if (!isTile(result.getType())) {
      Operation *clone = cloneElementwise(op, contexts.front());
      if (!clone)
        return op.emitOpError("cannot be lowered to this target");
      scalars[result] =
          clone->getResult(cast<OpResult>(result).getResultNumber());
      continue;
    }
    SmallVector<unsigned> places(layouts.neededIn(result));
    if (std::optional<unsigned> home = layouts.homeOf(result))
      places = {*home};
    for (unsigned place : places)
      if (!valueIn(result, contexts[place]))
        return op.emitOpError("cannot be lowered to this target");
    if (layouts.homeOf(result))
      define(result, value(result));
  }
  return success();
}

LogicalResult KernelLowering::lowerFor(scf::ForOp loop) {
  // Each carried tile in the layout of its home.
  auto inHome = [&](Value carried, Value v) {
    std::optional<unsigned> home = layouts.homeOf(carried);
    return home ? valueIn(v, contexts[*home]) : value(v);
  };
  SmallVector<Value> inits;
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    inits.push_back(inHome(argument, init));
  auto lowered = scf::ForOp::create(
      builder, loop.getLoc(), value(loop.getLowerBound()),
      value(loop.getUpperBound()), value(loop.getStep()), inits);
  scalars[loop.getInductionVar()] = lowered.getInductionVar();
  {
    OpBuilder::InsertionGuard guard(builder);
    if (inits.empty())
      lowered.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(lowered.getBody());
    for (auto [from, to] :
         llvm::zip_equal(loop.getRegionIterArgs(), lowered.getRegionIterArgs()))
      define(from, to);
    if (failed(lowerBlock(*loop.getBody())))
      return failure();
    SmallVector<Value> results;
    for (auto [argument, v] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      results.push_back(inHome(argument, v));
    scf::YieldOp::create(builder, loop.getBody()->getTerminator()->getLoc(),
                         results);
  }
  for (auto [from, to] :
       llvm::zip_equal(loop.getResults(), lowered.getResults()))
    define(from, to);
  return success();
}

LogicalResult KernelLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Value result : branch.getResults()) {
    std::optional<unsigned> home = layouts.homeOf(result);
    types.push_back(home ? convertType(result.getType(), contexts[*home])
                         : result.getType());
  }
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
    SmallVector<Value> results;
    for (auto [result, v] :
         llvm::zip_equal(branch.getResults(),
                         from.front().getTerminator()->getOperands())) {
      std::optional<unsigned> home = layouts.homeOf(result);
      results.push_back(home ? valueIn(v, contexts[*home]) : value(v));
    }
    scf::YieldOp::create(builder, from.front().getTerminator()->getLoc(),
                         results);
  }
  for (auto [from, to] :
       llvm::zip_equal(branch.getResults(), lowered.getResults()))
    define(from, to);
  return success();
}

} // namespace selvedge::schedule
