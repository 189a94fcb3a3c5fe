// One step of an online softmax, found in the arithmetic of a loop.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_SOFTMAX_ONLINESOFTMAX_H
#define SELVEDGE_COMPILER_SCHEDULE_SOFTMAX_ONLINESOFTMAX_H

#include "dialect/Sm/Sm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

namespace selvedge::schedule {

inline constexpr float log2e = 1.4426950408889634f, ln2 = 0.6931471805599453f,
                       infinity = std::numeric_limits<float>::infinity();

/// From this magnitude on a maximum of exponents is rounded to a whole number.
/// A fused multiply-add does not round the exponents that are taken against it,
/// so that weights were 2 to the power of what is rounded away: Inf from 2^31
/// on, for scores of -1e10. Such exponents are rounded first.
inline constexpr float hugeExponent = 1 << 23;

/// What tile-expand-softmax makes of `tile.softmax_update`, in a loop of form
/// seq that carries the maximum, the sum and the accumulators:
///
///     top     = reduce max scores             newMax = max(max, top)
///     ref     = newMax == -inf ? 0 : newMax
///     weights = exp2((scores - ref) * log2e)  alpha  = exp2((max - ref) *
///     log2e) newSum  = sum * alpha + reduce add weights newAcc  = acc * alpha
///
/// Nothing but its results is used outside of it. (M. Milakov and
/// N. Gimelshein, "Online normalizer calculation for softmax", 2018.)
struct OnlineSoftmax {
  mlir::Value scores, weights, newMax, newSum;
  /// The select that gives `ref`.
  mlir::Value reference;
  /// The accumulators after rescaling.
  llvm::SmallVector<mlir::Value> newAccs;
  mlir::StringAttr over;
  /// Which scores and weights exist, as the two reductions say.
  mlir::ValueRange maxPresence, sumPresence;
  /// Positions among the loop's carried values.
  unsigned max = 0, sum = 0;
  llvm::SmallVector<unsigned> accs;
  /// The operations of the step, its results included.
  llvm::SmallPtrSet<mlir::Operation *, 32> ops;

  /// Whether an operation belongs to the step or narrows its weights.
  bool isPart(mlir::Operation *op) const {
    return ops.contains(op) ||
           (mlir::isa<sm::ConvertOp>(op) && op->getOperand(0) == weights);
  }
};

/// What a step's scores are made of: `condition ? rest * factor : -inf`.
struct Scores {
  /// Null where there is none.
  mlir::Value condition, factor;
  mlir::Value rest;
};
Scores scoresOf(const OnlineSoftmax &step, mlir::scf::ForOp loop);

/// Whether all lanes hold one constant.
bool isSplat(mlir::Value value, double expected);

/// The only such step of the loop's body; none where there is none.
std::optional<OnlineSoftmax> findOnlineSoftmax(mlir::scf::ForOp loop);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_SOFTMAX_ONLINESOFTMAX_H
