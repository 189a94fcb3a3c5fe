// Executes the operations of a kernel for one thread block.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H
#define SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H

#include "compiler/Physical/Memo.h"
#include "compiler/Reference/Memory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace selvedge::physical {

/// Evaluates a kernel's body: tiles of the `tile` dialect with bound sizes, or
/// register tiles and buffers of `sm` in forms `seq` and `async`, as whole
/// arrays by axis index.
class Executor {
public:
  /// `early` is what earlier runs of this block say of its own future, `memo`
  /// what other blocks have found.
  Executor(PoisonSource &poison, EarlyWrites &early, Memo &memo)
      : poison(poison), memo(memo), shared(poison, early) {}
  virtual ~Executor() = default;

  /// Number of the block, of so many.
  int64_t blockId = 0, numBlocks = 1;
  /// Arguments of the kernel; set before run().
  llvm::DenseMap<mlir::Value, reference::TileRef> values;
  llvm::DenseMap<mlir::Value, reference::Tensor *> tensors;

  /// Runs to the terminator, or to the first error.
  llvm::Error run(mlir::Block &block);

  /// Whether a write came early for a read before it: the block has to run
  /// again, on memory as it was.
  bool mustRunAgain() const { return shared.hasNewEarlyWrites(); }
  /// Whether a copy is left in flight.
  bool isCopying() const { return shared.isCopying(); }
  /// Takes back all stores.
  void undoStores();

protected:
  /// What is read from a buffer.
  virtual reference::TileRef readBuffer(mlir::Value buffer) {
    return shared.read(buffer);
  }
  llvm::Error runOp(mlir::Operation *op);
  /// The value, or what is read from a buffer.
  reference::TileRef valueOf(mlir::Value value);
  llvm::SmallVector<reference::TileRef> valuesOf(mlir::ValueRange range);
  void define(mlir::ValueRange results,
              llvm::ArrayRef<reference::TileRef> tiles);
  /// A tile of a type whose lanes all hold poison.
  std::shared_ptr<reference::TileValue> poisonTile(mlir::Type type);
  /// Stores an element of `stored` in a tensor; fails the second time.
  llvm::Error storeElement(mlir::Operation *op, reference::Tensor &target,
                           int64_t element, const reference::TileValue &stored,
                           int64_t lane);

private:
  /// What a store has replaced.
  struct Replaced {
    reference::Tensor *tensor;
    int64_t element;
    double value;
    int64_t integer;
  };

  llvm::Error runFor(mlir::scf::ForOp op);
  llvm::Error runIf(mlir::scf::IfOp op);
  llvm::Error runStore(mlir::Operation *op, mlir::Value value,
                       mlir::Value tensor, mlir::ValueRange indices,
                       mlir::ValueRange presence);
  template <typename CopyLike>
  llvm::Error runCopy(CopyLike op);
  /// Loads the present lanes over `absent`, which the others keep.
  llvm::Expected<reference::TileRef>
  load(mlir::Operation *op, mlir::Value tensor, mlir::ValueRange indices,
       mlir::ValueRange presence, std::shared_ptr<reference::TileValue> absent);
  /// Operations with one result.
  llvm::Expected<reference::TileRef> evaluate(mlir::Operation *op);
  reference::TileRef evaluatePure(mlir::Operation *op,
                                  const reference::TileShape &shape);
  reference::TileRef fold(sm::FoldOp op, const reference::TileShape &shape);

  PoisonSource &poison;
  Memo &memo;
  SharedMemory shared;
  std::vector<Replaced> replaced, added;
};

/// Axes and extents of a tile, register tile or buffer; none for scalars.
reference::TileShape shapeOf(mlir::Type type);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_EXECUTOR_H
