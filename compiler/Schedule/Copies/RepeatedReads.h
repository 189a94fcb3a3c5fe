// Rows of tensors that a kernel reads in one loop after another.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDREADS_H
#define SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDREADS_H

#include "dialect/Sm/Sm.h"

#include "llvm/ADT/DenseMap.h"

namespace selvedge::schedule {

/// Loads of the same rows of a tensor by loops that follow each other.
struct RepeatedRead {
  /// The kernel's argument.
  mlir::Value tensor;
  /// The dimension along which the loops run.
  unsigned dim;
  /// The loads of each pass over the rows, in order. A pass has an axis of its
  /// own; the parts into which its loop was split share it.
  llvm::SmallVector<llvm::SmallVector<tile::LoadOp>> passes;
};

/// What `kernel` reads at least twice: loads in loops of its outermost level
/// that have all indices in common but that of the loop.
llvm::SmallVector<RepeatedRead> findRepeatedReads(tile::KernelOp kernel);

/// Those that have rows of their own for each index of the kernel's blocks.
/// Where one row serves several, what is computed of an element counts for more
/// than that it is read again.
llvm::SmallVector<RepeatedRead> findOwnRows(tile::KernelOp kernel);

/// What a kernel that reads something twice asks of the first cache: to keep
/// what it reads again, and to drop what nothing reads any more.
class CacheHints {
public:
  explicit CacheHints(tile::KernelOp kernel);

  /// The hint of a load or store; none in other kernels.
  std::optional<sm::Cache> of(mlir::Operation *access) const;

private:
  llvm::DenseMap<mlir::Operation *, sm::Cache> hints;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_COPIES_REPEATEDREADS_H
