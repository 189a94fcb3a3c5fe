// Tiles that a step loads come through shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/StagedLoads.h"
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

/// Whether rows and columns of accumulators are loaded, of elements in words
/// that lie side by side: each along an index of its own, and nothing is left
/// out but what lies behind a dimension. The columns are contiguous in memory.
static bool isStaged(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  int64_t bits = getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
  if (!layout || layout.getAxes().size() != 2 || (bits != 16 && bits != 32) ||
      !isAccumulatorRows(layout.getAxes()[0]) ||
      !isAccumulatorCols(layout.getAxes()[1]))
    return false;
  unsigned ranges = 0;
  for (Value index : load.getIndices()) {
    LayoutAttr own = layoutOf(index.getType());
    if (!own)
      continue;
    if (!index.getDefiningOp<RangeOp>() || ++ranges > 2)
      return false;
  }
  auto last = load.getIndices().back().getDefiningOp<RangeOp>();
  return ranges == 2 && last &&
         layoutOf(last.getType()).getAxes()[0].getName() ==
             layout.getAxes()[1].getName() &&
         llvm::all_of(load.getPresence(), [&](Value p) {
           auto compare = p.getDefiningOp<arith::CmpIOp>();
           return compare &&
                  llvm::is_contained(load.getIndices(), compare.getLhs());
         });
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
    b.setInsertionPoint(load);
    CopyOp::create(b, load.getLoc(), load.getTensor(), load.getIndices(),
                   load.getPresence(), buffer, layout, load.getVector(),
                   ArrayRef<int64_t>());
    auto read = ReadOp::create(b, place, load.getType(), buffer);
    load.replaceAllUsesWith(read.getResult());
    load.erase();
  }
  return !loads.empty();
}

bool isRead(Value buffer) {
  return llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReadOp>);
}

} // namespace selvedge::schedule
