// Which values of a kernel share the layout of their axes.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTGROUPS_H
#define SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTGROUPS_H

#include "compiler/Target/TargetInfo.h"
#include "dialect/Tile/Tile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace selvedge::schedule {

/// What an axis is in the register tiles of a group.
enum class AxisRole {
  /// Rows of MMA accumulators.
  Rows,
  /// Columns of MMA accumulators, and what fits beside their rows.
  Cols,
  /// Elements of lanes and warps that no axis beside it has, and of registers.
  Spread
};

/// A product by its axes.
struct ProductAxes {
  mlir::StringAttr rows, cols;
  llvm::SmallVector<mlir::StringAttr, 1> over;
};

/// Values whose tiles agree on how each axis is laid out, so that no data
/// moves between elementwise operations, reductions and products of a group.
struct LayoutGroup {
  /// Every axis of the group's tiles.
  llvm::MapVector<mlir::StringAttr, AxisRole> roles;
  /// Axes that stand with another one in some tile.
  llvm::DenseMap<mlir::StringAttr, llvm::SmallSetVector<mlir::StringAttr, 4>>
      neighbours;
  /// Axes along which memory is contiguous, most important first: of those that
  /// are spread they come first.
  llvm::SetVector<mlir::StringAttr> contiguous;
  /// Warps may share the columns of an accumulator: nothing reduces along
  /// columns and no operand stays in registers.
  bool splitCols = false;
  /// They could if computed operands went through shared memory
  /// (KernelLayouts::shareOperands()).
  bool couldSplitCols = false;
  /// Warps that the rows of an accumulator leave over have columns of their
  /// own: the group is one of several, and nothing in it reduces along columns
  /// or has operands in registers.
  bool sharesCols = false;
  /// Those whose results the group has.
  std::vector<ProductAxes> products;
  /// Columns of some product's result (not only contracted).
  llvm::SmallPtrSet<mlir::Attribute, 4> resultCols;
  /// Warps that share a contiguous axis.
  int64_t laneWarps = 1;
  /// Elements of a contiguous axis that a lane holds side by side at most.
  /// Where the group has no products they are 16 bytes of the widest tensor: of
  /// others a warp still accesses whole lines.
  int64_t vector = 8;
  /// Tiles move to other groups, or come from there.
  bool tilesMove = false;

  AxisRole roleOf(mlir::StringAttr axis) const {
    auto it = roles.find(axis);
    return it == roles.end() ? AxisRole::Spread : it->second;
  }
  /// Spread axes in the order in which they choose lanes and warps.
  llvm::SmallVector<mlir::StringAttr> spreadOrder() const;
};

/// The groups of a kernel, and where each value is needed.
///
/// A value that follows from indices and loads alone (an index tile, a mask, an
/// input) belongs to no group: each group that needs it computes it anew.
/// Everything else is *anchored*, and so are computed operands of products; it
/// has one home, and moves to other groups by `sm.relayout`.
class KernelLayouts {
public:
  KernelLayouts(tile::KernelOp kernel, const TargetInfo &target);

  /// The kernel has products.
  bool hasDot() const { return !dots.empty(); }
  llvm::ArrayRef<tile::DotOp> getDots() const { return dots; }
  llvm::MutableArrayRef<LayoutGroup> getGroups() { return groups; }
  llvm::ArrayRef<LayoutGroup> getGroups() const { return groups; }
  /// Axes of operands and results of products.
  bool isProductAxis(mlir::StringAttr axis) const {
    return productAxes.contains(axis);
  }
  /// Has warps share columns of accumulators wherever they can, or not.
  void shareOperands(bool isShared);
  /// Whether several products of a step take what is computed, and all could do
  /// so from shared memory.
  bool couldShareOperands() const;
  /// Whether some product takes what another group computes, from shared memory
  /// in any case.
  bool hasStagedOperand(tile::DotOp dot) const;
  /// Whether nothing moves between groups.
  bool isSimple() const { return groups.size() == 1; }

  /// Home of an anchored value; none for others.
  std::optional<unsigned> homeOf(mlir::Value value) const;
  /// The group in whose layout a store, a reduction or a vote takes place.
  unsigned placeOf(mlir::Operation *sink) const;
  /// Groups that need a tile, in ascending order; the home is always one.
  llvm::ArrayRef<unsigned> neededIn(mlir::Value value) const;

private:
  friend class GroupBuilder;
  llvm::SmallVector<tile::DotOp> dots;
  llvm::SmallVector<LayoutGroup> groups;
  llvm::DenseSet<mlir::Attribute> productAxes;
  /// Of anchored values and sinks.
  llvm::DenseMap<void *, unsigned> homes;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> needs;
};

/// True where `load` can be copied to shared memory as an operand of a product:
/// a 16-bit tile with two axes, of which each index has one at most, whose
/// indices and predicates follow from indices and loads alone.
bool isCopyableOperand(tile::LoadOp load);

/// The axes of a load in the order of its indices: of such an operand rows and
/// columns.
llvm::SmallSetVector<mlir::StringAttr, 2> copyAxes(tile::LoadOp load);

/// Whether `value`, a tile, follows from indices and loads alone.
bool isFree(mlir::Value value);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LAYOUTS_LAYOUTGROUPS_H
