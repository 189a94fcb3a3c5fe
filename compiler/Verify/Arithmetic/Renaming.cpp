// Facts of one iteration of a loop in terms of the next.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/Renaming.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace selvedge::verify {

using namespace mlir;

Value Renaming::replace(Value value, const Pairs &pairs, bool mustLeave) {
  // A tile may be as a number is, and is no number.
  for (auto [from, to] : pairs)
    if (value.getType() == from.getType() && isSame(value, from))
      return to;
  Operation *def = value.getDefiningOp();
  if (!def || !isStable(def))
    return mustLeave && variesIn(value, loop) ? Value() : value;
  IRMapping operands;
  bool isChanged = false;
  for (Value operand : def->getOperands()) {
    Value other = replace(operand, pairs, mustLeave);
    if (!other)
      return {};
    isChanged |= other != operand;
    operands.map(operand, other);
  }
  if (!isChanged)
    return value;
  OpBuilder b(def->getContext());
  b.setInsertionPointToEnd(&into);
  return b.clone(*def, operands)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

std::optional<Fact> Renaming::replace(Fact fact, const Pairs &pairs,
                                      bool mustLeave) {
  fact.predicate = replace(fact.predicate, pairs, mustLeave);
  if (!fact.predicate)
    return std::nullopt;
  for (Arm &arm : fact.within)
    arm.condition = replace(arm.condition, pairs, mustLeave);
  size_t arms = fact.within.size();
  llvm::erase_if(fact.within, [](const Arm &arm) { return !arm.condition; });
  // What holds in all arms needs none of them.
  if (fact.within.size() != arms && !fact.inAllArms)
    fact.state = join(fact.state, State::Determined);
  return fact;
}

std::optional<Fact> Renaming::rename(const Fact &fact, ValueRange from,
                                     ValueRange to, bool mustLeave) {
  Pairs pairs;
  for (auto [here, there] : llvm::zip_equal(from, to))
    if (here.getType().isIntOrIndex() && !matchPattern(here, m_Constant()))
      pairs.push_back({here, there});
  return replace(fact, pairs, mustLeave);
}

std::optional<Fact> Renaming::toNext(const Fact &fact) {
  auto loop = cast<scf::ForOp>(this->loop);
  OpBuilder b(loop.getContext());
  b.setInsertionPointToEnd(&into);
  Value index = loop.getInductionVar();
  Value next = arith::AddIOp::create(b, loop.getLoc(), index, loop.getStep());
  Pairs pairs{{next, index}};
  for (auto [yielded, argument] :
       llvm::zip_equal(loop.getYieldedValues(), loop.getRegionIterArgs()))
    if (variesIn(yielded, loop))
      pairs.push_back({yielded, argument});
  return replace(fact, pairs, /*mustLeave=*/true);
}

Fact Renaming::toFirst(const Fact &fact, const Facts &next) {
  auto loop = cast<scf::ForOp>(this->loop);
  Value index = loop.getInductionVar(), begin = loop.getLowerBound();
  Pairs back{{index, begin}}, forth;
  if (!constantOf(strip(begin)))
    forth.push_back({begin, index});
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    back.push_back({argument, init});
    // A constant may mean anything, spread over a tile or not.
    if (!constantOf(strip(init)))
      forth.push_back({init, argument});
  }
  Fact first = *replace(fact, forth, /*mustLeave=*/false);
  for (const Fact &there : next)
    if (isSame(replace(there.predicate, back, false), fact.predicate))
      first.predicate = there.predicate;
  return first;
}

Fact Renaming::toExit(const Fact &fact) {
  auto loop = cast<scf::ForOp>(this->loop);
  Pairs pairs;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    pairs.push_back({argument, result});
  return *replace(fact, pairs, /*mustLeave=*/false);
}

} // namespace selvedge::verify
