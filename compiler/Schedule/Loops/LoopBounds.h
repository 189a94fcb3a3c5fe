// What the passes that split loops share: compares, bounds in 64 bits.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_LOOPBOUNDS_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_LOOPBOUNDS_H

#include "compiler/Analysis/LinearIndex.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::schedule {

/// Adds the compares behind a predicate.
void collectCompares(mlir::Value predicate,
                     llvm::SetVector<mlir::Value> &compares);

/// The presence of a sink or access; none of other operations.
mlir::ValueRange presenceOf(mlir::Operation *op);

/// Builds the bounds of a loop's parts in front of it. They are computed in 64
/// bits: sums of 32-bit dims do not wrap there.
class BoundBuilder {
public:
  explicit BoundBuilder(mlir::scf::ForOp loop);

protected:
  mlir::Value i64(int64_t v);
  mlir::Value wide(mlir::Value v);
  mlir::Value narrow(mlir::Value v);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);

  /// The name of the size of a block along `axis`; null where it has an extent.
  mlir::StringAttr blockOf(mlir::StringAttr axis);
  /// Whether extreme() can compute that of a quotient in 32 bits.
  bool hasExtreme(const analysis::RangeQuotient &quotient);
  /// Largest (or smallest) value of `form` over all lanes.
  mlir::Value extreme(const analysis::LinearIndex &form, bool largest);

  mlir::OpBuilder b;
  mlir::Location loc;

private:
  tile::KernelOp kernel;
};

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_LOOPBOUNDS_H
