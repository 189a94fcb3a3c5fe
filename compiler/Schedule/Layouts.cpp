// How the axes of a kernel are spread over registers, lanes and warps.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;
using sm::AxisDistAttr;
using sm::DistAttr;

bool isCopyableOperand(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 2 || type.getElementTypeBitWidth() != 16)
    return false;
  auto axes = copyAxes(load);
  // Where the last index is a tile it runs along columns.
  ArrayRef<StringAttr> last = axesOf(load.getIndices().back().getType());
  return axes.size() == 2 && (last.empty() || last.front() == axes.back()) &&
         llvm::all_of(load.getIndices(), [](Value index) {
           return axesOf(index.getType()).size() <= 1;
         });
}

llvm::SmallSetVector<StringAttr, 2> copyAxes(LoadOp load) {
  llvm::SmallSetVector<StringAttr, 2> axes;
  for (Value index : load.getIndices())
    axes.insert_range(axesOf(index.getType()));
  return axes;
}

namespace {

/// The axis of `operand` that `dot` keeps; null unless there is exactly one.
StringAttr freeAxis(DotOp dot, Value operand) {
  StringAttr found;
  for (StringAttr axis : axesOf(operand.getType())) {
    if (llvm::is_contained(dot.getOver(), Attribute(axis)))
      continue;
    if (found)
      return {};
    found = axis;
  }
  return found;
}

/// Operand that is computed, so that it would best stay in registers.
bool isComputed(Value operand) {
  auto load = operand.getDefiningOp<LoadOp>();
  return !load || !isCopyableOperand(load);
}

/// Gives `axis` a role, and its partner in every product the opposite one.
LogicalResult colour(AxisRoles &result, ArrayRef<DotOp> dots, StringAttr axis,
                     AxisRole role) {
  auto [it, isNew] = result.roles.insert({axis, role});
  if (!isNew)
    return success(it->second == role);
  AxisRole opposite = role == AxisRole::Rows ? AxisRole::Cols : AxisRole::Rows;
  for (DotOp dot : dots) {
    StringAttr a = freeAxis(dot, dot.getLhs()), b = freeAxis(dot, dot.getRhs());
    StringAttr partner = a == axis ? b : b == axis ? a : StringAttr();
    if (!partner)
      continue;
    if (failed(colour(result, dots, partner, opposite)))
      return dot.emitOpError("expects the axes of all products of a kernel to "
                             "split into rows and columns, but axis ")
             << partner << " would have to be both";
  }
  return success();
}

LogicalResult assignProductRoles(KernelOp kernel, ArrayRef<DotOp> dots,
                                 AxisRoles &result) {
  for (DotOp dot : dots) {
    if (!freeAxis(dot, dot.getLhs()) || !freeAxis(dot, dot.getRhs()) ||
        dot.getOver().size() != 1)
      return dot.emitOpError("expects a product of two tiles with two axes "
                             "each over one shared axis");
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (getElementTypeOrSelf(operand.getType()).isF32())
        return dot.emitOpError("expects operands of bf16 or f16 on this "
                               "target, but got f32; convert them with 'as'");
  }
  result.hasDot = result.splitCols = true;
  // A computed operand stays in registers only as the A operand: its kept axis
  // becomes rows first.
  for (DotOp dot : dots)
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (isComputed(operand)) {
        result.splitCols = false;
        if (!result.roles.contains(freeAxis(dot, operand)) &&
            failed(
                colour(result, dots, freeAxis(dot, operand), AxisRole::Rows)))
          return failure();
      }
  for (DotOp dot : dots)
    if (!result.roles.contains(freeAxis(dot, dot.getLhs())) &&
        failed(
            colour(result, dots, freeAxis(dot, dot.getLhs()), AxisRole::Rows)))
      return failure();
  for (DotOp dot : dots)
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (result.roles.lookup(freeAxis(dot, operand)) == AxisRole::Cols)
        result.resultCols.insert(freeAxis(dot, operand));
  kernel.walk([&](ReduceOp) { result.splitCols = false; });
  return success();
}

/// Without products: the axis along which memory is contiguous goes to lanes,
/// the next one to warps.
void assignElementwiseRoles(KernelOp kernel, AxisRoles &result) {
  auto visit = [&](ValueRange indices) {
    if (!indices.empty() && axesOf(indices.back().getType()).size() == 1)
      result.roles.insert(
          {axesOf(indices.back().getType())[0], AxisRole::Lanes});
  };
  // Tiles with several axes decide; a vector of rows alone (a bias, an LSE)
  // does not make rows contiguous.
  for (size_t rank : {size_t(2), size_t(1)})
    kernel.walk([&](Operation *op) {
      auto enough = [&](Type type) { return axesOf(type).size() >= rank; };
      if (auto load = dyn_cast<LoadOp>(op);
          load && enough(load.getType()) && (rank > 1 || result.roles.empty()))
        visit(load.getIndices());
      if (auto store = dyn_cast<StoreOp>(op);
          store && enough(store.getValue().getType()) &&
          (rank > 1 || result.roles.empty()))
        visit(store.getIndices());
    });
}

/// Bits of a power-of-two count.
SmallVector<int64_t> bits(int64_t count, int64_t stride) {
  SmallVector<int64_t> result;
  for (int64_t n = 1; n < count; n *= 2)
    result.push_back(n * stride);
  return result;
}

AxisDistAttr makeAxis(StringAttr name,
                      ArrayRef<std::pair<int64_t, int64_t>> regs,
                      SmallVector<int64_t> lanes, SmallVector<int64_t> warps,
                      int64_t numWarps) {
  SmallVector<int64_t> sizes, strides;
  for (auto [size, stride] : regs) {
    if (size == 1)
      continue;
    sizes.push_back(size);
    strides.push_back(stride);
  }
  lanes.resize(5, 0);
  warps.resize(llvm::Log2_64(numWarps), 0);
  return AxisDistAttr::get(name.getContext(), name, sizes, strides, lanes,
                           warps);
}

/// Warps along rows where they also share columns: as square as possible, rows
/// first.
int64_t warpsAlongRows(const AxisRoles &roles, int64_t warps) {
  if (!roles.splitCols || warps == 1)
    return warps;
  return int64_t(1) << llvm::divideCeil(llvm::Log2_64(warps), 2);
}

/// An axis of one element has nothing to spread.
bool hasOneElement(KernelOp kernel, StringAttr axis) {
  auto size = kernel.getSizes() ? kernel.getSizes()->getAs<IntegerAttr>(axis)
                                : IntegerAttr();
  return size && size.getInt() == 1;
}

} // namespace

