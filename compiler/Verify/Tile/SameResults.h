// Comparison of a kernel with what a pass made of it, store by store.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_TILE_SAMERESULTS_H
#define SELVEDGE_COMPILER_VERIFY_TILE_SAMERESULTS_H

#include "compiler/Verify/Tile/LaneValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::verify {

/// The same stores of the same values to the same elements, where the same
/// predicates hold, in the same loops and branches and in the same order. A
/// loop of one step is that step. Operations whose results reach none of them
/// may come and go.
class SameResults {
public:
  /// What is equal from the start is bound.
  LaneValues values;

  /// Binds what two kernels of programs with one signature share.
  void bindSignature(tile::ProgramOp program, tile::KernelOp before,
                     tile::KernelOp after);
  /// Fails with a diagnostic at what differs.
  llvm::LogicalResult compare(mlir::Block &before, mlir::Block &after);

private:
  /// Goes through a block to the next operation that stores or branches.
  class Cursor;
  /// How often each tensor was stored to, on one side.
  using Stores = llvm::DenseMap<LaneValues::Number, unsigned>;

  llvm::LogicalResult compare(mlir::Operation *before, mlir::Operation *after);
  llvm::LogicalResult compare(tile::StoreOp before, tile::StoreOp after);
  llvm::LogicalResult compareRegions(mlir::Operation *before,
                                     mlir::Operation *after);
  /// What a region stores is not known before it nor after.
  void countStores(mlir::Operation *op, Stores &stores);

  Stores storesBefore, storesAfter;
};

/// Whether programs have the same dims, tensors, scalars, promises and
/// parameters, and as many kernels; fails with a diagnostic.
llvm::LogicalResult haveSameSignature(tile::ProgramOp before,
                                      tile::ProgramOp after);

/// Whether kernels of one signature and range are the same; fails with a
/// diagnostic.
llvm::LogicalResult haveSameResults(tile::KernelOp before,
                                    tile::KernelOp after);
/// The same of programs.
llvm::LogicalResult haveSameResults(tile::ProgramOp before,
                                    tile::ProgramOp after);

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_TILE_SAMERESULTS_H
