// Limits of an index that another condition implies for rows that exist.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SAFETY_IMPLIEDLIMITS_H
#define SELVEDGE_COMPILER_SAFETY_IMPLIEDLIMITS_H

#include "mlir/IR/ValueRange.h"

namespace selvedge::safety {

/// Whether one of `conditions` and one of `rows` imply `predicate`, whatever
/// the dims are: `j - i <= kv_len - M` and `i < M` imply `j < kv_len`.
bool isImplied(mlir::Value predicate, mlir::ValueRange conditions,
               mlir::ValueRange rows);

/// The predicates without whose truth a lane of `value` is absent, as far as
/// none speaks of `over`.
llvm::SmallVector<mlir::Value> rowsOf(mlir::Value value, mlir::StringAttr over);

} // namespace selvedge::safety

#endif // SELVEDGE_COMPILER_SAFETY_IMPLIEDLIMITS_H
