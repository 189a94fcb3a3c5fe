// Tiles that follow from indices, computed again in another layout.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDTILES_H
#define SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDTILES_H

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace selvedge::schedule {

/// Computes tiles again where their axes have other layouts, and scalars
/// of a loop for another step of it.
class RepeatedTiles {
public:
  using Axes = llvm::SmallDenseMap<mlir::StringAttr, sm::AxisLayoutAttr>;

  /// Without a loop scalars stay as they are.
  explicit RepeatedTiles(Axes axes, mlir::scf::ForOp loop = {})
      : axes(std::move(axes)), loop(loop) {}

  /// The type with the layouts of the axes; itself for scalars.
  mlir::Type typeOf(mlir::Type type) const;
  /// Whether a value is made by elementwise operations of ranges and scalars.
  bool canRepeat(mlir::Value value) const;
  /// Maps such a value, and what it is made of, to the repeated one.
  mlir::Value repeat(mlir::OpBuilder &b, mlir::Value value,
                     mlir::IRMapping &mapping) const;

private:
  /// A scalar of another step is the same one.
  bool isKept(mlir::Value value) const;

  Axes axes;
  mutable mlir::scf::ForOp loop;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDTILES_H
