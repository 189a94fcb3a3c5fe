// Masks that compare one index with several limits, as one compare.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

#include <limits>

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

std::optional<AheadLimit> matchAheadLimit(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::sle)
    return std::nullopt;
  auto most = compare.getRhs().getDefiningOp<SplatOp>();
  auto distance = compare.getLhs().getDefiningOp<arith::SubIOp>();
  if (!most || !distance)
    return std::nullopt;
  auto range = [](Value v) {
    auto spread = v.getDefiningOp<BroadcastOp>();
    return spread ? spread.getSource().getDefiningOp<RangeOp>() : RangeOp();
  };
  AheadLimit limit{range(distance.getLhs()), range(distance.getRhs()),
                   most.getValue()};
  return limit.columns && limit.rows ? std::optional(limit) : std::nullopt;
}

namespace {

/// The conditions of a mask that bound the index `column` from above.
struct Limits {
  RangeOp column;
  /// Scalars that it is less than.
  SmallVector<Value> scalars;
  /// A row's index and a scalar that the column may lie ahead of it at most.
  SmallVector<std::pair<Value, Value>> ahead;
  /// What else has to hold.
  SmallVector<Value> rest;
  size_t size() const { return scalars.size() + ahead.size(); }

  void add(Value condition) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      add(both.getLhs());
      add(both.getRhs());
    } else if (!isLess(condition) && !isAhead(condition)) {
      rest.push_back(condition);
    }
  }

private:
  bool isColumn(Value v) {
    auto range = v.getDefiningOp<RangeOp>();
    if (!range || (column && range != column))
      return false;
    column = range;
    return true;
  }
  /// `j < scalar`, the same for all rows.
  bool isLess(Value condition) {
    auto spread = condition.getDefiningOp<BroadcastOp>();
    auto compare = spread ? spread.getSource().getDefiningOp<arith::CmpIOp>()
                          : arith::CmpIOp();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto limit = compare.getRhs().getDefiningOp<SplatOp>();
    if (!limit || !isColumn(compare.getLhs()))
      return false;
    scalars.push_back(limit.getValue());
    return true;
  }
  bool isAhead(Value condition) {
    std::optional<AheadLimit> limit = matchAheadLimit(condition);
    if (!limit || !isColumn(limit->columns.getResult()))
      return false;
    ahead.push_back({limit->rows.getResult(), limit->most});
    return true;
  }
};

} // namespace

/// The least limit is that of a row, which the thread that holds the row finds
/// once: a score then takes one compare.
Value RoleKernel::emitMask(Value condition, IRMapping &mapping) {
  Limits limits;
  limits.add(condition);
  if (limits.size() < 2 ||
      layoutOf(limits.column.getType()).getAxes().size() != 1)
    return valueOf(condition, mapping);
  Value column = valueOf(limits.column.getResult(), mapping);
  auto maskType = cast<RankedTensorType>(typeOfWarpgroup(condition.getType()));
  auto least = [&](Value known, Value more) -> Value {
    return known ? arith::MinSIOp::create(b, loc, known, more).getResult()
                 : more;
  };
  auto less = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  };
  Value scalarLimit, mask;
  for (Value limit : limits.scalars)
    scalarLimit = least(scalarLimit, scalar(limit, mapping));
  if (limits.ahead.empty()) {
    mask = BroadcastOp::create(
        b, loc, maskType,
        less(column, SplatOp::create(b, loc, column.getType(), scalarLimit)));
  } else {
    Value rowLimit;
    for (auto [row, most] : limits.ahead) {
      Value i = valueOf(row, mapping);
      auto splat = [&](Value v) -> Value {
        return SplatOp::create(b, loc, i.getType(), v);
      };
      // No sum overflows, however far ahead the column may lie.
      Value room = arith::SubIOp::create(
          b, loc, splat(i32(std::numeric_limits<int32_t>::max() - 1)), i);
      Value distance =
          arith::MinSIOp::create(b, loc, splat(scalar(most, mapping)), room);
      rowLimit = least(rowLimit,
                       arith::AddIOp::create(
                           b, loc, arith::AddIOp::create(b, loc, i, distance),
                           splat(i32(1))));
    }
    if (scalarLimit)
      rowLimit = least(
          rowLimit, SplatOp::create(b, loc, rowLimit.getType(), scalarLimit));
    auto wide = RankedTensorType::get(maskType.getShape(), b.getI32Type(),
                                      maskType.getEncoding());
    mask = less(BroadcastOp::create(b, loc, wide, column),
                BroadcastOp::create(b, loc, wide, rowLimit));
  }
  for (Value other : limits.rest)
    mask = arith::AndIOp::create(b, loc, mask, valueOf(other, mapping));
  return mask;
}

} // namespace selvedge::schedule
