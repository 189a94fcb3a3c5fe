// Emits the code of one thread of a kernel with roles.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_SM90_ROLEEMITTER_H
#define SELVEDGE_COMPILER_TARGET_SM90_ROLEEMITTER_H

#include "compiler/Target/Lanes/LaneEmitter.h"
#include "dialect/Sm/SmScheduler.h"

namespace selvedge::sm90 {

/// Adds roles, mbarriers, bulk copies and warpgroup products to LaneEmitter.
class RoleEmitter : public lanes::LaneEmitter {
public:
  using LaneEmitter::LaneEmitter;

protected:
  mlir::LogicalResult emitOp(mlir::Operation &op) override;
  mlir::Value sameInAllLanes(mlir::Value word);
  mlir::Value loopBound(mlir::scf::ForOp loop, mlir::Value bound) override;
  mlir::Value branchCondition(mlir::scf::IfOp branch) override;
  /// Weights are carried from step to step here, where ptxas makes more of
  /// halves: words cost heads of 128 up to 6 %.
  mlir::Type pairType(mlir::Type element) override {
    return mlir::VectorType::get({2}, element);
  }

private:
  /// One stage of a ring, or one panel of it.
  struct Slot {
    mlir::Value ring;
    mlir::Value stage;
    mlir::Value panel = {};
  };
  /// A wgmma as it is put together: text, operands, and their constraints.
  struct Assembly {
    std::string text = {}, constraints = {};
    llvm::SmallVector<mlir::Value> args = {};
    int64_t results;
    bool startsAtZero;

    /// Adds an operand; its number.
    int64_t operand(mlir::Value value, char constraint);
  };

  // Roles (RoleEmitter.cpp).
  mlir::LogicalResult emitRole(sm::RoleOp role);
  mlir::LogicalResult emitRoleBody(sm::RoleOp role);
  void setRegisters(int64_t registers);
  /// Drops what was computed once per role.
  void forgetRole();
  /// What depends on the thread alone, computed where its role begins and kept
  /// in a register: where it is needed registers are scarce, and what it is
  /// made of would take several.
  mlir::Value keptFromStart(llvm::function_ref<mlir::Value()> compute);
  void emitAfter(sm::AfterOp after);
  void emitSlot(sm::SlotOp slot);
  mlir::Value leadOf(sm::BufferType type, mlir::Value first);
  void emitPanel(sm::PanelOp panel);
  void emitColumns(sm::ColumnsOp columns);

  // Synchronisation and mailboxes (RoleSync.cpp).
  mlir::LogicalResult emitSync(mlir::Operation &op);
  void emitInit(sm::InitMBarriersOp init);
  /// Address of stage `stage` of an array of `bytes`-sized words.
  mlir::Value wordAddress(mlir::Value array, mlir::Value stage, int64_t bytes);

  // Bulk copies (RoleBulkCopy.cpp).
  using PieceEmitter = llvm::function_ref<void(
      mlir::Value map, llvm::ArrayRef<mlir::Value> start, mlir::Value row)>;
  /// Emits what copies `rows` rows from `indices` on: a box, or of pairs the
  /// pieces of `#sm.pairs`. `emit` gets the descriptor of a piece, its first
  /// index per dimension of the tensor, and the first of the rows.
  void forEachPiece(mlir::Value map, mlir::ValueRange indices, int64_t rows,
                    PieceEmitter emit);
  void emitTmaLoad(sm::TmaLoadOp load);
  void emitTmaStore(sm::TmaStoreOp store);
  void emitClear(sm::ClearOp clear);
  void emitBulkLoad(sm::BulkLoadOp load);
  void emitBulkReduce(sm::BulkReduceOp reduce);
  mlir::LogicalResult emitStore(sm::StoreOp store);
  mlir::LogicalResult emitRepeated(sm::BroadcastOp repeated);
  void emitNextTile(sm::NextTileOp next);
  void emitResetTiles(sm::ResetTilesOp reset);
  /// Address of a buffer's first byte, i32.
  mlir::Value bufferAddress(mlir::Value buffer);

  // Registers to shared memory (RoleStage.cpp).
  mlir::LogicalResult emitStageMatrix(sm::StageOp stage);
  mlir::LogicalResult emitStageWords(sm::StageOp stage);
  mlir::LogicalResult emitStageFragment(sm::StageFragmentOp stage);

  /// Where in a buffer registers i and i + 1 of that order are, two columns
  /// side by side; `first` keeps the offset of the thread's first ones.
  mlir::Value pairAddress(mlir::Value buffer, sm::LayoutAttr layout, int64_t i,
                          mlir::Value &first);

  // Shared memory to registers (RoleRead.cpp).
  mlir::LogicalResult emitRead(sm::ReadOp read);
  void readMatrices(sm::ReadOp read, llvm::ArrayRef<int64_t> order);
  void readWords(sm::ReadOp read, llvm::ArrayRef<int64_t> order);
  void readVector(sm::ReadOp read);
  mlir::Operation *waitBefore(mlir::Value base);

  // Warpgroup products (RoleWgmma.cpp).
  mlir::LogicalResult emitWgmma(sm::WgmmaOp product);
  std::optional<int64_t> lastExtent(mlir::Value map);
  int64_t filledColumns(mlir::Value buffer);
  mlir::LogicalResult addSteps(sm::WgmmaOp product, sm::WgmmaOp::Pair pair,
                               mlir::StringAttr rowAxis, Assembly &assembly);
  void emitWgmmaWait(sm::WgmmaWaitOp wait);
  mlir::Value descriptor(mlir::Value buffer, bool isKMajor);
  /// Register numbers of an accumulator in the order of the instruction.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  accumulatorOrder(mlir::Operation *op, sm::LayoutAttr layout,
                   mlir::StringAttr &rowAxis, bool anyRowOrder = false);
  /// The same of a tile of 64 rows, which are those of the buffer.
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  orderOfRows(mlir::Operation *op, mlir::Type tile, sm::BufferType buffer,
              bool anyRowOrder = false);

  /// First byte of the block's shared memory, i32; computed once.
  mlir::Value sharedBase();

  llvm::DenseMap<mlir::Value, Slot> slots;
  /// By ring, one map per orientation (MN-major, K-major).
  llvm::DenseMap<mlir::Value, mlir::Value> descriptors[2];
  /// By type of a buffer, of a role: where the thread writes of a tile that is
  /// staged as it is, of one that is transposed, and of one whose rows are
  /// interleaved.
  llvm::DenseMap<mlir::Type, mlir::Value> stagedOffsets[3];
  /// The same: where it reads; of vectors, by type of what it reads, since it
  /// may be spread over lanes in more than one way.
  llvm::DenseMap<mlir::Type, mlir::Value> readOffsets;
  /// The wait for a product that was emitted last.
  mlir::Operation *lastWait = nullptr;
  mlir::Value base;
  bool inRole = false;
};

} // namespace selvedge::sm90

#endif // SELVEDGE_COMPILER_TARGET_SM90_ROLEEMITTER_H
