// Masks that several products of one tile share.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/SharedMasks.h"
#include "compiler/Safety/Predicates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;

bool concerns(Value predicate, Value operand) {
  return llvm::all_of(axesOf(predicate.getType()), [&](StringAttr axis) {
    return llvm::is_contained(axesOf(operand.getType()), axis);
  });
}

SmallVector<Value> demandsOn(DotOp op, Value operand) {
  return llvm::to_vector(llvm::make_filter_range(
      op.getPresence(), [&](Value p) { return concerns(p, operand); }));
}

/// Whether lanes of `value` do not exist where `predicate` is false: lanes of
/// what it is computed from do not.
static bool isAbsentWhere(Value value, Value predicate) {
  Operation *def = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(def))
    return llvm::any_of(load.getPresence(),
                        [&](Value p) { return implies(p, predicate); });
  SmallVector<Value> sources;
  if (auto dot = dyn_cast_or_null<DotOp>(def)) {
    // Those on a contracted axis end in the product.
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (llvm::none_of(dot.getOver(), [&](Attribute axis) {
            return llvm::is_contained(axesOf(predicate.getType()), axis);
          }))
        sources.push_back(operand);
  } else if (def && isa<ConvertOp, BroadcastOp, SoftmaxWeightOp, arith::ExtFOp,
                        arith::TruncFOp, arith::NegFOp, arith::AddFOp,
                        arith::SubFOp, arith::MulFOp>(def)) {
    llvm::append_range(sources, def->getOperands());
  }
  return llvm::any_of(
      sources, [&](Value source) { return isAbsentWhere(source, predicate); });
}

SmallVector<DotOp> sharersOf(DotOp op, Value operand, ValueRange open) {
  auto covers = [&](ValueRange demands, ValueRange others) {
    return llvm::all_of(others, [&](Value p) {
      return llvm::is_contained(demands, p) || isAbsentWhere(operand, p);
    });
  };
  SmallVector<DotOp> sharers;
  for (Operation *user : operand.getUsers()) {
    auto other = dyn_cast<DotOp>(user);
    if (!other || other->getBlock() != op->getBlock() ||
        !op->isBeforeInBlock(other) || llvm::is_contained(sharers, other))
      continue;
    SmallVector<Value> demands = demandsOn(other, operand);
    auto isThere = [&](Value p) {
      Operation *def = p.getDefiningOp();
      return !def || def->getBlock() != op->getBlock() ||
             def->isBeforeInBlock(op);
    };
    if (covers(open, demands) && covers(demands, open) &&
        llvm::all_of(demands, isThere))
      sharers.push_back(other);
  }
  return sharers;
}

} // namespace selvedge::safety
