// What each operation of sm, forms async and roles, does to tensors.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/SmAsyncRules.h"
#include "dialect/Tile/Accumulate.h"

#include <numeric>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

LogicalResult SmAsyncRules::accessTensors(Agent &agent, Operation *op) {
  if (auto store = dyn_cast<TmaStoreOp>(op))
    return storeBox(agent, store);
  auto access = dyn_cast<tile::TensorAccessOpInterface>(op);
  if (!access || !access.isOfLanes())
    return success();
  std::string name = tensorName(access.getAccessed());
  SmallVector<Value> tested = access.getTested();
  return withLanes(agent, [&](LaneTiles &lanes) {
    if (!access.isStore())
      return memory->load(op, name, access.getIndices(), tested, lanes);
    return tile::addsToMemory(op)
               ? memory->add(op, name, access.getIndices(), tested, lanes)
               : memory->store(op, name, access.getIndices(), tested, lanes);
  });
}

void SmAsyncRules::foldLanes(Agent &agent, ReduceOp op) {
  Tracked tracked = agent.values.lookup(op.getResult());
  if (!op.getType().isInteger() || tracked.kind != Tracked::Kind::Integer ||
      integers.known(tracked.id))
    return;
  int64_t number = withLanes(agent, [&](LaneTiles &lanes) {
    int64_t first = lanes.of(op.getResult()).values.front();
    memory->addWork(lanes.getWork());
    return first;
  });
  if (number != LaneTile::unknown)
    integers.assume(tracked.id, number, number);
}

/// Rows that are pairs, piece by piece, as the descriptor's box is.
LogicalResult SmAsyncRules::storePieces(TmaStoreOp op, TensorMapArgAttr map,
                                        SmallVector<int64_t> start,
                                        SmallVector<int64_t> box, int64_t by) {
  size_t outer = map.getPairs().getOuter(), inner = map.getPairs().getInner();
  int64_t rows = box[outer], begin = start[outer], first = start[inner];
  box[inner] = std::gcd(rows, by);
  box[outer] = rows % by == 0 ? rows / by : 1;
  for (int64_t row = 0; row < rows; row += box[outer] * box[inner]) {
    start[outer] = (begin + row) / by;
    start[inner] = first + (begin + row) % by;
    if (failed(tile::addsToMemory(op)
                   ? memory->addBox(op, map.getTensor(), start, box)
                   : memory->storeBox(op, map.getTensor(), start, box)))
      return failure();
  }
  return success();
}

LogicalResult SmAsyncRules::storeBox(Agent &agent, TmaStoreOp op) {
  auto argument = cast<BlockArgument>(op.getMap());
  auto map = cast<TensorMapArgAttr>(kernel.getArgs()[argument.getArgNumber()]);
  SmallVector<int64_t> start, box(map.getBox());
  for (Value index : op.getIndices()) {
    std::optional<int64_t> known = scalarOf(agent, index);
    if (!known)
      return op.emitOpError("expects indices that follow from loop counters, "
                            "found ")
             << index;
    start.push_back(*known);
  }
  box.back() = op.getBuffer().getType().getCols();
  if (PairsAttr pairs = map.getPairs()) {
    int64_t by = 0;
    for (auto [attr, argument] :
         llvm::zip_equal(kernel.getArgs(), kernel.getBody().getArguments()))
      if (auto dim = dyn_cast<DimArgAttr>(attr);
          dim && dim.getDim() == pairs.getBy())
        by = scalarOf(agent, argument).value_or(0);
    if (by <= 0)
      return op.emitOpError("expects pairs of at least one, found ") << by;
    return storePieces(op, map, start, box, by);
  }
  if (!tile::addsToMemory(op))
    return memory->storeBox(op, map.getTensor(), start, box);
  std::optional<size_t> rowDim =
      op.getBuffer().getType().getRowDimension(map.getBox());
  if (!rowDim)
    return memory->addBox(op, map.getTensor(), start, box);
  // Rows that are absent hold zero, says verify-sm-padding.
  int64_t firstRow = start[*rowDim];
  for (auto [from, to] : presentRows(agent, op.getBuffer())) {
    start[*rowDim] = firstRow + from;
    box[*rowDim] = to - from;
    if (failed(memory->addBox(op, map.getTensor(), start, box)))
      return failure();
  }
  return success();
}

/// Rows of a slot of which it says that they exist, by runs.
SmallVector<std::pair<int64_t, int64_t>>
SmAsyncRules::presentRows(Agent &agent, Value buffer) {
  int64_t rows = cast<BufferType>(buffer.getType()).getRows();
  auto slot = buffer.getDefiningOp<SlotOp>();
  std::vector<bool> isPresent(rows, true);
  for (auto [i, p] :
       llvm::enumerate(slot ? slot.getPresence() : ValueRange())) {
    LayoutAttr layout = layoutOf(p.getType());
    bool isOfRows =
        layout && layout.getAxes().size() == 1 &&
        layout.getAxes()[0].getName() == slot.getType().getRowAxis();
    if (!isOfRows || llvm::is_contained(slot.getGarbage(), i))
      continue;
    withLanes(agent, [&](LaneTiles &lanes) {
      const LaneTile &tile = lanes.of(p);
      int64_t stride = tile.strideOf(slot.getType().getRowAxis());
      for (int64_t row = 0; row < rows; ++row)
        isPresent[row] = isPresent[row] && tile.values[row * stride] != 0;
    });
  }
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t row = 0; row < rows; ++row) {
    if (!isPresent[row])
      continue;
    if (runs.empty() || runs.back().second != row)
      runs.push_back({row, row});
    ++runs.back().second;
  }
  return runs;
}

} // namespace selvedge::verify
