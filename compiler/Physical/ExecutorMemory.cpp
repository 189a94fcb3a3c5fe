// Executes the operations of a kernel: loads, stores, copies.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Executor.h"
#include "dialect/Tile/Accumulate.h"

using namespace mlir;

namespace selvedge::physical {

using reference::Addresses;
using reference::errorAt;
using reference::TileRef;
using reference::TileShape;
using reference::TileValue;

llvm::Expected<TileRef> Executor::load(Operation *op, Value tensor,
                                       ValueRange indices, ValueRange presence,
                                       std::shared_ptr<TileValue> absent) {
  const reference::Tensor &source = *tensors.lookup(tensor);
  llvm::Expected<Addresses> lanes = addressLanes(
      op, source, valuesOf(indices),
      memo.presence(op, valuesOf(presence), absent->shape), absent->shape);
  if (!lanes)
    return lanes.takeError();
  for (auto [lane, element] : llvm::enumerate(lanes->elements)) {
    if (element < 0)
      continue;
    if (absent->isFloat)
      absent->values[lane] = source.elements.values[element];
    else
      absent->ints[lane] = source.elements.ints[element];
  }
  return TileRef(std::move(absent));
}

llvm::Error Executor::runStore(Operation *op, Value value, Value tensor,
                               ValueRange indices, ValueRange presence) {
  reference::Tensor &target = *tensors.lookup(tensor);
  if (!target.isWritable())
    return errorAt(op,
                   "writes input '" + target.arg.getName().getValue() + "'");
  TileRef stored = valueOf(value);
  SmallVector<TileRef> at = valuesOf(indices);
  TileShape shape = reference::storeShape(stored, at);
  llvm::Expected<Addresses> lanes = addressLanes(
      op, target, at, memo.presence(op, valuesOf(presence), shape), shape);
  if (!lanes)
    return lanes.takeError();
  reference::LanePositions from =
      reference::lanePositions(stored->shape, shape);
  for (auto [lane, element] : llvm::enumerate(lanes->elements)) {
    if (element < 0)
      continue;
    if (llvm::Error failure =
            storeElement(op, target, element, *stored, from[lane]))
      return failure;
  }
  return llvm::Error::success();
}

llvm::Error Executor::storeElement(Operation *op, reference::Tensor &target,
                                   int64_t element, const TileValue &stored,
                                   int64_t lane) {
  TileValue &elements = target.elements;
  if (tile::addsToMemory(op)) {
    if (stored.isFloat) {
      double &sum = elements.values[element];
      added.push_back({&target, element, sum, 0});
      sum = static_cast<float>(sum + stored.values[lane]);
    } else {
      int64_t &sum = elements.ints[element];
      added.push_back({&target, element, 0, sum});
      sum = static_cast<int32_t>(sum + stored.ints[lane]);
    }
    return llvm::Error::success();
  }
  if (target.stored[element]++ && !target.mayMeet)
    return errorAt(op, "stores element " + llvm::Twine(element) +
                           " of tensor '" + target.arg.getName().getValue() +
                           "' twice in one kernel");
  if (stored.isFloat) {
    replaced.push_back({&target, element, elements.values[element], 0});
    elements.values[element] = stored.values[lane];
  } else {
    replaced.push_back({&target, element, 0, elements.ints[element]});
    elements.ints[element] = stored.ints[lane];
  }
  return llvm::Error::success();
}

/// The lanes of its buffer that some thread of a copy writes: a layout
/// that misses part of the buffer leaves its old contents there.
template <typename CopyLike>
static LaneMask lanesOf(CopyLike op) {
  sm::BufferType type = op.getBuffer().getType();
  sm::LayoutAttr layout = op.getLayout();
  sm::AxisLayoutAttr rowLayout =
                         layout.getAxes()[layout.indexOf(type.getRowAxis())],
                     colLayout =
                         layout.getAxes()[layout.indexOf(type.getColAxis())];
  LaneMask lanes(type.getRows() * type.getCols());
  auto kernel = op->template getParentOfType<sm::KernelOp>();
  int64_t warps = static_cast<int64_t>(kernel.getWarps());
  for (int64_t thread = 0; thread < 32 * warps; ++thread)
    for (int64_t row : rowLayout.indicesOf(thread % 32, thread / 32))
      for (int64_t col : colLayout.indicesOf(thread % 32, thread / 32))
        // Threads beyond the buffer's end copy nothing.
        if (row < type.getRows() && col < type.getCols())
          lanes[row * type.getCols() + col] = 1;
  return lanes;
}

template <typename CopyLike>
llvm::Error Executor::runCopy(CopyLike op) {
  sm::BufferType type = op.getBuffer().getType();
  llvm::Expected<TileRef> copied = load(
      op, op.getTensor(), op.getIndices(), op.getTested(),
      PoisonSource(Poison::None, 0).tile(shapeOf(type), type.getElementType()));
  if (!copied)
    return copied.takeError();
  if (op.getLayout().indexOf(type.getRowAxis()) < 0 ||
      op.getLayout().indexOf(type.getColAxis()) < 0)
    return errorAt(op, "has a layout without the axes of its buffer");
  const LaneMask &lanes = memo.lanesOf(op, [&] { return lanesOf(op); });
  if constexpr (std::is_same_v<CopyLike, sm::CopyAsyncOp>)
    shared.issue(op.getBuffer(), *copied, lanes);
  else
    shared.write(op.getBuffer(), *copied, lanes);
  return llvm::Error::success();
}

template llvm::Error Executor::runCopy(sm::CopyOp op);
template llvm::Error Executor::runCopy(sm::CopyAsyncOp op);

void Executor::undoStores() {
  auto restore = [](const Replaced &old) {
    reference::TileValue &elements = old.tensor->elements;
    if (elements.isFloat)
      elements.values[old.element] = old.value;
    else
      elements.ints[old.element] = old.integer;
  };
  // A kernel adds to other tensors than it stores to.
  llvm::for_each(llvm::reverse(added), restore);
  for (const Replaced &old : llvm::reverse(replaced)) {
    restore(old);
    --old.tensor->stored[old.element];
  }
  added.clear();
  replaced.clear();
}

} // namespace selvedge::physical
