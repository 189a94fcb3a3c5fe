// Tiles and vectors that a step loads come through shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/StagedLoads.h"
#include "compiler/Schedule/Layouts/SumRegisters.h"
#include "compiler/Schedule/Loops/IndexLimit.h"
#include "compiler/Schedule/Roles/WarpRoles.h"
#include "compiler/Schedule/Softmax/OnlineSoftmax.h"
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

/// The axis of a value that has one alone.
static StringAttr axisOf(Value v) {
  LayoutAttr layout = layoutOf(v.getType());
  return layout && layout.getAxes().size() == 1 ? layout.getAxes()[0].getName()
                                                : StringAttr();
}

/// Whether `ranges` indices run along an axis of their own, the last one along
/// that of the columns, with predicates of one axis each.
static bool isAlongAxes(LoadOp load, int64_t ranges) {
  for (Value index : load.getIndices()) {
    if (!layoutOf(index.getType()))
      continue;
    if (!axisOf(index) || !shiftedRange(index).first || --ranges < 0)
      return false;
  }
  return ranges == 0 &&
         axisOf(load.getIndices().back()) ==
             layoutOf(load.getType()).getAxes().back().getName() &&
         llvm::all_of(load.getPresence(),
                      [&](Value p) { return axisOf(p) != nullptr; });
}

/// Whether rows and columns of accumulators are loaded, of elements in words
/// that lie side by side. The columns are contiguous in memory.
static bool isStagedTile(LoadOp load) {
  LayoutAttr layout = layoutOf(load.getType());
  int64_t bits = getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
  return layout && layout.getAxes().size() == 2 && (bits == 16 || bits == 32) &&
         isAccumulatorRows(layout.getAxes()[0]) &&
         isAccumulatorCols(layout.getAxes()[1]) && isAlongAxes(load, 2);
}

/// Whether a tensor is one that the op makes for itself. The runtime lays it
/// out: its rows begin at words of 16 bytes whatever their length.
static bool isTemp(Value tensor, KernelOp kernel, ArrayAttr tensors) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto pointer =
      argument
          ? dyn_cast<PointerArgAttr>(kernel.getArgs()[argument.getArgNumber()])
          : PointerArgAttr();
  return pointer &&
         llvm::any_of(tensors.getAsRange<tile::TensorArgAttr>(),
                      [&](tile::TensorArgAttr known) {
                        return known.getName() == pointer.getTensor() &&
                               known.getRole() == tile::Role::Temp;
                      });
}

/// Elements of f32 in a word of 16 bytes, where bulk copies begin.
static constexpr int64_t perWord = 4;

/// Whether f32 along the columns of accumulators are loaded, which a copy
/// without a swizzle brings: whole rows of 128 bytes, of a tensor in which
/// every row begins at a word.
static bool isStagedVector(LoadOp load, KernelOp kernel, ArrayAttr tensors) {
  constexpr int64_t perRow = 32;
  LayoutAttr layout = layoutOf(load.getType());
  return layout && layout.getAxes().size() == 1 &&
         getElementTypeOrSelf(load.getType()).isF32() &&
         isAccumulatorCols(layout.getAxes()[0]) &&
         layout.getAxes()[0].getSize() % perRow == 0 && isAlongAxes(load, 1) &&
         isTemp(load.getTensor(), kernel, tensors);
}

/// Whether what is loaded begins at a word of its row in each step.
static bool beginsAtWord(LoadOp load) {
  auto [range, shift] = shiftedRange(load.getIndices().back());
  return beginsAtWord(range.getStart(), shift,
                      getElementTypeOrSelf(load.getType()));
}

/// Whether a warpgroup writes zeros to the slot where the predicate is false,
/// as it does to rows of tiles: an end or a beginning of a vector's columns.
static bool isClearedInSlot(LoadOp load, Value predicate) {
  return layoutOf(load.getType()).getAxes().size() == 1 &&
         (matchIndexLimit(predicate) || matchIndexStart(predicate));
}

