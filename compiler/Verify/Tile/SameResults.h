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
  /// The same of two blocks and one for both, which stores nothing to `passed`:
  /// what the first one stores there is the value of each load of the second
  /// from the same elements, where the same predicates hold.
  llvm::LogicalResult compareJoined(mlir::Block &first, mlir::Block &second,
                                    mlir::Block &after,
                                    llvm::ArrayRef<LaneValues::Number> passed);

private:
  /// Goes through a block to the next operation that stores or branches.
  class Cursor;
  /// How often each tensor was stored to, on one side.
  using Stores = llvm::DenseMap<LaneValues::Number, unsigned>;

  /// What was stored to a tensor that is passed on.
  struct Passed {
    LaneValues::Number tensor;
    llvm::SmallVector<LaneValues::Number> indices, presence;
    LaneValues::Number value;
  };

  llvm::LogicalResult compare(mlir::Operation *before, mlir::Operation *after);
  /// Goes on to the end of a block.
  llvm::LogicalResult compareRest(Cursor &wanted, Cursor &found,
                                  llvm::ArrayRef<LaneValues::Number> passed,
                                  llvm::SmallVectorImpl<Passed> &stored);
  llvm::LogicalResult compare(tile::StoreOp before, tile::StoreOp after);
  llvm::LogicalResult compareRegions(mlir::Operation *before,
                                     mlir::Operation *after);
  /// What a region stores is not known before it nor after.
  void countStores(mlir::Operation *op, Stores &stores);

  Stores storesBefore, storesAfter;
};

/// Whether programs have the same dims, tensors, scalars, promises and
/// parameters; fails with a diagnostic.
llvm::LogicalResult haveSameArguments(tile::ProgramOp before,
                                      tile::ProgramOp after);
/// The same, and as many kernels.
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
