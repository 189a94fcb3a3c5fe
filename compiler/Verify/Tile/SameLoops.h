// Comparison of a kernel's loops and branches with those that a pass made.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SAMELOOPS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SAMELOOPS_H

#include "compiler/Verify/Tile/LaneValues.h"
#include "dialect/Sm/Sm.h"

#include <map>

namespace selvedge::verify {

/// The same loops and branches in the same order: with the same bounds and
/// steps, conditions, and integers that they hand on. What they compute is not
/// looked at; a number that tiles give is what the tiles before gave in its
/// turn.
class SameLoops {
public:
  /// Fails with a diagnostic at what differs. `after` may be a kernel of `sm`,
  /// with coordinates that are digits of the number of the thread block.
  llvm::LogicalResult compare(tile::KernelOp before, tile::KernelOp after);
  llvm::LogicalResult compare(tile::KernelOp before, sm::KernelOp after);

private:
  using Number = LaneValues::Number;
  /// Numbers that tiles have given so far, on one side, by their type.
  using Turns = std::map<const void *, unsigned>;

  llvm::LogicalResult compare(mlir::Block &before, mlir::Block &after);
  llvm::LogicalResult compare(mlir::Operation *before, mlir::Operation *after);
  /// The next loop, branch or end from `op` on; numbers what comes before.
  mlir::Operation *next(mlir::Operation *op, Turns &turns);
  void visit(mlir::Operation *op, Turns &turns);
  /// Binds integers that both hand on; false where there are others.
  bool bindIntegers(mlir::ValueRange before, mlir::ValueRange after);
  bool areSame(mlir::ValueRange before, mlir::ValueRange after);
  void bindCoordinates(tile::KernelOp before, Number block);
  Number named(llvm::StringRef name);

  LaneValues values;
  std::map<std::string, Number> names;
  std::map<std::pair<const void *, unsigned>, Number> ofTiles;
  Turns turnsBefore, turnsAfter;
  Number block = values.fresh();
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SAMELOOPS_H
