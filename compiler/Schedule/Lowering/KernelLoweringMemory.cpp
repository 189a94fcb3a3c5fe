// Lowers the body of one bound tile kernel to sm.seq: memory, products,
// reductions. SPDX-License-Identifier: MIT
#include "compiler/Analysis/Multiples.h"
#include "compiler/Schedule/Lowering/KernelLowering.h"
#include "dialect/Tile/Accumulate.h"
#include "dialect/Tile/Provenance.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

int64_t KernelLowering::vectorWidth(GlobalType tensor, ValueRange indices,
                                    int64_t adjacent) {
  if (indices.empty())
    return 1;
  Value lastIndex = indices.back();
  // Adjacent elements differ in the last index alone.
  for (Value other : indices.drop_back())
    for (StringAttr axis : axesOf(other.getType()))
      if (llvm::is_contained(axesOf(lastIndex.getType()), axis))
        return 1;
  int64_t width =
      std::min(adjacent, variant.align / bytesOf(tensor.getElementType()));
  auto range = lastIndex.getDefiningOp<RangeOp>();
  while (width > 1 &&
         !(range && analysis::isMultipleOf(range.getStart(), width)))
    width /= 2;
  return std::max<int64_t>(width, 1);
}

void KernelLowering::noteVector(Value tensor, int64_t width) {
  if (width > 1)
    vectorTensors.insert(source.getTensorArgOf(tensor).getName());
}

/// Elements that one thread holds side by side along the axis of the last
/// index.
static int64_t adjacentElements(const AxisLayouts &axes, ValueRange indices) {
  if (indices.empty() || axesOf(indices.back().getType()).size() != 1)
    return 1;
  sm::AxisLayoutAttr axis = axes.lookup(axesOf(indices.back().getType())[0]);
  if (axis.getRegSizes().empty() || axis.getRegStrides()[0] != 1)
    return 1;
  // What registers, lanes and warps are apart is a multiple of a vector.
  int64_t apart = axis.getRegSizes()[0];
  for (ArrayRef<int64_t> strides :
       {axis.getRegStrides().drop_front(), axis.getLanes(), axis.getWarps()})
    for (int64_t stride : strides)
      apart |= stride;
  return apart & -apart;
}

sm::CacheAttr KernelLowering::cacheAttr(Operation *access) {
  std::optional<sm::Cache> cache = caches.of(access);
  return cache ? sm::CacheAttr::get(source.getContext(), *cache)
               : sm::CacheAttr();
}

Value KernelLowering::loadIn(LoadOp load, Context &context, Type type,
                             int64_t width, sm::CacheAttr cache) {
  auto indices = valuesIn(load.getIndices(), context),
       presence = valuesIn(load.getPresence(), context);
  if (failed(indices) || failed(presence))
    return {};
  return sm::LoadOp::create(builder, load.getLoc(), type,
                            value(load.getTensor()), *indices, *presence, width,
                            cache);
}

LogicalResult KernelLowering::lowerLoad(LoadOp load) {
  if (isCopyableOperand(load) &&
      llvm::any_of(load->getUsers(), llvm::IsaPred<DotOp>) &&
      failed(lowerCopy(load)))
    return failure();
  auto loadFor = [&](Context &context) -> Value {
    Type type = convertType(load.getType(), context);
    if (!type)
      return {};
    int64_t width =
        vectorWidth(load.getTensor().getType(), load.getIndices(),
                    adjacentElements(context.axes, load.getIndices()));
    noteVector(load.getTensor(), width);
    return loadIn(load, context, type, width, cacheAttr(load));
  };
  auto fail = [&] {
    return load.emitOpError("cannot be lowered: an index or predicate is not "
                            "computable here");
  };
  if (!isTile(load.getType())) {
    bool isUsed = llvm::any_of(load->getUsers(), [&](Operation *user) {
      return !isa<DotOp>(user) || !isCopyableOperand(load);
    });
    if (isUsed && !(scalars[load] = loadFor(contexts.front())))
      return fail();
    return success();
  }
  std::optional<unsigned> home = layouts.homeOf(load);
  for (unsigned group : layouts.neededIn(load)) {
    if (home && group != *home)
      continue;
    Value loaded = loadFor(contexts[group]);
    if (!loaded)
      return fail();
    contexts[group].values[load] = loaded;
  }
  if (home)
    define(load, contexts[*home].values[load]);
  return success();
}

