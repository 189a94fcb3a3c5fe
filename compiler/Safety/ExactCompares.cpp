// tile-exact-compares: compares of sums mean integers that do not wrap.
// SPDX-License-Identifier: MIT
#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Safety/Passes.h"

#include <limits>

namespace selvedge::safety {

#define GEN_PASS_DEF_TILEEXACTCOMPARES
#include "compiler/Safety/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;
using analysis::LaneCompare;
using analysis::LinearSum;

constexpr int64_t minInt = std::numeric_limits<int32_t>::min();
constexpr int64_t maxInt = std::numeric_limits<int32_t>::max();

/// Moves to the front of the loops and branches around that define no term.
void hoist(OpBuilder &b, const LinearSum &sum) {
  for (Operation *parent = b.getInsertionBlock()->getParentOp();
       !isa<KernelOp>(parent); parent = parent->getParentOp()) {
    for (auto &[term, coefficient] : sum.terms)
      if (parent->isAncestor(Value(term).getParentBlock()->getParentOp()))
        return;
    b.setInsertionPoint(parent);
  }
}

/// The sum as an i32, the nearest one where it is none.
Value clamped(OpBuilder &b, Location loc, const LinearSum &sum) {
  if (sum.terms.empty())
    return arith::ConstantIntOp::create(
        b, loc, std::clamp(sum.constant, minInt, maxInt), 32);
  auto front = sum.terms.front();
  if (sum.terms.size() == 1 && sum.constant == 0 && front.second == 1)
    return front.first;
  auto i64 = [&](int64_t v) -> Value {
    return arith::ConstantIntOp::create(b, loc, v, 64);
  };
  Value total = i64(sum.constant);
  for (auto &[term, coefficient] : sum.terms) {
    Value part = arith::ExtSIOp::create(b, loc, b.getI64Type(), term);
    if (std::abs(coefficient) != 1)
      part = arith::MulIOp::create(b, loc, part, i64(std::abs(coefficient)));
    total = coefficient > 0
                ? arith::AddIOp::create(b, loc, total, part).getResult()
                : arith::SubIOp::create(b, loc, total, part).getResult();
  }
  total = arith::MaxSIOp::create(b, loc, total, i64(minInt));
  total = arith::MinSIOp::create(b, loc, total, i64(maxInt));
  return arith::TruncIOp::create(b, loc, b.getI32Type(), total);
}

void rewrite(arith::CmpIOp compare, const LaneCompare &meaning) {
  Location loc = compare.getLoc();
  Type type = compare.getLhs().getType();
  OpBuilder b(compare);
  hoist(b, meaning.rest);
  Value rest = clamped(b, loc, meaning.rest);
  b.setInsertionPoint(compare);
  Value lanes = broadcastTo(b, loc, meaning.index, type);
  if (meaning.minus)
    lanes = arith::SubIOp::create(b, loc, lanes,
                                  broadcastTo(b, loc, meaning.minus, type));
  rest = broadcastTo(b, loc, rest, type);
  auto exact = arith::CmpIOp::create(b, loc, meaning.predicate, lanes, rest);
  compare.replaceAllUsesWith(exact.getResult());
  compare.erase();
}

struct TileExactComparesPass
    : impl::TileExactComparesBase<TileExactComparesPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::CmpIOp compare) {
      if (analysis::isExact(compare))
        return;
      if (std::optional<LaneCompare> meaning = analysis::laneCompare(compare))
        rewrite(compare, *meaning);
    });
  }
};

} // namespace
} // namespace selvedge::safety
