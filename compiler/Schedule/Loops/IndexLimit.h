// Predicates that compare indices with a scalar.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_LOOPS_INDEXLIMIT_H
#define SELVEDGE_COMPILER_SCHEDULE_LOOPS_INDEXLIMIT_H

#include "dialect/Sm/Sm.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace selvedge::schedule {

/// `index < end`, of indices from `first` on and a scalar.
struct IndexLimit {
  mlir::Value first, end;
  bool operator==(const IndexLimit &) const = default;
};
std::optional<IndexLimit> matchIndexLimit(mlir::Value condition);
/// `index >= end`, likewise.
std::optional<IndexLimit> matchIndexStart(mlir::Value condition);

/// The limits that every store of a kernel tests, or that the product it adds
/// sums within: where the first index is at or behind the end, nothing is
/// stored, or zero added.
llvm::SmallVector<IndexLimit> limitsOfStores(sm::KernelOp kernel);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_LOOPS_INDEXLIMIT_H
