// How the axes of a group are spread over registers, lanes and warps.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/Layouts.h"

#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;
using sm::AxisLayoutAttr;
using sm::LayoutAttr;

namespace {

constexpr unsigned laneBits = 5;

/// Bits of a power-of-two count.
SmallVector<int64_t> bits(int64_t count, int64_t stride) {
  SmallVector<int64_t> result;
  for (int64_t n = 1; n < count; n *= 2)
    result.push_back(n * stride);
  return result;
}

AxisLayoutAttr makeAxis(StringAttr name,
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
  lanes.resize(laneBits, 0);
  warps.resize(llvm::Log2_64(numWarps), 0);
  return AxisLayoutAttr::get(name.getContext(), name, sizes, strides, lanes,
                             warps);
}

/// Those of `most` that have 16 of `size` rows and more, equally many each.
int64_t warpsOfRows(int64_t size, int64_t most) {
  while (most > 1 && size % (16 * most) != 0)
    most /= 2;
  return most;
}

/// How warps share the rows and columns of a group's products.
class WarpGrid {
public:
  WarpGrid(const LayoutGroup &group, const AxisSizes &sizes, int64_t warps)
      : group(group), sizes(sizes), warps(warps) {}

  /// Warps along rows where they also share columns: those whose products read
  /// the least of their operands, and of equal ones as square as possible, rows
  /// first.
  int64_t alongRows() const {
    if (!group.splitCols || warps == 1)
      return warps;
    int64_t best = int64_t(1) << llvm::divideCeil(llvm::Log2_64(warps), 2),
            busy = countBusy(best);
    for (int64_t along = 1; along <= warps; along *= 2)
      if (countBusy(along) >= busy && countReads(along) < countReads(best))
        best = along;
    return best;
  }

private:
  int64_t rowsOf(const ProductAxes &product, int64_t along) const {
    return warpsOfRows(sizes.lookup(product.rows), along);
  }
  int64_t colsOf(const ProductAxes &product, int64_t along) const {
    return warpsOfRows(sizes.lookup(product.cols), warps / along);
  }

  /// Fewest warps with a part of their own in some product.
  int64_t countBusy(int64_t along) const {
    int64_t fewest = warps;
    for (const ProductAxes &product : group.products)
      fewest =
          std::min(fewest, rowsOf(product, along) * colsOf(product, along));
    return fewest;
  }

  /// Elements of operands that a warp reads.
  int64_t countReads(int64_t along) const {
    int64_t count = 0;
    for (const ProductAxes &product : group.products) {
      int64_t length = 1;
      for (StringAttr axis : product.over)
        length *= sizes.lookup(axis);
      count += length * (sizes.lookup(product.rows) / rowsOf(product, along) +
                         sizes.lookup(product.cols) / colsOf(product, along));
    }
    return count;
  }

  const LayoutGroup &group;
  const AxisSizes &sizes;
  int64_t warps;
};

/// An axis of rows of accumulators, which `most` warps share at most.
AxisLayoutAttr layOutRows(StringAttr axis, int64_t size, int64_t most,
                          int64_t warps) {
  int64_t rowWarps = warpsOfRows(size, most), part = size / rowWarps;
  return makeAxis(axis, {{2, 8}, {part / 16, 16}}, {0, 0, 1, 2, 4},
                  bits(rowWarps, part), warps);
}

/// An axis of their columns, of which `rowWarps` have the same.
AxisLayoutAttr layOutShared(const LayoutGroup &group, StringAttr axis,
                            int64_t size, int64_t rowWarps, int64_t warps) {
  bool isShared =
      group.resultCols.contains(axis) && (group.splitCols || group.sharesCols);
  int64_t colWarps = warpsOfRows(size, isShared ? warps / rowWarps : 1);
  int64_t part = size / colWarps;
  SmallVector<int64_t> warpStrides(llvm::Log2_64(rowWarps), 0);
  llvm::append_range(warpStrides, bits(colWarps, part));
  return makeAxis(axis, {{2, 1}, {part / 8, 8}}, {2, 4}, warpStrides, warps);
}

} // namespace

AxisLayoutAttr layOutColumns(StringAttr axis, int64_t size, int64_t warps) {
  return size % 8 == 0
             ? makeAxis(axis, {{2, 1}, {size / 8, 8}}, {2, 4}, {}, warps)
             : makeAxis(axis, {{size, 1}}, {}, {}, warps);
}

int64_t shareLanes(int64_t size, int64_t warps) {
  static constexpr int64_t vectorsOfWarp = 256;
  while (warps > 1 && size % (warps * vectorsOfWarp) != 0)
    warps /= 2;
  return warps;
}

void shareContiguous(KernelLayouts &layouts, const AxisSizes &sizes,
                     int64_t warps) {
  for (LayoutGroup &group : layouts.getGroups()) {
    group.laneWarps = 1;
    for (StringAttr axis : group.spreadOrder())
      if (group.contiguous.contains(axis))
        group.laneWarps = shareLanes(sizes.lookup(axis), warps);
  }
}

int64_t adjacentOf(const LayoutGroup &group, int64_t size) {
  return std::min(group.vector, size & -size);
}

