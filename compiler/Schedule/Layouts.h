// How the axes of a kernel are spread over registers, lanes and warps.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_H
#define SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_H

#include "dialect/Sm/Sm.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

/// What an axis is in the kernel's register tiles.
enum class AxisRole {
  /// Rows of MMA accumulators.
  Rows,
  /// Columns of MMA accumulators, and contracted axes.
  Cols,
  /// Consecutive elements on consecutive lanes (kernels without products).
  Lanes,
  /// Indices on the warps that do not share the axis of lanes (kernels without
  /// products).
  Warps,
  /// Held completely by every thread.
  Local
};

/// Roles of all axes of a kernel. One role per axis serves every tile, so that
/// no data moves between elementwise operations, reductions and products.
struct AxisRoles {
  llvm::MapVector<mlir::StringAttr, AxisRole> roles;
  /// The kernel has products.
  bool hasDot = false;
  /// Warps may share the columns of an accumulator: nothing reduces along
  /// columns and no operand stays in registers.
  bool splitCols = false;
  /// Warps that share the axis of lanes (kernels without products).
  int64_t laneWarps = 1;
  /// Columns of some product's result (not only contracted).
  llvm::SmallPtrSet<mlir::Attribute, 4> resultCols;
};

/// Assigns roles; emits an error where products contradict each other.
mlir::FailureOr<AxisRoles> assignRoles(tile::KernelOp kernel);

/// True where `load` can be copied to shared memory as an operand of a product:
/// a 16-bit tile with two axes, of which each index has one at most.
bool isCopyableOperand(tile::LoadOp load);

/// The axes of a load in the order of its indices: of such an operand rows and
/// columns.
llvm::SmallSetVector<mlir::StringAttr, 2> copyAxes(tile::LoadOp load);

/// Warps, out of `warps`, that share an axis of lanes of `size`: each has a
/// vector per lane, so that rows are few and what a kernel reads again of them
/// is still in L2.
int64_t shareLanes(int64_t size, int64_t warps);

/// Distribution of an axis of `size` for its role. `vector` is the number of
/// adjacent elements that a lane holds in role Lanes.
sm::AxisDistAttr distribute(const AxisRoles &roles, mlir::StringAttr axis,
                            int64_t size, int64_t warps, int64_t vector);

/// Distribution of a rows x cols buffer over a thread block for copies of
/// `vector` adjacent elements per access.
sm::DistAttr distributeCopy(mlir::StringAttr rowAxis, int64_t rows,
                            mlir::StringAttr colAxis, int64_t cols,
                            int64_t warps, int64_t vector);

/// True where no two axes of the tile use the same lane or warp bit, i.e. the
/// threads hold all of its elements.
bool isComplete(sm::DistAttr dist);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_H
