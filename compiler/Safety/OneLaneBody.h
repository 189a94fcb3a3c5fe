// The body of a loop over blocks of an axis, for one lane of that axis.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H
#define SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H

#include "dialect/Tile/Provenance.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace selvedge::safety {

/// Repeats what a step of a loop computes with one lane of the axis that the
/// loop cuts into blocks, in few registers. Products become element-wise: a
/// term whose lane is absent is selected away before it is added.
class OneLaneBody {
public:
  /// `ids` numbers the notes of what the copy inserts.
  OneLaneBody(mlir::scf::ForOp loop, mlir::StringAttr axis, tile::NoteIds &ids);

  /// Emits the loop from `low` to `high`, one lane a step. Emits an error where
  /// the body has an operation without such a form.
  mlir::FailureOr<mlir::scf::ForOp> emit(mlir::OpBuilder &builder,
                                         mlir::Value low, mlir::Value high,
                                         mlir::ValueRange inits);

private:
  using Operation = mlir::Operation;
  using OpBuilder = mlir::OpBuilder;
  using Value = mlir::Value;

  /// An axis of which the copy has a part only.
  struct Cut {
    mlir::StringAttr axis, part;
    int64_t size;
    /// Where the part starts, counted from what the axis starts at; null: the
    /// index of the copied loop is the start.
    Value from;
  };
  const Cut *cutOf(mlir::Type type) const;
  mlir::Type retyped(mlir::Type type) const;
  mlir::ArrayAttr renamed(mlir::ArrayAttr axes) const;
  /// A new axis of the kernel, or the one of that name that it has.
  mlir::StringAttr addAxis(const mlir::Twine &name, int64_t size);

  /// The copy's value for `v`; null after an error.
  Value adapt(OpBuilder &b, Value v);
  mlir::LogicalResult emitOp(OpBuilder &b, Operation &op);
  mlir::LogicalResult emitClone(OpBuilder &b, Operation &op);
  mlir::LogicalResult emitDot(OpBuilder &b, tile::DotOp dot);
  /// `sum` and the terms of a product; null after an error.
  Value addTerms(OpBuilder &b, tile::DotOp dot, Value sum);
  /// The same, a part of the contracted axis at a time.
  Value addParts(OpBuilder &b, tile::DotOp dot, Value sum);

  mlir::scf::ForOp loop;
  tile::KernelOp kernel;
  tile::NoteIds &ids;
  llvm::SmallVector<Cut, 2> cuts;
  mlir::IRMapping mapping;
};

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H
