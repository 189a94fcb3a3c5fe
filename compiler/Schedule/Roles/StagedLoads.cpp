// Tiles that a step loads come through shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "compiler/Schedule/Roles/WarpRoles.h"
#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Rows of accumulators: sixteen per warp.
static bool isAccumulatorRows(AxisLayoutAttr axis) {
  bool isInOrder = axis.getRegSizes() == ArrayRef<int64_t>{2} &&
                   axis.getRegStrides() == ArrayRef<int64_t>{8} &&
                   axis.getLanes() == ArrayRef<int64_t>{0, 0, 1, 2, 4};
  for (auto [n, rows] : llvm::enumerate(axis.getWarps()))
    isInOrder &= rows == int64_t(16) << n;
  return isInOrder;
}

/// Columns of accumulators: two side by side per thread, then every eighth.
static bool isAccumulatorCols(AxisLayoutAttr axis) {
  ArrayRef<int64_t> sizes = axis.getRegSizes(), strides = axis.getRegStrides();
  return !sizes.empty() && sizes[0] == 2 && strides[0] == 1 &&
         (sizes.size() == 1 || (sizes.size() == 2 && strides[1] == 8)) &&
         axis.getLanes() == ArrayRef<int64_t>{2, 4, 0, 0, 0} &&
         llvm::all_of(axis.getWarps(), [](int64_t w) { return w == 0; });
}

/// Whether a predicate may be a bound of the tensor, beyond which bulk copies
/// bring zeros: an index is less than a dimension.
static bool mayBeBound(LoadOp load, Value predicate) {
  auto compare = predicate.getDefiningOp<arith::CmpIOp>();
  auto splat = compare ? compare.getRhs().getDefiningOp<SplatOp>() : SplatOp();
  return splat && compare.getPredicate() == arith::CmpIPredicate::slt &&
         llvm::is_contained(load.getIndices(), compare.getLhs()) &&
         (isa<BlockArgument>(splat.getValue()) ||
          splat.getValue().getDefiningOp<arith::ConstantIntOp>());
}

/// Whether rows and columns of accumulators are loaded, of elements in words
/// that lie side by side: each along an index of its own, with predicates of
/// rows or of columns. The columns are contiguous in memory.
static bool isStaged(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  int64_t bits = getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
  if (!layout || layout.getAxes().size() != 2 || (bits != 16 && bits != 32) ||
      !isAccumulatorRows(layout.getAxes()[0]) ||
      !isAccumulatorCols(layout.getAxes()[1]))
    return false;
  auto axisOf = [](Value v) {
    LayoutAttr own = layoutOf(v.getType());
    return own && own.getAxes().size() == 1 ? own.getAxes()[0].getName()
                                            : StringAttr();
  };
  unsigned ranges = 0;
  for (Value index : load.getIndices()) {
    if (!layoutOf(index.getType()))
      continue;
    if (!axisOf(index) || !shiftedRange(index).first || ++ranges > 2)
      return false;
  }
  return ranges == 2 &&
         axisOf(load.getIndices().back()) == layout.getAxes()[1].getName() &&
         llvm::all_of(load.getPresence(),
                      [&](Value p) { return axisOf(p) != nullptr; });
}

/// The tile with zeros where one of the predicates at these places is false.
static Value cleared(OpBuilder &b, LoadOp load, Value tile,
                     ArrayRef<int64_t> places) {
  if (places.empty())
    return tile;
  Location loc = tile.getLoc();
  auto type = cast<RankedTensorType>(load.getType());
  auto bits =
      RankedTensorType::get(type.getShape(), b.getI1Type(), type.getEncoding());
  Value present;
  for (int64_t place : places) {
    Value all = BroadcastOp::create(b, loc, bits, load.getPresence()[place]);
    present =
        present ? arith::AndIOp::create(b, loc, present, all).getResult() : all;
  }
  Value zero = SplatOp::create(
      b, loc, type,
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType())));
  return arith::SelectOp::create(b, loc, present, tile, zero);
}

bool stageLoads(KernelOp kernel) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<MmaOp>().empty())
      llvm::copy_if(loop.getBody()->getOps<LoadOp>(), std::back_inserter(loads),
                    isStaged);
  });
  OpBuilder b(kernel);
  for (LoadOp load : loads) {
    LayoutAttr layout = layoutOf(load.getType());
    AxisLayoutAttr rows = layout.getAxes()[0], cols = layout.getAxes()[1];
    b.setInsertionPointToStart(&kernel.getBody().front());
    // The note says what the copy does; the buffer has no part in it.
    Location place = tile::withoutNote(load.getLoc());
    Value buffer = AllocOp::create(
        b, place,
        BufferType::get(b.getContext(), rows.getName(), cols.getName(),
                        rows.getSize(), cols.getSize(),
                        getElementTypeOrSelf(load.getType()), /*swizzle=*/7,
                        /*stages=*/1, /*panel=*/0));
    // A bulk copy brings what others leave out, and lanes clear it.
    SmallVector<int64_t> garbage;
    for (auto [n, p] : llvm::enumerate(load.getPresence()))
      if (!mayBeBound(load, p))
        garbage.push_back(static_cast<int64_t>(n));
    b.setInsertionPoint(load);
    CopyOp::create(b, load.getLoc(), load.getTensor(), load.getIndices(),
                   load.getPresence(), buffer, layout, load.getVector(),
                   garbage);
    auto read = ReadOp::create(b, place, load.getType(), buffer);
    load.replaceAllUsesWith(cleared(b, load, read, garbage));
    load.erase();
  }
  return !loads.empty();
}

bool isRead(Value buffer) {
  return llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReadOp>);
}

} // namespace selvedge::schedule
