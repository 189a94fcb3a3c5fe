// In which order the operations of a step are emitted.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPORDER_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPORDER_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

/// First comes what copied tiles and memory alone decide, so that products run
/// and vectors arrive while nothing waits for them. Of a step with masks all
/// but the first product stay where they are: conditions take the registers of
/// their sums.
class StepOrder {
public:
  explicit StepOrder(mlir::scf::ForOp loop);

  /// Loads of vectors, and what they and the first products need.
  bool isEarly(mlir::Operation *op) const { return early.contains(op); }
  /// Products of copied tiles.
  llvm::ArrayRef<sm::MmaOp> firstProducts() const { return first; }

private:
  bool isFree(sm::MmaOp mma);
  void addEarly(mlir::Operation *op);

  mlir::scf::ForOp loop;
  llvm::SmallPtrSet<mlir::Operation *, 16> early;
  llvm::SmallVector<sm::MmaOp> first;
};

/// What products behind `ops` multiply is narrowed where nothing else needs it
/// any more: until then it would take registers twice. With `pastChoices` what
/// it is chosen from counts, too.
void narrowLate(llvm::SmallVectorImpl<mlir::Operation *> &ops,
                bool pastChoices = false);

/// Conditions, and choices that only what is narrowed needs, stand where they
/// are needed first: a tile of conditions takes the registers of a sum.
void chooseLate(llvm::SmallVectorImpl<mlir::Operation *> &ops);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPORDER_H
