// Limits of an index that another condition implies for rows that exist.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/ImpliedLimits.h"
#include "compiler/Verify/Arithmetic/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace selvedge::verify {

using namespace mlir;

/// The index of `index < limit`: where a range of lanes lies, or a quotient of
/// that, which is not negative; null for other conditions.
static Value limitedIndex(Value condition) {
  auto compare = strip(condition).getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return {};
  Value index = strip(compare.getLhs()), range = index;
  if (auto quotient = index.getDefiningOp<arith::DivUIOp>())
    range = strip(quotient.getLhs());
  Operation *def = range.getDefiningOp();
  return isa_and_nonnull<tile::RangeOp, sm::RangeOp>(def) ? index : Value();
}

/// Whether `limit` is true wherever all `conditions` are, whose indices
/// `values` knows.
static bool proves(IndexValues &values, ArrayRef<Value> conditions,
                   Value limit) {
  SmallVector<Polynomial> known, goals;
  values.collect(limit, goals);
  for (Value condition : conditions)
    values.collect(condition, known);
  values.refine(known, goals);
  return llvm::all_of(goals, [&](const Polynomial &goal) {
    return values.isNonNegativeByCases(goal, known);
  });
}

static bool impliesInRow(Value condition, Value row, Value limit) {
  Value column = limitedIndex(limit), index = limitedIndex(row);
  IndexValues values;
  for (Value v : {column, index})
    values.define(v, values.newSymbol(0, std::numeric_limits<int32_t>::max()));
  return proves(values, {row, condition}, limit);
}

bool RowsThatExist::implies(Value condition, Value row, Value limit) {
  auto [known, isNew] = proved.try_emplace({condition.getAsOpaquePointer(),
                                            row.getAsOpaquePointer(),
                                            limit.getAsOpaquePointer()});
  if (isNew)
    known->second = impliesInRow(condition, row, limit);
  return known->second;
}

bool RowsThatExist::follows(ArrayRef<Value> conditions, Value limit) {
  if (!limitedIndex(limit))
    return false;
  std::vector<const void *> asked{limit.getAsOpaquePointer()};
  for (Value condition : conditions)
    asked.push_back(condition.getAsOpaquePointer());
  auto [found, isNew] = followed.try_emplace(asked);
  if (!isNew)
    return found->second;
  IndexValues values;
  SmallVector<Value> ranges;
  auto defineRanges = [&](auto &self, Value v) -> void {
    v = strip(v);
    Operation *def = v.getDefiningOp();
    if (isa_and_nonnull<tile::RangeOp, sm::RangeOp>(def)) {
      auto *same =
          llvm::find_if(ranges, [&](Value other) { return isSame(v, other); });
      values.define(
          v, same != ranges.end()
                 ? values.of(*same)
                 : values.newSymbol(0, std::numeric_limits<int32_t>::max()));
      ranges.push_back(v);
    } else if (def && sm::layoutOf(v.getType())) {
      for (Value operand : def->getOperands())
        self(self, operand);
    }
  };
  for (Value condition : conditions)
    defineRanges(defineRanges, condition);
  defineRanges(defineRanges, limit);
  return found->second = proves(values, conditions, limit);
}

std::optional<State> RowsThatExist::stateOf(const Facts &facts, Value predicate,
                                            StringAttr over) {
  std::optional<State> state = stateAt(facts, predicate);
  auto isOpen = [](std::optional<State> s) {
    return !s || s == State::Garbage || s == State::Determined;
  };
  Value column = limitedIndex(predicate);
  if (!isOpen(state) || !column || !mentions(predicate, over))
    return state;
  for (const Fact &known : facts) {
    if (isOpen(known.state) || !known.isTotal() ||
        !within(column, known.predicate))
      continue;
    for (const Fact &row : facts) {
      Value index =
          row.origin == Origin::Absent ? limitedIndex(row.predicate) : Value();
      if (index && !mentions(row.predicate, over) &&
          within(index, known.predicate) &&
          implies(known.predicate, row.predicate, predicate))
        return known.state;
    }
  }
  return state;
}

} // namespace selvedge::verify