FailureOr<AxisRoles> assignRoles(KernelOp kernel) {
  AxisRoles result;
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  if (dots.empty())
    assignElementwiseRoles(kernel, result);
  else if (failed(assignProductRoles(kernel, dots, result)))
    return failure();
  bool warpsTaken = false;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
    AxisRole rest = !result.hasDot
                        ? (warpsTaken ? AxisRole::Local : AxisRole::Warps)
                    : hasOneElement(kernel, axis.getName()) ? AxisRole::Local
                                                            : AxisRole::Cols;
    if (result.roles.insert({axis.getName(), rest}).second)
      warpsTaken = true;
  }
  return result;
}

int64_t shareLanes(int64_t size, int64_t warps) {
  static constexpr int64_t vectorsOfWarp = 256;
  while (warps > 1 && size % (warps * vectorsOfWarp) != 0)
    warps /= 2;
  return warps;
}

AxisDistAttr distribute(const AxisRoles &roles, StringAttr axis, int64_t size,
                        int64_t warps, int64_t vector) {
  int64_t rowWarps = warpsAlongRows(roles, warps);
  switch (roles.roles.lookup(axis)) {
  case AxisRole::Rows: {
    while (rowWarps > 1 && size % (16 * rowWarps) != 0)
      rowWarps /= 2;
    int64_t part = size / rowWarps;
    return makeAxis(axis, {{2, 8}, {part / 16, 16}}, {0, 0, 1, 2, 4},
                    bits(rowWarps, part), warps);
  }
  case AxisRole::Cols: {
    int64_t colWarps = roles.splitCols && roles.resultCols.contains(axis)
                           ? warps / rowWarps
                           : 1;
    while (colWarps > 1 && size % (16 * colWarps) != 0)
      colWarps /= 2;
    int64_t part = size / colWarps;
    SmallVector<int64_t> warpStrides(llvm::Log2_64(rowWarps), 0);
    llvm::append_range(warpStrides, bits(colWarps, part));
    return makeAxis(axis, {{2, 1}, {part / 8, 8}}, {2, 4}, warpStrides, warps);
  }
  case AxisRole::Lanes: {
    int64_t part = 32 * vector * roles.laneWarps;
    SmallVector<int64_t> warpStrides(llvm::Log2_64(warps / roles.laneWarps), 0);
    llvm::append_range(warpStrides, bits(roles.laneWarps, 32 * vector));
    return makeAxis(axis, {{vector, 1}, {size / part, part}}, bits(32, vector),
                    warpStrides, warps);
  }
  case AxisRole::Warps: {
    int64_t rows = warps / roles.laneWarps;
    return makeAxis(axis, {{size / rows, rows}}, {}, bits(rows, 1), warps);
  }
  case AxisRole::Local:
    break;
  }
  return makeAxis(axis, {{size, 1}}, {}, {}, warps);
}

DistAttr distributeCopy(StringAttr rowAxis, int64_t rows, StringAttr colAxis,
                        int64_t cols, int64_t warps, int64_t vector) {
  int64_t threads = 32 * warps, chunks = cols / vector;
  int64_t colThreads = std::min(threads, chunks & -chunks);
  int64_t rowThreads = std::min(threads / colThreads, rows & -rows);
  SmallVector<int64_t> col = bits(colThreads, vector), row(col.size(), 0);
  llvm::append_range(row, bits(rowThreads, 1));
  size_t threadBits = llvm::Log2_64(threads);
  col.resize(threadBits, 0);
  row.resize(threadBits, 0);
  auto lanes = [](ArrayRef<int64_t> all) {
    return SmallVector<int64_t>(all.take_front(5));
  };
  auto warpPart = [](ArrayRef<int64_t> all) {
    return SmallVector<int64_t>(all.drop_front(5));
  };
  AxisDistAttr rowDist = makeAxis(rowAxis, {{rows / rowThreads, rowThreads}},
                                  lanes(row), warpPart(row), warps);
  AxisDistAttr colDist = makeAxis(
      colAxis, {{vector, 1}, {chunks / colThreads, vector * colThreads}},
      lanes(col), warpPart(col), warps);
  return DistAttr::get(rowAxis.getContext(), {rowDist, colDist});
}

bool isComplete(DistAttr dist) {
  auto disjoint = [&](auto strides) {
    SmallVector<int> users(8, 0);
    for (AxisDistAttr axis : dist.getAxes())
      for (auto [bit, stride] : llvm::enumerate(strides(axis)))
        if (stride != 0 && ++users[bit] > 1)
          return false;
    return true;
  };
  return disjoint([](AxisDistAttr a) { return a.getLanes(); }) &&
         disjoint([](AxisDistAttr a) { return a.getWarps(); });
}

} // namespace selvedge::schedule
