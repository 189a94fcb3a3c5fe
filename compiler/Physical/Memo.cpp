// Results of operations whose operands are what they were.
// SPDX-License-Identifier: MIT
#include "compiler/Physical/Memo.h"
#include "compiler/Physical/Executor.h"

using namespace mlir;

namespace selvedge::physical {

using reference::TileRef;

/// Whether both are one tile, or integers of one value.
static bool isSame(const TileRef &a, const TileRef &b) {
  if (a == b)
    return true;
  return a && b && !a->isFloat && !b->isFloat && a->shape.axes.empty() &&
         b->shape.axes.empty() && a->ints == b->ints && a->unsure == b->unsure;
}

bool Memo::Entry::holds(ArrayRef<TileRef> now) const {
  return result && llvm::equal(operands, now, isSame);
}

/// Whether a result depends on operands alone: not on memory, the block, or
/// the poison that is drawn.
static bool dependsOnOperands(Operation *op) {
  return !isa<tile::LoadOp, sm::LoadOp, sm::BlockIdOp>(op) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<sm::BufferType>);
}

Memo::Entry &Memo::of(Operation *op) {
  auto [it, isNew] = entries.try_emplace(op);
  if (isNew) {
    it->second.shape = shapeOf(op->getResult(0).getType());
    it->second.isPure = dependsOnOperands(op);
  }
  return it->second;
}

const std::vector<uint8_t> &Memo::presence(Operation *access,
                                           ArrayRef<TileRef> now,
                                           const reference::TileShape &shape) {
  auto [it, isNew] = presences.try_emplace(access);
  Presence &known = it->second;
  if (isNew || !llvm::equal(known.predicates, now, isSame)) {
    known.predicates.assign(now.begin(), now.end());
    known.lanes = reference::conjunction(now, shape);
  }
  return known.lanes;
}

const LaneMask &Memo::lanesOf(Operation *copy,
                              llvm::function_ref<LaneMask()> find) {
  auto it = lanes.find(copy);
  return it == lanes.end() ? lanes.try_emplace(copy, find()).first->second
                           : it->second;
}

} // namespace selvedge::physical
