// One iteration of a kernel.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_ITERATION_H
#define SELVEDGE_COMPILER_REFERENCE_ITERATION_H

#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Reference/Memory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace selvedge::reference {

/// What all iterations of a kernel share.
struct KernelContext {
  KernelContext(tile::KernelOp kernel, Arguments &arguments)
      : kernel(kernel), arguments(arguments) {}

  tile::KernelOp kernel;
  Arguments &arguments;
  /// Sizes of the block symbols, and of all axes.
  llvm::StringMap<int64_t> blocks;
  llvm::DenseMap<mlir::StringAttr, int64_t> extents;
};

/// Evaluates the kernel's body for one set of coordinates.
class Iteration {
public:
  Iteration(KernelContext &context, llvm::ArrayRef<int64_t> coordinates);

  /// Runs to `tile.return`, or to the first error.
  llvm::Error run();

private:
  llvm::Error runBlock(mlir::Block &block);
  llvm::Error runOp(mlir::Operation *op);
  llvm::Error runFor(mlir::scf::ForOp op);
  llvm::Error runIf(mlir::scf::IfOp op);
  llvm::Error runLoad(tile::LoadOp op);
  llvm::Error runStore(tile::StoreOp op);
  llvm::Error runSoftmaxUpdate(tile::SoftmaxUpdateOp op);
  llvm::Error runSoftmaxInclude(tile::SoftmaxIncludeOp op);
  /// The result, marked where operands are relative to the reference of a
  /// softmax.
  TileRef withFactor(mlir::Operation *op, const TileRef &result);
  /// Operations with one result that depends on their operands alone.
  llvm::Expected<TileRef> evaluate(mlir::Operation *op);

  TileRef evaluateCompare(mlir::arith::CmpIOp op, const TileShape &shape);
  /// The sum in every lane, computed in 64 bits.
  TileRef exactSum(const analysis::LinearSum &sum, const TileShape &shape);

  TileRef valueOf(mlir::Value value) const { return values.lookup(value); }
  llvm::SmallVector<TileRef> valuesOf(mlir::ValueRange range);
  void define(mlir::ValueRange results, llvm::ArrayRef<TileRef> tiles);
  Tensor &tensorOf(mlir::Value handle);
  TileShape shapeOf(mlir::Type type);

  KernelContext &context;
  llvm::DenseMap<mlir::Value, TileRef> values;
};

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_ITERATION_H
