// Predicates that compare indices with a scalar.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/IndexLimit.h"

#include "compiler/Schedule/Softmax/OnlineSoftmax.h"
#include "dialect/Tile/Accumulate.h"

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

static SmallVector<IndexLimit> limitsAmong(ValueRange conditions) {
  SmallVector<IndexLimit> limits;
  for (Value condition : conditions)
    if (std::optional<IndexLimit> limit = matchIndexLimit(condition))
      limits.push_back(*limit);
  return limits;
}

/// What a sum has no term without: a product to which no lane contributes is
/// zero, and adding it changes nothing.
static SmallVector<IndexLimit> limitsOfAdded(StoreOp store) {
  auto product = store.getValue().getDefiningOp<MmaOp>();
  if (!tile::addsToMemory(store) || !product || !isSplat(product.getInit(), 0))
    return {};
  return limitsAmong(product.getPresence());
}

SmallVector<IndexLimit> limitsOfStores(KernelOp kernel) {
  SmallVector<IndexLimit> limits;
  bool isFirst = true;
  kernel.walk([&](StoreOp store) {
    SmallVector<IndexLimit> own = limitsAmong(store.getPresence());
    llvm::append_range(own, limitsOfAdded(store));
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
