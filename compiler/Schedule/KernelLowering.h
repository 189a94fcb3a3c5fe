// Lowers the body of one bound tile kernel to sm.seq.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_KERNELLOWERING_H
#define SELVEDGE_COMPILER_SCHEDULE_KERNELLOWERING_H

#include "compiler/Schedule/Layouts.h"
#include "compiler/Schedule/RepeatedReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

/// Class of strides and alignments that a variant is compiled for.
struct VariantClass {
  /// Bytes to which contiguous rows are aligned; 0: element by element.
  int64_t align = 0;
  /// Tensors that are so aligned; null for all.
  const llvm::SetVector<mlir::StringAttr> *tensors = nullptr;
};

/// Lowers one kernel for one class. Index arithmetic that feeds a copy is
/// repeated in the copy's own distribution; everything else lives in the
/// distribution that the axis roles give.
class KernelLowering {
public:
  KernelLowering(tile::KernelOp source, const AxisRoles &roles,
                 VariantClass variant)
      : source(source), roles(roles), variant(variant), caches(source),
        builder(source.getContext()) {}

  /// Creates the sm.kernel named `name` at `builder`'s insertion point.
  mlir::FailureOr<sm::KernelOp> run(mlir::OpBuilder &module,
                                    llvm::StringRef name);

  /// Tensors that some access reads or writes by vectors.
  const llvm::SetVector<mlir::StringAttr> &getVectorTensors() const {
    return vectorTensors;
  }

private:
  /// Distribution of axes in one place: the kernel's, or that of one copy.
  struct Context {
    llvm::MapVector<mlir::StringAttr, sm::AxisDistAttr> axes;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };

  void emitCoordinates();
  mlir::Value emitAffine(mlir::AffineExpr expr, mlir::Location loc);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerLoad(tile::LoadOp load);
  mlir::LogicalResult lowerStore(tile::StoreOp store);
  mlir::LogicalResult lowerDot(tile::DotOp dot);
  mlir::LogicalResult lowerReduce(tile::ReduceOp reduce);
  mlir::LogicalResult lowerCopy(tile::LoadOp load);
  mlir::Value operandOf(tile::DotOp dot, mlir::Value operand);
  sm::BufferType bufferType(mlir::StringAttr rowAxis, mlir::StringAttr colAxis,
                            mlir::Type elementType);
  mlir::Value alloc(sm::BufferType type, mlir::Location loc);

  mlir::Type convertType(mlir::Type type, const Context &context);
  /// The value in the kernel's distribution.
  mlir::Value value(mlir::Value v);
  /// The value in `context`, repeated there if need be; null if it cannot be.
  mlir::Value valueIn(mlir::Value v, Context &context);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  valuesIn(mlir::ValueRange values, Context &context);
  mlir::Operation *cloneElementwise(mlir::Operation &op, Context &context);
  /// Elements per access for an access whose last index is `index`.
  int64_t vectorWidth(tile::GlobalType tensor, mlir::Value lastIndex,
                      int64_t adjacent);
  void noteVector(mlir::Value tensor, int64_t width);
  /// The hint of a load or store; null where there is none.
  sm::CacheAttr cacheAttr(mlir::Operation *access);

  tile::KernelOp source;
  const AxisRoles &roles;
  VariantClass variant;
  CacheHints caches;
  mlir::OpBuilder builder;
  sm::KernelOp target;
  Context compute;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::SetVector<mlir::StringAttr> vectorTensors;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_KERNELLOWERING_H
