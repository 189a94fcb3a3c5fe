// What each operation of sm, form async, does to shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_SMASYNCRULES_H
#define SELVEDGE_COMPILER_VERIFY_SMASYNCRULES_H

#include "compiler/Verify/HappensBefore.h"
#include "compiler/Verify/Skeleton.h"
#include "dialect/Sm/Sm.h"

namespace selvedge::verify {

/// One execution: applies the operations of `agents` to a happens-before state
/// and reports what it finds.
class SmAsyncRules {
public:
  SmAsyncRules(Integers &integers, llvm::MutableArrayRef<Agent> agents);

  /// The rule of the skeleton.
  Progress apply(Agent &agent, mlir::Operation &op);
  /// What must hold when all agents have returned.
  mlir::LogicalResult finish();
  /// Reports which agent waits for what.
  mlir::LogicalResult reportDeadlock();

private:
  /// An operation as executed: where the agent stood.
  struct Executed {
    mlir::Operation *op;
    Place where;
  };

  Progress slot(Agent &agent, sm::SlotOp op);
  Progress copyAsync(Agent &agent, sm::CopyAsyncOp op);
  Progress await(Agent &agent, sm::AwaitOp op);
  Progress barrier(Agent &agent, sm::BarrierOp op);
  /// An access of `actor`, to one stage of what `buffer` holds.
  Progress read(Agent &agent, mlir::Operation *op, mlir::Value buffer);
  Progress write(Agent &agent, Actor actor, mlir::Operation *op,
                 mlir::Value buffer, Site site);

  Site newSite(Agent &agent, mlir::Operation *op);
  /// The slot that a value names; none, with an error, for a whole ring.
  std::optional<Slot> slotOf(Agent &agent, mlir::Operation *op,
                             mlir::Value buffer);
  /// Reports a finding, if it is one.
  Progress conclude(const Finding &found, mlir::Operation *op,
                    const Place &where);
  /// "stage 1 of buffer "j" x "D""
  std::string nameOf(Slot slot);

  Integers &integers;
  llvm::MutableArrayRef<Agent> agents;
  HappensBefore order;
  unsigned blockBarrier;
  std::vector<sm::AllocOp> allocs; // by buffer
  llvm::DenseMap<mlir::Operation *, unsigned> buffers;
  /// Collective writes: an operation and the number of its execution.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, unsigned> instances;
  std::vector<Executed> sites;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_SMASYNCRULES_H
