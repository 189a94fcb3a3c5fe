// Comparison of a program with what a pass made of it, loop by loop.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SAMEPROGRAM_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SAMEPROGRAM_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::verify {

/// A loop, and the loops that stand in its place: each computes what its body
/// computes and goes on from the values that the one before carries.
struct SplitLoop {
  mlir::scf::ForOp loop;
  llvm::SmallVector<mlir::scf::ForOp> parts;
};

/// The same accesses, loops and branches in the same order on the same values,
/// but for bounds of loops, and loops in parts. Pure operations may come and
/// go. A `tile.known` is the predicate that it claims.
class SameProgram {
public:
  /// Fails with a diagnostic at what differs.
  llvm::LogicalResult compare(tile::ProgramOp before, tile::ProgramOp after);

  /// Every loop of the program before, outer ones first.
  llvm::ArrayRef<SplitLoop> getLoops() const { return loops; }

  /// Whether two values are the same expression of values that are the same.
  bool isSame(mlir::Value before, mlir::Value after);

  /// A value in front of `at` that is the same as `before`; null for none.
  mlir::Value find(mlir::Value before, mlir::Operation *at);

private:
  llvm::LogicalResult compare(mlir::Operation *before, mlir::Operation *after);
  llvm::LogicalResult compare(mlir::Block &before, mlir::Block &after);
  /// Compares a loop with the loops that `next` points to, and moves it past
  /// them, up to those that belong to the operation `following` the loop.
  llvm::LogicalResult compare(mlir::scf::ForOp loop, mlir::Operation *following,
                              llvm::ArrayRef<mlir::Operation *> candidates,
                              size_t &next);
  /// Whether `part` rather stands in the place of the loop `following` than of
  /// an equal one in front of it: by its place in the source, or where it
  /// begins. That only selects what is proved.
  bool belongsTo(mlir::scf::ForOp part, mlir::Operation *following,
                 mlir::scf::ForOp loop);
  /// Whether `part` goes on from the values that `carried` are here.
  bool continues(mlir::scf::ForOp loop, mlir::ValueRange carried,
                 mlir::scf::ForOp part);
  bool hasSameBody(mlir::scf::ForOp loop, mlir::scf::ForOp part);
  void assume(mlir::ValueRange before, mlir::ValueRange after);

  using Pair = std::pair<mlir::Value, mlir::Value>;
  llvm::DenseSet<Pair> same;
  llvm::SmallVector<SplitLoop> loops;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SAMEPROGRAM_H