LogicalResult KernelLowering::lowerStore(StoreOp store) {
  Context &context = contexts[layouts.placeOf(store)];
  auto indices = valuesIn(store.getIndices(), context),
       presence = valuesIn(store.getPresence(), context);
  Value stored = valueIn(store.getValue(), context);
  if (failed(indices) || failed(presence) || !stored)
    return store.emitOpError("cannot be lowered: an index or predicate is not "
                             "computable here");
  bool adds = addsToMemory(store);
  // Other threads may need what is replaced.
  if (llvm::any_of(store.getTensor().getUsers(), llvm::IsaPred<LoadOp>))
    sm::BarrierOp::create(builder, store.getLoc());
  bool isAligned = !variant.tensors ||
                   variant.tensors->contains(
                       source.getTensorArgOf(store.getTensor()).getName());
  int64_t width =
      isAligned && !adds
          ? vectorWidth(store.getTensor().getType(), store.getIndices(),
                        adjacentElements(context.axes, store.getIndices()))
          : 1;
  noteVector(store.getTensor(), width);
  auto result = sm::StoreOp::create(
      builder, store.getLoc(), stored, value(store.getTensor()), *indices,
      *presence, width, adds ? sm::CacheAttr() : cacheAttr(store));
  if (adds)
    setAddsToMemory(result, addsInAnyOrder(store));
  return success();
}

sm::BufferType KernelLowering::bufferType(StringAttr rowAxis,
                                          StringAttr colAxis,
                                          Type elementType) {
  auto size = [&](StringAttr axis) {
    return cast<IntegerAttr>(source.getSizesAttr().get(axis)).getInt();
  };
  int64_t rows = size(rowAxis), cols = size(colAxis),
          chunks = cols * elementType.getIntOrFloatBitWidth() / 128;
  // The exclusive-or must stay inside the row: the largest power of two that
  // divides its chunks, eight rows at most.
  int64_t swizzle = std::min<int64_t>(8, chunks & -chunks) - 1;
  return sm::BufferType::get(source.getContext(), rowAxis, colAxis, rows, cols,
                             elementType, swizzle, /*stages=*/1, /*panel=*/0);
}

Value KernelLowering::alloc(sm::BufferType type, Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&target.getBody().front());
  return sm::AllocOp::create(builder, loc, type);
}

LogicalResult KernelLowering::lowerCopy(LoadOp load) {
  llvm::SmallSetVector<StringAttr, 2> axes = copyAxes(load);
  sm::BufferType type =
      bufferType(axes[0], axes[1], getElementTypeOrSelf(load.getType()));
  bool lastIsColumn = axesOf(load.getIndices().back().getType()).size() == 1;
  int64_t width = lastIsColumn ? vectorWidth(load.getTensor().getType(),
                                             load.getIndices(), 8)
                               : 1;
  // A narrower vector than 16 bytes gains nothing over single elements that are
  // combined in shared memory.
  width = width == 8 ? 8 : 1;
  noteVector(load.getTensor(), width);
  sm::LayoutAttr layout = layOutCopy(axes[0], type.getRows(), axes[1],
                                     type.getCols(), target.getWarps(), width);
  Context context;
  for (sm::AxisLayoutAttr axis : layout.getAxes())
    context.axes[axis.getName()] = axis;
  auto indices = valuesIn(load.getIndices(), context),
       presence = valuesIn(load.getPresence(), context);
  if (failed(indices) || failed(presence))
    return load.emitOpError("cannot be copied to shared memory: an index or "
                            "predicate is not computable from indices alone");
  // The note says what the copy does; the buffer has no part in it.
  Value buffer = alloc(type, withoutNote(load.getLoc()));
  sm::CopyOp::create(builder, load.getLoc(), value(load.getTensor()), *indices,
                     *presence, buffer, layout, width, load.getGarbage());
  buffers[load] = buffer;
  return success();
}

bool KernelLowering::isFragment(DotOp dot, Value tile,
                                const AxisLayouts &axisLayouts) {
  const LayoutGroup &group =
      layouts.getGroups()[*layouts.homeOf(dot.getResult())];
  auto over = cast<StringAttr>(dot.getOver()[0]);
  return llvm::all_of(
      sm::layoutOf(tile.getType()).getAxes(), [&](sm::AxisLayoutAttr axis) {
        if (axis.getName() != over)
          return group.roleOf(axis.getName()) == AxisRole::Rows &&
                 axis == axisLayouts.lookup(axis.getName());
        // As columns of accumulators that no warps share.
        return axis == layOutColumns(over, axis.getSize(), *source.getWarps());
      });
}

