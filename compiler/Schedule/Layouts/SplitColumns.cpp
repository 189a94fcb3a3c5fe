// tile-split-columns: columns of accumulators that no registers hold.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILESPLITCOLUMNS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Columns of an accumulator beside whose registers those of a product's
/// operands have no room: a warp that has 16 rows holds 208 words per thread.
constexpr int64_t mostColumns = 416;

bool hasAxis(Type type, StringAttr axis) {
  return isTile(type) && llvm::is_contained(axesOf(type), axis);
}

bool hasAxis(ValueRange indices, StringAttr axis) {
  return llvm::any_of(indices,
                      [&](Value v) { return hasAxis(v.getType(), axis); });
}

/// Whether what happens to an element along `axis` concerns no other one.
bool isElementwise(Operation *op, StringAttr axis) {
  if (auto range = dyn_cast<RangeOp>(op))
    return axesOf(range.getType())[0] != axis ||
           matchPattern(range.getStart(), m_Zero());
  if (auto over = op->getAttrOfType<ArrayAttr>("over"))
    return !llvm::is_contained(over, Attribute(axis));
  if (auto update = dyn_cast<SoftmaxUpdateOp>(op))
    return update.getOverAttr() != axis;
  if (auto any = dyn_cast<AnyOp>(op))
    return !hasAxis(any.getCondition().getType(), axis);
  if (auto store = dyn_cast<StoreOp>(op))
    return !hasAxis(store.getValue().getType(), axis) ||
           hasAxis(store.getIndices(), axis);
  return true;
}

/// Whether a block of columns reads nothing that another one stores.
bool readsOnly(KernelOp kernel) {
  llvm::DenseSet<Value> loaded, stored;
  kernel.walk([&](LoadOp load) { loaded.insert(load.getTensor()); });
  kernel.walk([&](StoreOp store) { stored.insert(store.getTensor()); });
  return llvm::none_of(stored, [&](Value v) { return loaded.contains(v); });
}

/// The position of the axis to be split; none where there is none, or where
/// accumulators with other columns would be computed again for each block.
std::optional<size_t> findColumns(KernelOp kernel) {
  std::optional<size_t> found;
  for (auto [i, axis] :
       llvm::enumerate(kernel.getAxes().getAsRange<AxisAttr>())) {
    StringAttr name = axis.getName();
    if (axis.getBlock() || axis.getExtent() <= mostColumns)
      continue;
    bool isOfResult = false, isFree = readsOnly(kernel);
    kernel.walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op))
        isOfResult |= hasAxis(dot.getType(), name);
      isFree &= isElementwise(op, name);
    });
    if (!isOfResult)
      continue;
    if (!isFree || found)
      return std::nullopt;
    found = i;
  }
  return found;
}

/// A name for the size of blocks that no other size has.
StringAttr blockName(KernelOp kernel, StringAttr axis) {
  std::string name = ("B" + axis.getValue()).str();
  while (llvm::any_of(kernel.getAxes().getAsRange<AxisAttr>(), [&](AxisAttr a) {
    return a.getBlock() && a.getBlock() == name;
  }))
    name += "_";
  return StringAttr::get(kernel.getContext(), name);
}

void split(KernelOp kernel, size_t position) {
  OpBuilder b(kernel.getContext());
  SmallVector<Attribute> axes(kernel.getAxes().getValue()),
      ranges(kernel.getRanges().getValue());
  auto axis = cast<AxisAttr>(axes[position]);
  StringAttr name = axis.getName(), block = blockName(kernel, name);
  ProgramOp program = kernel.getProgram();
  AffineMap extent = AffineMap::get(
      0, program.getDims().size(),
      getAffineConstantExpr(axis.getExtent(), kernel.getContext()));
  axes[position] = AxisAttr::get(kernel.getContext(), name, block, 0);
  ranges.insert(ranges.begin(),
                IterAttr::get(kernel.getContext(), name, extent, block));
  kernel.setAxesAttr(b.getArrayAttr(axes));
  kernel.setRangesAttr(b.getArrayAttr(ranges));
  Block &body = kernel.getBody().front();
  Location loc = withoutDecisions(kernel.getLoc());
  BlockArgument first =
      body.insertArgument(program.getNumSharedArgs(), b.getI32Type(), loc);
  // What is the same for all columns those of the first block store.
  b.setInsertionPointToStart(&body);
  Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, one);
  kernel.walk([&](Operation *op) {
    if (auto range = dyn_cast<RangeOp>(op);
        range && axesOf(range.getType())[0] == name)
      range.getStartMutable().assign(first);
    if (auto store = dyn_cast<StoreOp>(op);
        store && !hasAxis(store.getIndices(), name))
      store.getPresenceMutable().append(isFirst);
  });
  noteDecision(kernel,
               {columnsDecision.str(),
                ("blocks of '" + name.getValue() + "' of their own").str(),
                "registers do not hold " + std::to_string(axis.getExtent()) +
                    " columns of an accumulator; what comes before their "
                    "product is computed for each block"});
}

struct TileSplitColumnsPass : impl::TileSplitColumnsBase<TileSplitColumnsPass> {
  void runOnOperation() override {
    if (std::optional<size_t> axis = findColumns(getOperation()))
      split(getOperation(), *axis);
  }
};

} // namespace
} // namespace selvedge::schedule
