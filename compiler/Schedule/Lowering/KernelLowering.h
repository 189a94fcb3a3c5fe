// Lowers the body of one bound tile kernel to sm.seq.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOWERING_KERNELLOWERING_H
#define SELVEDGE_COMPILER_SCHEDULE_LOWERING_KERNELLOWERING_H

#include "compiler/Schedule/Copies/RepeatedReads.h"
#include "compiler/Schedule/Layouts/Layouts.h"
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

/// The sizes that a plan has bound.
AxisSizes sizesOf(tile::KernelOp kernel);

/// Lowers one kernel for one class. Every tile lives in the layout of its group
/// and moves to others that need it; what follows from indices and loads alone
/// is computed where it is needed, in copies too.
class KernelLowering {
public:
  KernelLowering(tile::KernelOp source, const KernelLayouts &layouts,
                 VariantClass variant)
      : source(source), layouts(layouts), variant(variant), caches(source),
        builder(source.getContext()) {}

  /// Creates the sm.kernel named `name` at `builder`'s insertion point.
  mlir::FailureOr<sm::KernelOp> run(mlir::OpBuilder &module,
                                    llvm::StringRef name);

  /// Tensors that some access reads or writes by vectors.
  const llvm::SetVector<mlir::StringAttr> &getVectorTensors() const {
    return vectorTensors;
  }

private:
  /// Layout of axes in one place: that of a group, or of one copy.
  struct Context {
    AxisLayouts axes;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };

  void emitCoordinates();
  void noteRelayouts();
  mlir::Value emitAffine(mlir::AffineExpr expr, mlir::Location loc);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  /// The number of a block, if `op` divides where it starts by its size.
  mlir::Value blockNumberOf(mlir::Operation &op) const;
  mlir::LogicalResult lowerPure(mlir::Operation &op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp branch);
  mlir::LogicalResult lowerLoad(tile::LoadOp load);
  mlir::LogicalResult lowerStore(tile::StoreOp store);
  mlir::LogicalResult lowerDot(tile::DotOp dot);
  mlir::LogicalResult lowerReduce(tile::ReduceOp reduce);
  mlir::LogicalResult lowerCopy(tile::LoadOp load);
  /// Whether registers hold a tile as the A fragment of a product wants it: an
  /// accumulator's registers are the fragment of the next product.
  bool isFragment(tile::DotOp dot, mlir::Value tile,
                  const AxisLayouts &axisLayouts);
  mlir::Value operandOf(tile::DotOp dot, mlir::Value operand);
  /// Where a computed operand goes for `dot`.
  mlir::Value stagedBuffer(tile::DotOp dot, sm::BufferType type);
  sm::BufferType bufferType(mlir::StringAttr rowAxis, mlir::StringAttr colAxis,
                            mlir::Type elementType);
  mlir::Value alloc(sm::BufferType type, mlir::Location loc);

  mlir::Type convertType(mlir::Type type, const Context &context);
  /// Records what an anchored value becomes in its home, and moves it to where
  /// else it is needed.
  void define(mlir::Value v, mlir::Value lowered);
  /// What `v` is in its home; a scalar is the same everywhere.
  mlir::Value value(mlir::Value v);
  /// The value in `context`, repeated there if need be; null if it cannot be.
  mlir::Value valueIn(mlir::Value v, Context &context);
  mlir::Value emitIn(mlir::Value v, Context &context, mlir::Type type);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  valuesIn(mlir::ValueRange values, Context &context);
  mlir::Value loadIn(tile::LoadOp load, Context &context, mlir::Type type,
                     int64_t width, sm::CacheAttr cache);
  mlir::Operation *cloneElementwise(mlir::Operation &op, Context &context);
  /// Elements per access, of those that a thread holds side by side along the
  /// last index.
  int64_t vectorWidth(tile::GlobalType tensor, mlir::ValueRange indices,
                      int64_t adjacent);
  void noteVector(mlir::Value tensor, int64_t width);
  /// The hint of a load or store; null where there is none.
  sm::CacheAttr cacheAttr(mlir::Operation *access);

  tile::KernelOp source;
  const KernelLayouts &layouts;
  VariantClass variant;
  CacheHints caches;
  mlir::OpBuilder builder;
  sm::KernelOp target;
  /// One per group.
  llvm::SmallVector<Context> contexts;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Of coordinates of blocked ranges, which are multiples of the block's size
  /// and wrap: the block's number, which does not, and the size.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>> blockNumbers;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  /// Of computed operands, and the operand that each has now.
  llvm::MapVector<mlir::Value, mlir::Value> stagedOperands;
  llvm::SetVector<mlir::StringAttr> vectorTensors;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOWERING_KERNELLOWERING_H
