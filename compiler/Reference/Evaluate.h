// Evaluation of single operations on tile values.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_REFERENCE_EVALUATE_H
#define SELVEDGE_COMPILER_REFERENCE_EVALUATE_H

#include "compiler/Reference/TileValue.h"

namespace selvedge::reference {

/// An `arith` or `math` operation, lane by lane; null for an unknown one.
TileRef evaluateElementwise(mlir::Operation *op,
                            llvm::ArrayRef<TileRef> operands,
                            const TileShape &shape);

/// The part of evaluateElementwise() on integers and booleans.
TileRef evaluateInteger(mlir::Operation *op, llvm::ArrayRef<TileRef> operands,
                        const TileShape &shape);

/// `tile.convert`.
TileRef evaluateConvert(tile::ConvertOp op, const TileRef &source);

/// `tile.dot`; `init` may be null.
TileRef evaluateDot(tile::DotOp op, const TileRef &lhs, const TileRef &rhs,
                    const TileRef &init, llvm::ArrayRef<TileRef> presence,
                    const TileShape &shape);

/// `tile.reduce`.
TileRef evaluateReduce(tile::ReduceOp op, const TileRef &source,
                       llvm::ArrayRef<TileRef> presence,
                       const TileShape &shape);

/// Running state of an online softmax, one lane per row.
struct SoftmaxState {
  TileRef max;
  TileRef sum;
  std::vector<TileRef> accs;
};

/// `tile.softmax_update`: replaces the state, returns the weights.
TileRef evaluateSoftmaxUpdate(const TileRef &scores,
                              llvm::ArrayRef<TileRef> presence,
                              SoftmaxState &state);
/// `tile.softmax_include`: replaces the state.
void evaluateSoftmaxInclude(const TileRef &score, SoftmaxState &state);
/// `tile.softmax_normalize`.
TileRef evaluateSoftmaxNormalize(const TileRef &acc, const TileRef &sum);
/// `tile.softmax_lse`.
TileRef evaluateSoftmaxLse(const TileRef &max, const TileRef &sum);
/// `tile.softmax_weight`.
TileRef evaluateSoftmaxWeight(const TileRef &score, const TileRef &max,
                              const TileRef &sum);

} // namespace selvedge::reference

#endif // SELVEDGE_COMPILER_REFERENCE_EVALUATE_H
