// Executes a role of a kernel: bulk copies, products, parts of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Arithmetic.h"
#include "compiler/Physical/RoleAgent.h"

#include <cmath>

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;
using reference::TileShape;
using reference::TileValue;

namespace {

/// How a buffer lies in a tensor: its columns along the last dimension, its
/// rows, if it has some, along another, or along that and one more, if rows are
/// pairs.
struct Box {
  reference::Tensor &tensor;
  std::optional<size_t> rowDim;
  ArrayRef<int64_t> at;
  /// The second dimension of pairs, and how many there are to an index of the
  /// first; none: rows are indices.
  std::optional<size_t> inner;
  int64_t by = 1;

  /// The element in a row and column; -1 outside of the tensor.
  int64_t element(int64_t row, int64_t col) const {
    int64_t position = 0;
    for (auto [d, extent] : llvm::enumerate(tensor.shape)) {
      int64_t index = at[d];
      if (d == rowDim)
        index = (index + row) / by;
      else if (d == inner)
        index += (at[*rowDim] + row) % by;
      if (d + 1 == tensor.shape.size())
        index += col;
      if (index < 0 || index >= extent)
        return -1;
      position = position * extent + index;
    }
    return position;
  }
};

} // namespace

static Box boxOf(Operation *op, Value map, reference::Tensor &tensor,
                 sm::BufferType type, ArrayRef<int64_t> at,
                 llvm::function_ref<int64_t(Value)> integer) {
  auto kernel = op->getParentOfType<sm::KernelOp>();
  auto arg = cast<sm::TensorMapArgAttr>(
      kernel.getArgs()[cast<BlockArgument>(map).getArgNumber()]);
  Box box{tensor, type.getRowDimension(arg.getBox()), at, std::nullopt};
  if (sm::PairsAttr pairs = arg.getPairs()) {
    box.inner = pairs.getInner();
    const auto *by = llvm::find(
        kernel.getArgs(), sm::DimArgAttr::get(op->getContext(), pairs.getBy()));
    box.by =
        integer(kernel.getBody().getArgument(by - kernel.getArgs().begin()));
  }
  return box;
}

llvm::Error RoleAgent::runTmaLoad(sm::TmaLoadOp op) {
  llvm::Expected<StageId> barrier = stageOf(op, op.getBarrier(), op.getStage());
  if (!barrier)
    return barrier.takeError();
  sm::BufferType type = op.getBuffer().getType();
  SmallVector<int64_t> at;
  for (Value index : op.getIndices())
    at.push_back(integer(index));
  reference::Tensor &tensor = *tensors.lookup(op.getMap());
  Box box = boxOf(op, op.getMap(), tensor, type, at,
                  [&](Value v) { return integer(v); });
  auto data =
      PoisonSource(Poison::None, 0).tile(shapeOf(type), type.getElementType());
  for (int64_t row = 0; row < type.getRows(); ++row)
    for (int64_t col = 0; col < type.getCols(); ++col)
      if (int64_t element = box.element(row, col); element >= 0)
        data->values[row * type.getCols() + col] =
            tensor.elements.values[element];
  return toError(op,
                 memory.copy(executing(), bufferId(op.getBuffer()),
                             std::move(data), *barrier, type.getStageBytes()));
}

void RoleAgent::startStore(sm::TmaStoreOp op) {
  Reading reading = nextReading(bufferId(op.getBuffer()));
  TileRef data =
      memory.startRead(executing(), reading.stage, Proxy::Async, reading.id);
  SmallVector<int64_t> at;
  for (Value index : op.getIndices())
    at.push_back(integer(index));
  bulkStores.push_back(
      {op, std::move(data), reading, executing(), std::move(at)});
}

llvm::Error RoleAgent::drain(size_t pending) {
  for (; bulkStores.size() > pending; bulkStores.pop_front())
    if (llvm::Error failure = storeBulk(bulkStores.front()))
      return failure;
  return llvm::Error::success();
}

