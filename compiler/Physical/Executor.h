// Executes the operations of a kernel for one thread block.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H
#define SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H

#include "compiler/Physical/Poison.h"
#include "compiler/Reference/Memory.h"
#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace selvedge::physical {

/// Evaluates a kernel's body: tiles of the `tile` dialect with bound sizes, or
/// register tiles and buffers of `sm` in form `seq`, as whole arrays by axis
/// index.
class Executor {
public:
  explicit Executor(PoisonSource &poison) : poison(poison) {}

  /// Number that `sm.block_id` gives.
  int64_t blockId = 0;
  /// Arguments of the kernel; set before run().
  llvm::DenseMap<mlir::Value, reference::TileRef> values;
  llvm::DenseMap<mlir::Value, reference::Tensor *> tensors;

  /// Runs to the terminator, or to the first error.
  llvm::Error run(mlir::Block &block);

private:
  llvm::Error runOp(mlir::Operation *op);
  llvm::Error runFor(mlir::scf::ForOp op);
  llvm::Error runIf(mlir::scf::IfOp op);
  llvm::Error runStore(mlir::Operation *op, mlir::Value value,
                       mlir::Value tensor, mlir::ValueRange indices,
                       mlir::ValueRange presence);
  llvm::Error runCopy(sm::CopyOp op);
  /// Loads the present lanes over `absent`, which the others keep.
  llvm::Expected<reference::TileRef>
  load(mlir::Operation *op, mlir::Value tensor, mlir::ValueRange indices,
       mlir::ValueRange presence, std::shared_ptr<reference::TileValue> absent);
  /// Operations with one result.
  llvm::Expected<reference::TileRef> evaluate(mlir::Operation *op);
  reference::TileRef evaluatePure(mlir::Operation *op,
                                  const reference::TileShape &shape);

  reference::TileRef valueOf(mlir::Value value) const {
    return values.lookup(value);
  }
  llvm::SmallVector<reference::TileRef> valuesOf(mlir::ValueRange range);
  void define(mlir::ValueRange results,
              llvm::ArrayRef<reference::TileRef> tiles);

  PoisonSource &poison;
};

/// Axes and extents of a tile, register tile or buffer; none for scalars.
reference::TileShape shapeOf(mlir::Type type);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H
