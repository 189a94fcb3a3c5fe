// Executes a role of a kernel for one warpgroup or thread.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_ROLEAGENT_H
#define SELVEDGE_COMPILER_PHYSICAL_ROLEAGENT_H

#include "compiler/Physical/Executor.h"
#include "compiler/Physical/RoleMemory.h"

#include <deque>

namespace selvedge::physical {

/// What all thread blocks of a launch share.
struct Grid {
  int64_t blocks = 1;
  /// Tiles that were handed out at run time.
  int64_t handedOut = 0;
};

/// One warpgroup, or the thread of a `single` role, that goes on operation by
/// operation until it has to wait for others. Products read their buffers, and
/// give their results, when they are retired; bulk stores read theirs when they
/// are drained.
class RoleAgent : public Executor {
public:
  RoleAgent(PoisonSource &poison, EarlyWrites &early, RoleMemory &memory,
            Grid &grid)
      : Executor(poison, early), memory(memory), grid(grid) {}

  /// Threads that execute an operation, warps that arrive for them.
  int64_t threads = 1, warps = 1;

  /// Starts at the beginning of a block.
  void enter(mlir::Block &block, mlir::Operation *owner);
  /// Executes one operation; false where it has to wait.
  llvm::Expected<bool> step();
  bool isFinished() const { return frames.empty(); }
  /// The operation that comes next; null at the end of a role.
  mlir::Operation *next() const {
    const Frame &frame = frames.back();
    return frame.at == frame.end ? nullptr : &*frame.at;
  }
  /// Executes an operation without regions that never waits.
  llvm::Error execute(mlir::Operation *op);

protected:
  reference::TileRef readBuffer(mlir::Value buffer) override;

private:
  struct Frame {
    mlir::Operation *owner;
    mlir::Block::iterator at, end;
  };
  struct Product {
    sm::WgmmaOp op;
    std::shared_ptr<reference::TileValue> result;
    /// Operands in registers; null for buffers.
    llvm::SmallVector<reference::TileRef> operands;
    llvm::SmallVector<StageId> stages;
    reference::TileRef init;
  };
  struct BulkStore {
    sm::TmaStoreOp op;
    StageId stage;
    llvm::SmallVector<int64_t> at;
  };

  int64_t integer(mlir::Value value) { return valueOf(value)->ints[0]; }
  llvm::Expected<StageId> stageOf(mlir::Operation *op, mlir::Value ring,
                                  mlir::Value stage);
  StageId bufferId(mlir::Value buffer) const;

  // Control flow.
  bool enterRegions(mlir::Operation *op);
  void leaveBlock();
  void startRound(mlir::scf::ForOp op, int64_t index,
                  llvm::ArrayRef<reference::TileRef> carried);

  // Synchronisation: whether the operation is passed.
  llvm::Expected<bool> runWait(sm::WaitOp op);
  llvm::Error runArrive(sm::ArriveOp op);
  llvm::Error checkIdle(sm::IdleOp op);
  llvm::Error checkWhole(sm::WholeOp op);
  bool runNamedBarrier(sm::NamedBarrierOp op);

  // Memory.
  llvm::Error runTmaLoad(sm::TmaLoadOp op);
  llvm::Error drain(size_t pending);
  llvm::Error storeBulk(const BulkStore &store);
  void writeLate(mlir::Value buffer, reference::TileRef data);
  void clear(sm::ClearOp op);

  // Values.
  void startProduct(sm::WgmmaOp op);
  void retire(int64_t pending);
  reference::TileRef fold(sm::FoldOp op);
  reference::TileRef columns(sm::ColumnsOp op);

  RoleMemory &memory;
  Seen seen;
  Grid &grid;
  llvm::SmallVector<Frame> frames;
  llvm::DenseMap<mlir::Value, StageId> names;
  std::vector<Product> products;
  std::deque<BulkStore> bulkStores;
  std::vector<LateWrite> written, posted;
  /// Round of the named barrier that it has arrived at and waits for.
  std::optional<int64_t> waitsForRound;
};

/// Executes a kernel with roles for one thread block.
/// `make` gives an agent with the kernel's arguments.
llvm::Error runRoles(sm::KernelOp kernel,
                     llvm::function_ref<std::unique_ptr<RoleAgent>()> make);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_ROLEAGENT_H
