// Where the steps of a loop begin.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_ANALYSIS_STEPBEGINS_H
#define SELVEDGE_COMPILER_ANALYSIS_STEPBEGINS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::analysis {

/// What is known of the numbers by which the steps of a loop begin, as long as
/// it runs at all: by minima, maxima, sums, products with constants, and
/// multiples rounded up, of which its bounds are made.
class StepBegins {
public:
  explicit StepBegins(mlir::scf::ForOp loop) : loop(loop) {}

  /// Whether each step begins at a multiple of `size`, a power of two: that
  /// sums and products wrap does not matter to it.
  bool atMultipleOf(int64_t size);

  /// Whether the loop's upper bound is at most `limit`.
  bool endAtMost(mlir::Value limit);

private:
  /// Whether `v` is a multiple of `size` in a loop that runs. With `isBelow` it
  /// is below the loop's upper bound then.
  bool isMultiple(mlir::Value v, int64_t size, bool isBelow,
                  unsigned depth = 0);

  mlir::scf::ForOp loop;
};

} // namespace selvedge::analysis

#endif // SELVEDGE_COMPILER_ANALYSIS_STEPBEGINS_H