/// Whether lanes rather load a vector a step ahead: in loops of their own whole
/// steps have registers for it, and of those beside sums that cross warpgroups
/// a vector with a lead leaves too few (heads of 128, 4 % slower).
static bool comesAhead(LoadOp load, bool joins) {
  Block *step = load->getBlock();
  return !joins && layoutOf(load.getType()).getAxes().size() == 1 &&
         !beginsAtWord(load) && fitsBesideSums(load.getType()) &&
         !step->getOps<StageOp>().empty();
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
    Value all = load.getPresence()[place];
    if (all.getType() != bits)
      all = BroadcastOp::create(b, loc, bits, all);
    present =
        present ? arith::AndIOp::create(b, loc, present, all).getResult() : all;
  }
  Value zero = SplatOp::create(
      b, loc, type,
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType())));
  return arith::SelectOp::create(b, loc, present, tile, zero);
}

/// A slot for what is loaded.
static BufferType bufferFor(LoadOp load) {
  ArrayRef<AxisLayoutAttr> axes = layoutOf(load.getType()).getAxes();
  AxisLayoutAttr cols = axes.back();
  MLIRContext *ctx = load.getContext();
  Type element = getElementTypeOrSelf(load.getType());
  if (axes.size() == 2)
    return BufferType::get(ctx, axes[0].getName(), cols.getName(),
                           axes[0].getSize(), cols.getSize(), element,
                           /*swizzle=*/7, /*stages=*/1, /*panel=*/0);
  auto vector = BufferType::get(ctx, StringAttr::get(ctx), cols.getName(),
                                /*rows=*/1, cols.getSize(), element,
                                /*swizzle=*/0, /*stages=*/1, /*panel=*/0);
  return beginsAtWord(load) ? vector : vector.withLead(perWord);
}

/// Has a product to which a vector is added start at it, if there are no
/// registers for the vector beside it.
static void startAt(ReadOp read) {
  if (fitsBesideSums(read.getType()))
    return;
  auto repeated = read->hasOneUse() ? dyn_cast<BroadcastOp>(*read->user_begin())
                                    : BroadcastOp();
  auto sum = repeated && repeated->hasOneUse()
                 ? dyn_cast<arith::AddFOp>(*repeated->user_begin())
                 : arith::AddFOp();
  if (!sum)
    return;
  Value other = sum.getLhs() == repeated ? sum.getRhs() : sum.getLhs();
  auto product = other.getDefiningOp<MmaOp>();
  if (!product || !product->hasOneUse() || !isSplat(product.getInit(), 0) ||
      product->getBlock() != read->getBlock())
    return;
  product.getInitMutable().assign(repeated);
  product->moveBefore(sum);
  sum->replaceAllUsesWith(product);
  sum->erase();
}

ReadOp startOf(MmaOp product) {
  auto repeated = product.getInit().getDefiningOp<BroadcastOp>();
  return repeated ? repeated.getSource().getDefiningOp<ReadOp>() : ReadOp();
}

bool stageLoads(KernelOp kernel, ArrayAttr tensors, bool joins) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<MmaOp>().empty())
      llvm::copy_if(loop.getBody()->getOps<LoadOp>(), std::back_inserter(loads),
                    [&](LoadOp load) {
                      return isStagedTile(load) ||
                             (isStagedVector(load, kernel, tensors) &&
                              !comesAhead(load, joins));
                    });
  });
  OpBuilder b(kernel);
  for (LoadOp load : loads) {
    b.setInsertionPointToStart(&kernel.getBody().front());
    // The note says what the copy does; the buffer has no part in it.
    Location place = tile::withoutNote(load.getLoc());
    Value buffer = AllocOp::create(b, place, bufferFor(load));
    // A bulk copy brings what others leave out: it is cleared in the slot, or
    // by the lanes that read it.
    SmallVector<int64_t> garbage;
    for (auto [n, p] : llvm::enumerate(load.getPresence()))
      if (!mayBeBound(load, p) && !isClearedInSlot(load, p))
        garbage.push_back(static_cast<int64_t>(n));
    b.setInsertionPoint(load);
    CopyOp::create(b, load.getLoc(), load.getTensor(), load.getIndices(),
                   load.getPresence(), buffer, layoutOf(load.getType()),
                   load.getVector(), garbage);
    auto read = ReadOp::create(b, place, load.getType(), buffer);
    load.replaceAllUsesWith(cleared(b, load, read, garbage));
    load.erase();
    startAt(read);
  }
  return !loads.empty();
}

bool isRead(Value buffer) {
  return llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReadOp>);
}

} // namespace selvedge::schedule
