// The state of verify-sm-padding.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_SM_SMPADDING_H
#define SELVEDGE_COMPILER_VERIFY_SM_SMPADDING_H

#include "compiler/Verify/Arithmetic/ImpliedLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

namespace selvedge::verify {

/// Abstract interpretation of a kernel: what is known of the lanes that do not
/// exist, for each value and each buffer that is written completely. In forms
/// async and roles a slot holds what its `sm.slot` says, which verify-sm-async
/// compares with the copies.
class SmPadding {
public:
  explicit SmPadding(sm::KernelOp kernel);

  mlir::LogicalResult run() {
    return visit(kernel.getBody().front(), /*check=*/true);
  }

private:
  /// Buffers, and what is known of their elements.
  using Memory = llvm::MapVector<mlir::Value, Facts>;

  /// What is known of what a load or copy brings: zeros where a predicate is
  /// false, anything at positions in `garbage`.
  Facts absentLanes(mlir::ValueRange presence,
                    llvm::ArrayRef<int64_t> garbage = {});

  /// Whether `presence` is false wherever the fact speaks of a lane: it says
  /// so, or what it is made of does not exist there and makes it false.
  bool isExcluded(mlir::ValueRange presence, const Fact &fact) const;

  const Facts &of(mlir::Value v) const {
    static const Facts none;
    auto it = facts.find(v);
    return it == facts.end() ? none : it->second;
  }
  mlir::InFlightDiagnostic refuse(mlir::Operation *op, mlir::Value predicate,
                                  const mlir::Twine &what);
  /// An error for the first lane of `v` that may not exist where `presence` is
  /// true.
  mlir::LogicalResult demandPresent(mlir::Operation *op, mlir::Value v,
                                    mlir::ValueRange presence,
                                    const mlir::Twine &what);
  /// An error where `v`, which decides what is executed, may be any bits. It
  /// may depend on what does not exist as long as memory does not tell: a
  /// number that is zero where it was not loaded.
  mlir::LogicalResult demandNoGarbage(mlir::Operation *op, mlir::Value v,
                                      const mlir::Twine &what);

  mlir::LogicalResult visit(mlir::Block &block, bool check);
  mlir::LogicalResult visit(mlir::Operation &op, bool check);
  /// The facts of an operation without effects, as far as it has no rule of
  /// its own.
  void compute(mlir::Operation &op);

  // Memory: SmPaddingMemory.cpp.
  mlir::LogicalResult checkIndices(mlir::Operation *op,
                                   mlir::ValueRange indices,
                                   mlir::ValueRange presence);
  mlir::LogicalResult visitLoad(sm::LoadOp load, bool check);
  mlir::LogicalResult checkStore(sm::StoreOp store);
  /// sm.copy and sm.copy_async.
  template <typename Copy>
  mlir::LogicalResult visitCopy(Copy copy, bool check);
  mlir::LogicalResult visitStage(sm::StageOp stage, bool check);
  mlir::LogicalResult visitRead(sm::ReadOp read, bool check);
  mlir::LogicalResult checkMeant(sm::StageOp stage, sm::SlotOp slot);
  void visitSlot(sm::SlotOp slot);
  /// A panel holds what the rows of the whole buffer do.
  mlir::LogicalResult visitPanel(sm::PanelOp panel, bool check);
  mlir::LogicalResult checkTmaStore(sm::TmaStoreOp store);
  mlir::LogicalResult checkTarget(mlir::Operation *op, mlir::Value buffer,
                                  sm::LayoutAttr layout);
  /// Whether a bulk store writes nothing where `predicate` is false, because
  /// that is outside of the tensor.
  /// Whether `value` is the run-time dimension `name`.
  bool isDim(mlir::Value value, mlir::Attribute name);
  bool isClipped(sm::TmaStoreOp store, mlir::Value predicate);

  /// A part of a tile has the facts of the tile, whose predicates are cut as
  /// the tile is.
  void visitColumns(sm::ColumnsOp columns);

  // Sinks: SmPaddingSinks.cpp.
  mlir::LogicalResult visitReduce(sm::ReduceOp reduce, bool check);
  mlir::LogicalResult visitFold(sm::FoldOp fold, bool check);
  mlir::LogicalResult checkContributes(sm::ContributesOp contributes);
  /// One product of a sum: `lhs` times `rhs` over `over`.
  struct Pair {
    mlir::Value lhs, rhs;
    mlir::StringAttr over;
  };
  mlir::LogicalResult visitProduct(mlir::Operation *op,
                                   llvm::ArrayRef<Pair> pairs, mlir::Value init,
                                   mlir::ValueRange presence, bool check);
  /// Whether operands are an annihilator pair where `predicate` is false.
  bool isAnnihilated(llvm::ArrayRef<Facts> operands,
                     llvm::ArrayRef<mlir::Value> values, mlir::Value predicate,
                     mlir::StringAttr over);
  mlir::LogicalResult visitPair(mlir::Operation *op, Pair pair,
                                mlir::ValueRange presence, Facts &rest,
                                bool check);

  // Control flow: SmPaddingControl.cpp.
  /// What two paths have both written.
  static Memory joined(const Memory &a, const Memory &b);
  mlir::LogicalResult visitIf(mlir::scf::IfOp branch, bool check);
  /// Visits one arm of a branch; `results` are the facts of what it yields, in
  /// terms of the branch's results.
  mlir::LogicalResult visitArm(mlir::scf::IfOp branch, mlir::Block *arm,
                               llvm::SmallVectorImpl<Facts> &results,
                               bool check);
  /// What two arms leave, each of which says that conditions are true in it.
  Facts joinArms(Facts a, mlir::Value resultA,
                 llvm::ArrayRef<mlir::Value> claimedByA, Facts b,
                 mlir::Value resultB, llvm::ArrayRef<mlir::Value> claimedByB);
  /// Facts where `condition` is known: `p or condition` is p where it is false
  /// and says nothing where it is true. Returns the facts that it replaced.
  llvm::DenseMap<mlir::Value, Facts> assume(mlir::Value condition, bool holds);
  mlir::LogicalResult visitFor(mlir::scf::ForOp loop, bool check);
  /// Loops over tiles: what a tile hands on to the next it hands on with the
  /// numbers that its predicates speak of.
  mlir::LogicalResult visitWhile(mlir::scf::WhileOp loop, bool check);
  mlir::LogicalResult visitTile(mlir::scf::WhileOp loop, bool check);
  /// Facts of `sums` where no lane of a warp is NaN: what it summed up is no
  /// NaN either. Returns the facts that it replaced.
  llvm::DenseMap<mlir::Value, Facts> assumeNoNaN(sm::FoldOp sums,
                                                 mlir::scf::IfOp branch);
  /// Contents that later iterations read: a buffer whose absent lanes are told
  /// by a predicate of this iteration is as good as not written.
  Memory carried(mlir::scf::ForOp loop) const;
  /// Facts of the carried values at the start of an iteration, from those of
  /// the first and of the next one.
  mlir::LogicalResult merge(mlir::scf::ForOp loop,
                            llvm::SmallVectorImpl<Facts> &heads, bool check);

  sm::KernelOp kernel;
  llvm::DenseMap<mlir::Value, Facts> facts;
  RowsThatExist rows;
  Memory memory;
  /// Slots that say what they hold, or that registers were written to.
  llvm::DenseSet<mlir::Value> described;
  /// Predicates of one iteration as the next one has them.
  mlir::Block renamed;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_SM_SMPADDING_H
