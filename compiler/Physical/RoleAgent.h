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
/// operation until it has to wait for others. Its warps do the same at the same
/// time, but each knows only what barriers and waits have told it. Products
/// read their buffers until they are retired, and give their results then; bulk
/// stores read theirs until they are drained.
class RoleAgent : public Executor {
public:
  RoleAgent(PoisonSource &poison, EarlyWrites &early, Memo &memo,
            RoleMemory &memory, Grid &grid)
      : Executor(poison, early, memo), memory(memory), grid(grid) {}

  /// Becomes a warpgroup of a role, or the thread of a `single` one, the
  /// `number`th agent of its block, and starts at the role's beginning.
  void start(sm::RoleOp role, int64_t warpgroup, unsigned number);
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
    /// Whether one thread of a warpgroup executes it.
    bool isLeaders;
  };
  struct Reading {
    StageId stage;
    ReadId id;
  };
  struct Product {
    sm::WgmmaOp op;
    std::shared_ptr<reference::TileValue> result;
    llvm::SmallVector<reference::TileRef> operands;
    llvm::SmallVector<Reading> readings;
    reference::TileRef init;
  };
  struct BulkStore {
    sm::TmaStoreOp op;
    reference::TileRef data;
    Reading reading;
    Warps readers;
    llvm::SmallVector<int64_t> at;
  };

  int64_t integer(mlir::Value value) { return valueOf(value)->ints[0]; }
  llvm::Expected<StageId> stageOf(mlir::Operation *op, mlir::Value ring,
                                  mlir::Value stage);
  StageId bufferId(mlir::Value buffer) const;

  /// The warps that execute what comes next, of one of them a thread.
  Warps executing() {
    return Warps(warps).take_front(frames.back().isLeaders ? 1 : warps.size());
  }
  Reading nextReading(StageId stage) { return {stage, {number, reads++}}; }
  /// A read that is over at once.
  reference::TileRef read(StageId stage);
  static llvm::Error toError(mlir::Operation *op, llvm::StringRef problem);

  // Control flow.
  void enter(mlir::Block &block, mlir::Operation *owner, bool isLeaders);
  bool enterRegions(mlir::Operation *op);
  void leaveBlock();
  void startRound(mlir::scf::ForOp op, int64_t index,
                  llvm::ArrayRef<reference::TileRef> carried, bool isLeaders);

  // Synchronisation: whether the operation is passed.
  llvm::Expected<bool> runWait(sm::WaitOp op);
  llvm::Error runArrive(sm::ArriveOp op);
  llvm::Error checkIdle(sm::IdleOp op);
  llvm::Error checkWhole(sm::WholeOp op);
  llvm::Expected<bool> runNamedBarrier(sm::NamedBarrierOp op);

  // Memory.
  llvm::Error runTmaLoad(sm::TmaLoadOp op);
  void startStore(sm::TmaStoreOp op);
  llvm::Error drain(size_t pending);
  llvm::Error storeBulk(const BulkStore &store);
  void clear(sm::ClearOp op);

  // Values.
  void startProduct(sm::WgmmaOp op);
  void retire(int64_t pending);
  reference::TileRef columns(sm::ColumnsOp op);

  RoleMemory &memory;
  Grid &grid;
  unsigned number = 0;
  int64_t reads = 0; // that it has begun
  llvm::SmallVector<Warp, 4> warps;
  /// Threads that execute an operation.
  int64_t threads = 1;
  llvm::SmallVector<Frame> frames;
  llvm::DenseMap<mlir::Value, StageId> names;
  std::vector<Product> products;
  std::deque<BulkStore> bulkStores;
  /// Round of the named barrier that it has arrived at and waits for.
  std::optional<int64_t> waitsForRound;
};

/// Executes a kernel with roles for one thread block: a second time where the
/// first one shows that a read may happen beside a write.
/// `make` gives an agent with the kernel's arguments for a memory.
llvm::Error
runRoles(sm::KernelOp kernel, PoisonSource &poison, Grid &grid,
         llvm::function_ref<std::unique_ptr<RoleAgent>(RoleMemory &)> make);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_ROLEAGENT_H