llvm::Error RoleAgent::storeBulk(const BulkStore &store) {
  sm::TmaStoreOp op = store.op;
  sm::BufferType type = op.getBuffer().getType();
  reference::Tensor &tensor = *tensors.lookup(op.getMap());
  Box box = boxOf(op, op.getMap(), tensor, type, store.at,
                  [&](Value v) { return integer(v); });
  memory.finishRead(store.readers, store.reading.stage, store.reading.id);
  for (int64_t row = 0; row < type.getRows(); ++row)
    for (int64_t col = 0; col < type.getCols(); ++col) {
      int64_t element = box.element(row, col);
      if (element < 0)
        continue;
      if (llvm::Error failure = storeElement(op, tensor, element, *store.data,
                                             row * type.getCols() + col))
        return failure;
    }
  return llvm::Error::success();
}

void RoleAgent::clear(sm::ClearOp op) {
  TileShape shape = shapeOf(op.getBuffer().getType());
  SmallVector<TileRef> predicates = valuesOf(op.getPresence());
  std::vector<uint8_t> present = reference::conjunction(predicates, shape);
  if (llvm::all_of(present, [](uint8_t lane) { return lane != 0; }))
    return;
  StageId stage = bufferId(op.getBuffer());
  auto data = std::make_shared<TileValue>(*memory.lastWritten(stage));
  for (auto [lane, isPresent] : llvm::enumerate(present))
    if (!isPresent)
      data->values[lane] = 0;
  memory.write(executing(), stage, std::move(data));
}

void RoleAgent::startProduct(sm::WgmmaOp op) {
  Product product{op,
                  poisonTile(op.getType()),
                  {},
                  {},
                  op.getInit() ? valueOf(op.getInit()) : nullptr};
  for (sm::WgmmaOp::Pair pair : op.getPairs())
    for (Value operand : {pair.lhs, pair.rhs}) {
      if (!isa<sm::BufferType>(operand.getType())) {
        product.operands.push_back(valueOf(operand));
        continue;
      }
      Reading reading = nextReading(bufferId(operand));
      product.operands.push_back(memory.startRead(executing(), reading.stage,
                                                  Proxy::Async, reading.id));
      product.readings.push_back(reading);
    }
  values[op] = product.result;
  products.push_back(std::move(product));
}

void RoleAgent::retire(int64_t pending) {
  auto unfinished = std::min<size_t>(pending, products.size());
  for (Product &product : llvm::drop_end(products, unfinished)) {
    TileRef sum = product.init;
    ArrayRef<TileRef> operands = product.operands;
    for (auto [i, pair] : llvm::enumerate(product.op.getPairs()))
      sum = contract(operands[2 * i], operands[2 * i + 1], sum, pair.over,
                     product.result->shape);
    for (const Reading &reading : product.readings)
      memory.finishRead(executing(), reading.stage, reading.id);
    // Whoever has read it before keeps poison.
    product.result->values = sum->values;
  }
  products.erase(products.begin(), products.end() - unfinished);
}

TileRef RoleAgent::columns(sm::ColumnsOp op) {
  TileRef source = valueOf(op.getSource());
  auto result = std::make_shared<TileValue>();
  result->shape = shapeOf(op.getType());
  result->isFloat = source->isFloat;
  int64_t axis = source->shape.indexOf(op.getOverAttr()), inner = 1;
  for (int64_t extent : ArrayRef(source->shape.extents).drop_front(axis + 1))
    inner *= extent;
  int64_t width = source->shape.extents[axis] * inner,
          left = result->shape.extents[axis] * inner,
          from = static_cast<int64_t>(op.getFrom()) * inner;
  auto cut = [&](const auto &all, auto &some) {
    for (size_t row = from; row < all.size(); row += width)
      some.insert(some.end(), all.begin() + row, all.begin() + row + left);
  };
  cut(source->values, result->values);
  cut(source->ints, result->ints);
  return result;
}

} // namespace selvedge::physical
