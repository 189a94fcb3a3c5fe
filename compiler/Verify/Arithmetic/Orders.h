// Which of two integers is never larger, by how both are made.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ORDERS_H
#define SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ORDERS_H

#include "compiler/Verify/Arithmetic/IndexValues.h"

namespace selvedge::verify {

/// Compares integers by their minima, maxima and rounded distances, each once:
/// the bounds of loops that continue each other have more of these than a proof
/// by cases goes through.
///
///     min(x, N) <= max(x, 0) + (max(y, max(x, 0)) - max(x, 0)) / 4 * 4
class Orders {
public:
  /// `values` knows arguments.
  explicit Orders(IndexValues &values) : values(values) {}

  /// Whether `a` <= `b`, as far as that is seen.
  bool isAtMost(mlir::Value a, mlir::Value b);

private:
  struct Range {
    int64_t least, most;
  };
  Range rangeOf(mlir::Value value);
  /// Without conversions that keep the number.
  mlir::Value exact(mlir::Value value);

  IndexValues &values;
  llvm::DenseMap<mlir::Value, Range> ranges;
};

} // namespace selvedge::verify

#endif // SELVEDGE_COMPILER_VERIFY_ARITHMETIC_ORDERS_H
