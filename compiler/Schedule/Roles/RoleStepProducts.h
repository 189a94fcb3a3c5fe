// Products of a step that is finished before the next.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPPRODUCTS_H
#define SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPPRODUCTS_H

#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

/// Products of a step that have been started, in order, and the tiles that
/// become free when they are finished. A copy goes on from where this one is:
/// in one side of a branch.
class RoleKernel::StepProducts {
public:
  /// `mapping` learns the results.
  StepProducts(RoleKernel &kernel, mlir::scf::ForOp loop, Cursor at,
               mlir::IRMapping &mapping);

  /// Awaits the tiles that a product is the first to read.
  void awaitTiles(sm::MmaOp mma);
  /// Starts a product whose operands are there.
  void start(sm::MmaOp mma);
  /// Has products that cross warpgroups be those of the step at `earlier`,
  /// whose scalars `scalars` knows.
  void crossAt(Cursor earlier, mlir::IRMapping &scalars);
  /// Finishes the products whose results `op` needs.
  void finishFor(mlir::Operation &op);
  void finishAll();
  /// Forgets what has been done since `earlier` was copied: in the other side
  /// of a branch.
  void goBackTo(const StepProducts &earlier);
  /// Ends the step.
  void forgetTiles();

private:
  static bool reads(sm::MmaOp mma, BulkCopy &copy);
  void finish(size_t n);

  RoleKernel &kernel;
  llvm::SmallVector<BulkCopy> &copies;
  Cursor at, crossingsAt;
  mlir::IRMapping &mapping;
  /// What knows the scalars of the step of products that cross warpgroups.
  mlir::IRMapping *crossingScalars;
  /// Per copy, the products that have still to read its tile.
  llvm::SmallVector<int64_t> readers;
  /// Whether some product crosses warpgroups, and these have met.
  bool crosses, hasMet = false;
  llvm::SmallVector<sm::MmaOp> started;
  llvm::SmallDenseSet<size_t> waited;
  size_t finished = 0;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_ROLES_ROLESTEPPRODUCTS_H