Value KernelLowering::stagedBuffer(DotOp dot, sm::BufferType type) {
  Region *place = dot->getParentRegion();
  auto isElsewhere = [&](Value staged) {
    Region *other = staged.getParentRegion();
    return !place->isAncestor(other) && !other->isAncestor(place);
  };
  // Where several go there, loops that follow each other take the same ones:
  // what a buffer holds follows from the same tensors in all of them.
  if (source.getSharedOperands())
    for (auto [buffer, staged] : stagedOperands)
      if (buffer.getType() == type && isElsewhere(staged))
        return buffer;
  return alloc(type, dot.getLoc());
}

Value KernelLowering::operandOf(DotOp dot, Value operand) {
  if (Value buffer = buffers.lookup(operand))
    return buffer;
  Value tile = value(operand);
  if (!tile)
    return {};
  if (isFragment(dot, tile, contexts[*layouts.homeOf(dot.getResult())].axes))
    return tile;
  // It is still there for another product of the same step.
  for (auto [buffer, staged] : stagedOperands)
    if (staged == operand && operand.getParentBlock() == dot->getBlock())
      return buffer;
  ArrayRef<StringAttr> axes = axesOf(operand.getType());
  sm::BufferType type =
      bufferType(axes[0], axes[1], getElementTypeOrSelf(operand.getType()));
  Value buffer = stagedBuffer(dot, type);
  stagedOperands[buffer] = operand;
  // The barriers separate this use of the buffer from the last one and the
  // writers from the readers.
  sm::BarrierOp::create(builder, dot.getLoc());
  sm::StageOp::create(builder, dot.getLoc(), tile, buffer);
  sm::BarrierOp::create(builder, dot.getLoc());
  return buffer;
}

LogicalResult KernelLowering::lowerDot(DotOp dot) {
  Context &context = contexts[*layouts.homeOf(dot.getResult())];
  Type type = convertType(dot.getType(), context);
  Value lhs = operandOf(dot, dot.getLhs()), rhs = operandOf(dot, dot.getRhs());
  if (!type || !lhs || !rhs)
    return dot.emitOpError("cannot be lowered: an operand has no value here");
  Value init = dot.getInit() ? valueIn(dot.getInit(), context) : Value();
  if (!init) {
    Value zero = arith::ConstantOp::create(builder, dot.getLoc(),
                                           builder.getF32FloatAttr(0));
    init = sm::SplatOp::create(builder, dot.getLoc(), type, zero);
  }
  auto presence = valuesIn(dot.getPresence(), context);
  if (failed(presence))
    return dot.emitOpError("cannot be lowered: a predicate has no value here");
  define(dot, sm::MmaOp::create(builder, dot.getLoc(), type, lhs, rhs, init,
                                cast<StringAttr>(dot.getOver()[0]), *presence));
  return success();
}

LogicalResult KernelLowering::lowerReduce(ReduceOp reduce) {
  Context &context = contexts[layouts.placeOf(reduce)];
  Value current = valueIn(reduce.getSource(), context);
  auto presence = valuesIn(reduce.getPresence(), context);
  if (!current || failed(presence))
    return reduce.emitOpError(
        "cannot be lowered: its source or a predicate has no value here");
  SmallVector<sm::AxisLayoutAttr> axes(
      sm::layoutOf(current.getType()).getAxes());
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(current.getType()).getShape());
  Type element = getElementTypeOrSelf(current.getType());
  for (auto over : reduce.getOver().getAsRange<StringAttr>()) {
    // A predicate belongs to the first of its axes that is reduced.
    auto own = llvm::to_vector(llvm::make_filter_range(*presence, [&](Value p) {
      sm::LayoutAttr layout = sm::layoutOf(p.getType());
      return layout && layout.indexOf(over) >= 0;
    }));
    llvm::erase_if(*presence,
                   [&](Value p) { return llvm::is_contained(own, p); });
    size_t position = sm::layoutOf(current.getType()).indexOf(over);
    axes.erase(axes.begin() + position);
    shape.erase(shape.begin() + position);
    Type type = axes.empty()
                    ? element
                    : RankedTensorType::get(
                          shape, element,
                          sm::LayoutAttr::get(reduce.getContext(), axes));
    current = sm::ReduceOp::create(builder, reduce.getLoc(), type,
                                   reduce.getKind(), current, over, own);
  }
  define(reduce, current);
  return success();
}

} // namespace selvedge::schedule
