// Which memory the launches of an op use, and when.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_DIALECT_SM_LAUNCHUSES_H
#define SELVEDGE_DIALECT_SM_LAUNCHUSES_H

#include "dialect/Sm/SmScheduler.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

namespace selvedge::sm {

/// The tensors that kernels read and write. Counters of tiles are one of them,
/// with an empty name.
class LaunchUses {
public:
  /// What a kernel itself uses.
  static LaunchUses of(sm::KernelOp kernel);
  /// What the launches before each launch of `kernel` use, in any variant:
  /// launches of several variants may be made together, and the n-th ones of
  /// all stand for each other.
  static LaunchUses before(sm::KernelOp kernel, mlir::SymbolTable &symbols);

  /// Whether an operation, without those in its regions, reads what has been
  /// written, or writes what has been used at all: it has to wait.
  bool conflictsWith(mlir::Operation *op) const;
  /// The same of an operation or one in its regions.
  bool conflictsInside(mlir::Operation *op) const;

  /// Whether an argument is of a tensor of which some operation of a kernel
  /// conflicts that uses `own`.
  bool mayConflict(const LaunchUses &own, mlir::Attribute argument) const;

private:
  void add(sm::KernelOp kernel);

  llvm::DenseSet<mlir::StringAttr> read, written;
};

/// Whether an operation or one in its regions waits for earlier launches.
bool awaitsLaunch(mlir::Operation *op);

} // namespace selvedge::sm

#endif // SELVEDGE_DIALECT_SM_LAUNCHUSES_H
