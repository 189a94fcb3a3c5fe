// Results do not depend on block sizes: what ranges by blocks carry is a fold.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_FRONTEND_FOLDCHECK_H
#define SELVEDGE_COMPILER_FRONTEND_FOLDCHECK_H

#include "compiler/Frontend/Diagnostics.h"
#include "compiler/Frontend/FoldForm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::scf {
class ForOp;
} // namespace mlir::scf

namespace selvedge::frontend {

/// A range of a kernel or a loop that is walked in blocks.
struct BlockedRange {
  llvm::StringRef name;
  mlir::StringAttr axis;
  /// The loop; null for a range of the kernel.
  mlir::Operation *loop = nullptr;
  /// The first index of the block.
  mlir::Value start;
  /// Names of what the loop carries, by number.
  llvm::SmallVector<llvm::StringRef> names;
};

/// Checks the ranges of one kernel, one at a time: where the others are cut is
/// taken as given, so each of them is held to its own rule.
class FoldCheck {
public:
  explicit FoldCheck(Diagnostics &diags) : diags(diags) {}

  /// Declares a range. A loop that is built again is declared again.
  void add(BlockedRange range);
  /// Takes back the loops inside of `op`, which is to be erased: others may
  /// come to stand at their addresses.
  void forget(mlir::Operation *op);
  /// Refuses what depends on a block size, in the body of the kernel.
  void run(mlir::Block &kernel);

private:
  Diagnostics &diags;
  std::vector<BlockedRange> kernelRanges;
  llvm::DenseMap<mlir::Operation *, BlockedRange> loops;
};

/// Whether an operation is the compare by which `when any(...)` takes a step.
bool asksForSteps(mlir::Operation *op);

/// Follows the values of a step of one range through the body of its loop, or
/// of the kernel.
class StepAnalysis {
public:
  StepAnalysis(Diagnostics &diags, const BlockedRange &range,
               const llvm::DenseSet<mlir::Value> &live);
  void run(mlir::Block &body);

private:
  using Forms = llvm::SmallVector<Form>;

  // FoldCheck.cpp: control.
  Form get(mlir::Value value) const;
  Forms getAll(mlir::ValueRange values) const;
  void set(mlir::Value value, Form form) { forms[value] = std::move(form); }
  void enterLoop(mlir::scf::ForOp loop);
  void findStates(mlir::scf::ForOp loop);
  int carriedBy(mlir::Value value, mlir::scf::ForOp loop) const;
  void checkYields(mlir::scf::ForOp loop);
  void visit(mlir::Block &body);
  void visitLoop(mlir::scf::ForOp loop);
  /// Whether a loop has one step where `any` finds a lane, and would do nothing
  /// where it finds none.
  bool leavesOutNothing(mlir::scf::ForOp loop) const;
  /// Whether a form is that of a softmax's maximum.
  bool isMaximum(const Form &form) const;

  // FoldRules.cpp: one rule per operation.
  void visit(mlir::Operation *op);
  Form formOf(mlir::Operation *op) const;
  Form formOfDot(tile::DotOp op) const;
  Form formOfArithmetic(mlir::Operation *op) const;
  void visitStore(tile::StoreOp store);
  void visitUpdate(tile::SoftmaxUpdateOp op);
  void visitInclude(tile::SoftmaxIncludeOp op);
  bool hasAxis(mlir::Value value) const;
  bool hasAxis(mlir::ArrayAttr over) const;

  // FoldReport.cpp
  void report(const Form &form, mlir::Operation *user);
  std::string nameOf(int carried) const;

  Diagnostics &diags;
  const BlockedRange &range;
  const llvm::DenseSet<mlir::Value> &live;
  llvm::DenseMap<mlir::Value, Form> forms;
  /// Numbers of maximum and sum of the softmaxes that the loop carries.
  llvm::DenseMap<int, int> sums;
  /// The softmax, by the number of its maximum, that rescales a carried value.
  llvm::DenseMap<int, int> rescaledBy;
};

} // namespace selvedge::frontend

#endif // SELVEDGE_COMPILER_FRONTEND_FOLDCHECK_H
