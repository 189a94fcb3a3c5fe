// Predicates that compare indices with a scalar.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/IndexLimit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// `range < splat` or `range >= splat`.
static std::optional<IndexLimit> matchCompare(Value condition,
                                              arith::CmpIPredicate how) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != how)
    return std::nullopt;
  auto range = compare.getLhs().getDefiningOp<RangeOp>();
  auto end = compare.getRhs().getDefiningOp<SplatOp>();
  return range && end
             ? std::optional<IndexLimit>({range.getStart(), end.getValue()})
             : std::nullopt;
}

std::optional<IndexLimit> matchIndexLimit(Value condition) {
  return matchCompare(condition, arith::CmpIPredicate::slt);
}

std::optional<IndexLimit> matchIndexStart(Value condition) {
  return matchCompare(condition, arith::CmpIPredicate::sge);
}

SmallVector<IndexLimit> limitsOfStores(KernelOp kernel) {
  SmallVector<IndexLimit> limits;
  bool isFirst = true;
  kernel.walk([&](StoreOp store) {
    SmallVector<IndexLimit> own;
    for (Value condition : store.getPresence())
      if (std::optional<IndexLimit> limit = matchIndexLimit(condition))
        own.push_back(*limit);
    if (isFirst)
      limits = own;
    else
      llvm::erase_if(limits, [&](const IndexLimit &limit) {
        return !llvm::is_contained(own, limit);
      });
    isFirst = false;
  });
  return limits;
}

} // namespace selvedge::schedule
