// The body of a loop over blocks of an axis, for one lane of that axis.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H
#define SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace selvedge::safety {

/// Repeats what a step of a loop computes with one lane of the axis that the
/// loop cuts into blocks. Products become element-wise: a term whose lane is
/// absent is selected away before it is added.
class OneLaneBody {
public:
  /// `lane`, an axis of one element, stands for `axis`.
  OneLaneBody(mlir::scf::ForOp loop, mlir::StringAttr axis, mlir::StringAttr lane)
      : loop(loop), axis(axis), lane(lane) {}

  /// Emits the loop from `low` to `high`, one lane a step. Emits an error where
  /// the body has an operation without such a form.
  mlir::FailureOr<mlir::scf::ForOp> emit(mlir::OpBuilder &builder, mlir::Value low,
                                   mlir::Value high, mlir::ValueRange inits);

private:
  using Operation = mlir::Operation;
  using Value = mlir::Value;

  bool hasAxis(mlir::Type type) const;
  mlir::Type retyped(mlir::Type type) const;
  mlir::ArrayAttr renamed(mlir::ArrayAttr axes) const;
  /// The value for `v`; null after an error.
  Value adapt(mlir::OpBuilder &b, Value v);
  mlir::LogicalResult emitOp(mlir::OpBuilder &b, Operation &op);
  mlir::LogicalResult emitClone(mlir::OpBuilder &b, Operation &op);
  void emitDot(mlir::OpBuilder &b, tile::DotOp dot);

  mlir::scf::ForOp loop;
  mlir::StringAttr axis, lane;
  mlir::IRMapping mapping;
};

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_ONELANEBODY_H