FreeThreads freeThreads(const LayoutGroup &group, StringAttr axis,
                        const AxisLayouts &known, int64_t warps) {
  auto isTaken = [&](unsigned bit, auto stridesOf) {
    auto neighbours = group.neighbours.find(axis);
    return neighbours != group.neighbours.end() &&
           llvm::any_of(neighbours->second, [&](StringAttr other) {
             auto layout = known.find(other);
             return layout != known.end() &&
                    stridesOf(layout->second)[bit] != 0;
           });
  };
  FreeThreads free;
  for (unsigned bit = 0; bit < laneBits; ++bit)
    if (!isTaken(bit, [](AxisLayoutAttr a) { return a.getLanes(); }))
      free.lanes.push_back(bit);
  for (unsigned bit = 0; bit < llvm::Log2_64(warps); ++bit)
    if (!isTaken(bit, [](AxisLayoutAttr a) { return a.getWarps(); }))
      free.warps.push_back(bit);
  return free;
}

AxisLayoutAttr spread(const LayoutGroup &group, StringAttr axis, int64_t size,
                      const FreeThreads &threads, int64_t warps,
                      int64_t vector) {
  // Few elements beside an axis with vectors of its own: threads that are left
  // take one each.
  bool isLeft =
           threads.lanes.size() < laneBits && size <= adjacentOf(group, size),
       hasVectors = group.contiguous.contains(axis) && !isLeft;
  int64_t adjacent = hasVectors ? adjacentOf(group, size) : 1;
  // How often an axis can be halved between threads.
  size_t halvings = llvm::countr_zero(static_cast<uint64_t>(size / adjacent));
  size_t onLanes = std::min(threads.lanes.size(), halvings), onWarps;
  ArrayRef<unsigned> warpBits = threads.warps;
  if (hasVectors) {
    // Rows take the first warps, those that share a row are the last.
    onWarps = std::min({warpBits.size(), halvings - onLanes,
                        static_cast<size_t>(llvm::Log2_64(group.laneWarps))});
    warpBits = warpBits.take_back(onWarps);
  } else {
    onWarps = std::min(warpBits.size(), halvings - onLanes);
    warpBits = warpBits.take_front(onWarps);
  }
  int64_t held = std::min(adjacent, vector);
  int64_t stride = held;
  SmallVector<int64_t> lanes(laneBits, 0), ofWarps(llvm::Log2_64(warps), 0);
  for (unsigned bit : ArrayRef(threads.lanes).take_front(onLanes)) {
    lanes[bit] = stride;
    stride *= 2;
  }
  int64_t regs = size / stride >> onWarps, regStride = stride << onWarps;
  // Warps with parts of their own, as those of rows of accumulators: tiles that
  // come from there need not leave their warp.
  if (group.tilesMove && !hasVectors) {
    regStride = stride;
    stride *= regs;
  }
  for (unsigned bit : warpBits) {
    ofWarps[bit] = stride;
    stride *= 2;
  }
  return makeAxis(axis, {{held, 1}, {regs, regStride}}, lanes, ofWarps, warps);
}

AxisLayouts layOutProducts(const LayoutGroup &group, const AxisSizes &sizes,
                           int64_t warps) {
  int64_t along = WarpGrid(group, sizes, warps).alongRows(), rowWarps = along;
  if (group.sharesCols && !group.splitCols) {
    rowWarps = 1;
    for (auto [axis, role] : group.roles)
      if (role == AxisRole::Rows)
        rowWarps = std::max(rowWarps, warpsOfRows(sizes.lookup(axis), warps));
  }
  AxisLayouts axisLayouts;
  for (auto [axis, role] : group.roles)
    if (role == AxisRole::Rows)
      axisLayouts[axis] = layOutRows(axis, sizes.lookup(axis), along, warps);
    else if (role == AxisRole::Cols)
      axisLayouts[axis] =
          layOutShared(group, axis, sizes.lookup(axis), rowWarps, warps);
  return axisLayouts;
}

AxisLayouts layOut(const LayoutGroup &group, const AxisSizes &sizes,
                   int64_t warps, int64_t vector) {
  AxisLayouts axisLayouts = layOutProducts(group, sizes, warps);
  for (StringAttr axis : group.spreadOrder())
    axisLayouts[axis] =
        spread(group, axis, sizes.lookup(axis),
               freeThreads(group, axis, axisLayouts, warps), warps, vector);
  return axisLayouts;
}

SmallVector<AxisLayouts> layOutAll(const KernelLayouts &layouts,
                                   const AxisSizes &sizes, int64_t warps) {
  SmallVector<AxisLayouts> axisLayouts;
  for (const LayoutGroup &group : layouts.getGroups())
    axisLayouts.push_back(layOut(group, sizes, warps, /*vector=*/8));
  return axisLayouts;
}

LayoutAttr layOutCopy(StringAttr rowAxis, int64_t rows, StringAttr colAxis,
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
  AxisLayoutAttr rowLayout =
      makeAxis(rowAxis, {{rows / rowThreads, rowThreads}}, lanes(row),
               warpPart(row), warps);
  AxisLayoutAttr colLayout = makeAxis(
      colAxis, {{vector, 1}, {chunks / colThreads, vector * colThreads}},
      lanes(col), warpPart(col), warps);
  return LayoutAttr::get(rowAxis.getContext(), {rowLayout, colLayout});
}

int64_t registersOf(Type type, const AxisLayouts &axisLayouts) {
  int64_t count = 1;
  for (StringAttr axis : axesOf(type)) {
    auto layout = axisLayouts.find(axis);
    count *= layout == axisLayouts.end() ? 1 : layout->second.getNumRegs();
  }
  return count;
}

} // namespace selvedge::schedule
