// Limits of an index that another condition implies for rows that exist.
// SPDX-License-Identifier: MIT
#include "compiler/Safety/ImpliedLimits.h"
#include "compiler/Analysis/LinearIndex.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace selvedge::safety {

using namespace mlir;
using namespace selvedge::tile;
using analysis::LinearSum;
using analysis::source;

/// The sum of 64 bits that `v` is, in terms of i32 scalars.
static std::optional<LinearSum> wideSum(Value v) {
  Operation *def = v.getDefiningOp();
  if (auto wide = dyn_cast_or_null<arith::ExtSIOp>(def))
    return analysis::linearSum(wide.getIn());
  if (auto constant = dyn_cast_or_null<arith::ConstantIntOp>(def)) {
    LinearSum sum;
    sum.constant = constant.value();
    return sum;
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(def))
    return std::nullopt;
  std::optional<LinearSum> a = wideSum(def->getOperand(0)),
                           b = wideSum(def->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  a->add(*b, isa<arith::AddIOp>(def) ? 1 : -1);
  return a;
}

/// The sum of which a scalar is the nearest i32 (tile-exact-compares).
static std::optional<LinearSum> nearestSum(Value v) {
  auto narrow = v.getDefiningOp<arith::TruncIOp>();
  auto least = narrow ? narrow.getIn().getDefiningOp<arith::MinSIOp>()
                      : arith::MinSIOp();
  auto most =
      least ? least.getLhs().getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  return most ? wideSum(most.getLhs()) : std::nullopt;
}

/// `index < limit` of one range or quotient; none for other conditions.
struct Limit {
  Value index;
  LinearSum limit;
};
static std::optional<Limit> limitOf(Value condition) {
  auto compare = source(condition).getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      isTile(source(compare.getRhs()).getType()))
    return std::nullopt;
  Value index = source(compare.getLhs());
  std::optional<LinearSum> limit = analysis::linearSum(compare.getRhs());
  bool isIndex =
      index.getDefiningOp<RangeOp>() || analysis::rangeQuotient(index);
  return isIndex && limit ? std::optional(Limit{index, *limit}) : std::nullopt;
}

/// j - i <= s and i < m imply j < s + m. A sum s that is too large for an i32
/// was made smaller; for one that is too small no index is far enough behind.
static bool isImplied(const Limit &wanted, Value condition, const Limit &row) {
  auto ahead = source(condition).getDefiningOp<arith::CmpIOp>();
  auto distance = ahead ? source(ahead.getLhs()).getDefiningOp<arith::SubIOp>()
                        : arith::SubIOp();
  if (!distance || ahead.getPredicate() != arith::CmpIPredicate::sle ||
      source(distance.getLhs()) != wanted.index ||
      source(distance.getRhs()) != row.index)
    return false;
  std::optional<LinearSum> most = nearestSum(source(ahead.getRhs()));
  if (!most)
    return false;
  LinearSum room = wanted.limit;
  room.add(*most, -1);
  room.add(row.limit, -1);
  return room.constant >= 0 &&
         llvm::all_of(room.terms, [](auto &term) { return term.second == 0; });
}

bool isImplied(Value predicate, ValueRange conditions, ValueRange rows) {
  std::optional<Limit> wanted = limitOf(predicate);
  return wanted && llvm::any_of(rows, [&](Value row) {
           std::optional<Limit> limit = limitOf(row);
           return limit && llvm::any_of(conditions, [&](Value condition) {
                    return isImplied(*wanted, condition, *limit);
                  });
         });
}

/// Calls `visit` for the loads of whose absent lanes `value` is made, lane by
/// lane or as sums of products.
static void visitLoads(Value value, llvm::function_ref<void(LoadOp)> visit) {
  Operation *def = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(def))
    return visit(load);
  if (!def || isa<arith::SelectOp>(def) ||
      !isa<TileDialect, arith::ArithDialect, math::MathDialect>(
          def->getDialect()))
    return;
  if (isa<TileDialect>(def->getDialect()) &&
      !isa<DotOp, ConvertOp, BroadcastOp>(def))
    return;
  for (Value operand : def->getOperands())
    visitLoads(operand, visit);
}

SmallVector<Value> rowsOf(Value value, StringAttr over) {
  SmallVector<Value> rows;
  ArrayRef<StringAttr> axes = axesOf(value.getType());
  visitLoads(value, [&](LoadOp load) {
    llvm::copy_if(load.getPresence(), std::back_inserter(rows), [&](Value p) {
      return llvm::all_of(axesOf(p.getType()), [&](StringAttr axis) {
        return axis != over && llvm::is_contained(axes, axis);
      });
    });
  });
  return rows;
}

} // namespace selvedge::safety
