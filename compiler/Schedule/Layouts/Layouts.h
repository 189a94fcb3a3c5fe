// How the axes of a group are spread over registers, lanes and warps.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTS_H
#define SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTS_H

#include "compiler/Schedule/Layouts/LayoutGroups.h"
#include "dialect/Sm/Sm.h"

namespace selvedge::schedule {

using AxisSizes = llvm::MapVector<mlir::StringAttr, int64_t>;
using AxisLayouts = llvm::MapVector<mlir::StringAttr, sm::AxisLayoutAttr>;

/// Warps, out of `warps`, that share a contiguous axis of `size`: each has a
/// vector per lane, so that rows are few and what a kernel reads again of them
/// is still in L2.
int64_t shareLanes(int64_t size, int64_t warps);

/// Sets how many of `warps` share the contiguous axes of each group.
void shareContiguous(KernelLayouts &layouts, const AxisSizes &sizes,
                     int64_t warps);

/// Elements of a contiguous axis that a lane of `group` holds side by side
/// where it can: the largest power of two that divides its size, up to a vector
/// of 16 bytes.
int64_t adjacentOf(const LayoutGroup &group, int64_t size);

/// Lanes and warps that no neighbour of a spread axis has.
struct FreeThreads {
  llvm::SmallVector<unsigned> lanes, warps;
  size_t bits() const { return lanes.size() + warps.size(); }
};

/// Those of `axis`, once the axes before it in LayoutGroup::spreadOrder() have
/// theirs.
FreeThreads freeThreads(const LayoutGroup &group, mlir::StringAttr axis,
                        const AxisLayouts &known, int64_t warps);

/// Layout of a group's rows and columns of accumulators.
AxisLayouts layOutProducts(const LayoutGroup &group, const AxisSizes &sizes,
                           int64_t warps);

/// Layout of all axes of a group. `vector` is the number of adjacent
/// elements of a contiguous axis that a lane holds at most. No two axes of a
/// tile use the same lane or warp bit: the threads hold all of its elements.
AxisLayouts layOut(const LayoutGroup &group, const AxisSizes &sizes,
                   int64_t warps, int64_t vector);

/// Layouts of every group of a kernel, where rows are aligned.
llvm::SmallVector<AxisLayouts> layOutAll(const KernelLayouts &layouts,
                                         const AxisSizes &sizes, int64_t warps);

/// Layout of one spread axis over the threads that it may use.
sm::AxisLayoutAttr spread(const LayoutGroup &group, mlir::StringAttr axis,
                          int64_t size, const FreeThreads &threads,
                          int64_t warps, int64_t vector);

/// Columns of an accumulator whose warps have rows of their own; the contracted
/// axis of an operand in registers is spread so, too.
sm::AxisLayoutAttr layOutColumns(mlir::StringAttr axis, int64_t size,
                                 int64_t warps);

/// Layout of a rows x cols buffer over a thread block for copies of
/// `vector` adjacent elements per access.
sm::LayoutAttr layOutCopy(mlir::StringAttr rowAxis, int64_t rows,
                          mlir::StringAttr colAxis, int64_t cols, int64_t warps,
                          int64_t vector);

/// Registers per thread of a tile.
int64_t registersOf(mlir::Type type, const AxisLayouts &axisLayouts);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTS_H
