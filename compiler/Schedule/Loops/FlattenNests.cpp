// tile-flatten-nests: the blocks of a list's entries are steps of one loop.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/FlattenNests.h"

#include "compiler/Analysis/Distance.h"
#include "compiler/Analysis/LinearIndex.h"
#include "compiler/Schedule/Loops/IdleWithout.h"
#include "compiler/Schedule/Loops/LoopBounds.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEFLATTENNESTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// Extents of an inner loop beyond which its steps are many: copies run ahead
/// in a loop of its own then, whose full steps test nothing.
constexpr int64_t fewColumns = 1024;

/// A loop that does nothing but run another one, from bounds of its own.
struct Nest {
  scf::ForOp outer, inner;
  /// What the inner loop's bounds are apart at most.
  int64_t extent;
};

bool isScalarWork(Operation &op) {
  return op.getNumRegions() == 0 && !isa<StoreOp>(op) &&
         (isa<LoadOp>(op) || isMemoryEffectFree(&op));
}

/// The inner loop, if all that the outer one carries goes through it.
scf::ForOp onlyLoopOf(scf::ForOp outer) {
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop ? bool(inner) : !isScalarWork(op))
      return {};
    if (loop)
      inner = loop;
  }
  auto yield = cast<scf::YieldOp>(outer.getBody()->getTerminator());
  bool handsOn = inner &&
                 llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
                 llvm::equal(yield.getResults(), inner.getResults());
  return handsOn ? inner : scf::ForOp();
}

/// Whether steps from `end` on do nothing: every sink tests it.
bool isIdleFrom(scf::ForOp loop, Value end) {
  llvm::SetVector<Value> compares;
  for (Operation &op : *loop.getBody())
    for (Value p : presenceOf(&op))
      collectCompares(p, compares);
  return llvm::any_of(compares, [&](Value v) {
    auto compare = v.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    auto range = compare.getLhs().getDefiningOp<RangeOp>();
    Value limit = analysis::source(compare.getRhs());
    auto cut = end.getDefiningOp<arith::MinSIOp>();
    return range && range.getStart() == loop.getInductionVar() &&
           (limit == end ||
            (cut && (limit == cut.getLhs() || limit == cut.getRhs()))) &&
           isIdleWithout(loop, compare);
  });
}

std::optional<Nest> matchNest(scf::ForOp outer) {
  scf::ForOp inner = onlyLoopOf(outer);
  bool counts = inner && outer.getInductionVar().getType().isInteger(32) &&
                inner.getInductionVar().getType().isInteger(32) &&
                isZeroInteger(outer.getLowerBound()) &&
                isOneInteger(outer.getStep());
  if (!counts || outer.getNumResults() == 0 ||
      !outer.isDefinedOutsideOfLoop(inner.getStep()) ||
      inner.getBody()->getOps<SoftmaxUpdateOp>().empty() ||
      llvm::any_of(*inner.getBody(),
                   [](Operation &op) { return op.getNumRegions() != 0; }))
    return std::nullopt;
  std::optional<int64_t> extent =
      analysis::mostAbove(inner.getUpperBound(), inner.getLowerBound());
  if (!extent || *extent < 1 || *extent > fewColumns ||
      !isIdleFrom(inner, inner.getUpperBound()))
    return std::nullopt;
  return Nest{outer, inner, *extent};
}

/// Whether an index below `end` is below `bound`, too.
bool isBoundBy(Value end, Value bound) {
  if (end == bound)
    return true;
  auto least = end.getDefiningOp<arith::MinSIOp>();
  return least &&
         (isBoundBy(least.getLhs(), bound) || isBoundBy(least.getRhs(), bound));
}

/// What the end of a loop says of its index: verify-tile-known proves it.
void claimBounds(scf::ForOp loop) {
  Value index = loop.getInductionVar();
  for (OpOperand &use : llvm::make_early_inc_range(index.getUses())) {
    auto compare = dyn_cast<arith::CmpIOp>(use.getOwner());
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
        compare.getLhs() != index ||
        !isBoundBy(loop.getUpperBound(), compare.getRhs()))
      continue;
    OpBuilder b(compare->getContext());
    b.setInsertionPointAfter(compare);
    auto known =
        KnownOp::create(b, compare.getLoc(), compare.getType(), compare);
    compare.getResult().replaceAllUsesExcept(known.getResult(), known);
  }
}

/// The steps of all inner loops, in the order in which they ran. An inner loop
/// that ended early goes on with steps that do nothing.
void flatten(const Nest &nest) {
  scf::ForOp outer = nest.outer, inner = nest.inner;
  claimBounds(outer);
  OpBuilder b(outer);
  Location loc = outer.getLoc();
  auto i32 = [&](int64_t v) -> Value {
    return arith::ConstantIntOp::create(b, loc, v, 32);
  };
  Value zero = i32(0), one = i32(1), step = inner.getStep();
  Value perEntry = arith::CeilDivSIOp::create(b, loc, i32(nest.extent), step);
  // The number of steps does not wrap.
  Value most = arith::DivUIOp::create(b, loc, i32(maxExtent), perEntry);
  Value entries = arith::MinSIOp::create(
      b, loc, arith::MaxSIOp::create(b, loc, outer.getUpperBound(), zero),
      most);
  Value steps = arith::MulIOp::create(b, loc, entries, perEntry);
  auto flat = scf::ForOp::create(b, loc, zero, steps, one, outer.getInitArgs());
  Block *body = flat.getBody();
  Value number = flat.getInductionVar();
  b.setInsertionPointToStart(body);
  Value entry = arith::DivUIOp::create(b, loc, number, perEntry);
  Value part = arith::RemUIOp::create(b, loc, number, perEntry);
  outer.getInductionVar().replaceAllUsesWith(entry);
  outer.getBody()->getTerminator()->erase();
  body->getOperations().splice(body->end(), outer.getBody()->getOperations());
  b.setInsertionPoint(inner);
  // Past the largest extent there is nothing; below it an index never wraps.
  Value first =
      arith::MinSIOp::create(b, loc, inner.getLowerBound(), i32(maxExtent));
  Value index = arith::AddIOp::create(
      b, loc, first, arith::MulIOp::create(b, loc, part, step));
  inner.getInductionVar().replaceAllUsesWith(index);
  for (auto [from, to] :
       llvm::zip_equal(inner.getRegionIterArgs(), flat.getRegionIterArgs()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), inner.getBody()->getOperations());
  outer.replaceAllUsesWith(flat.getResults());
  inner.erase();
  outer.erase();
}

struct TileFlattenNestsPass : impl::TileFlattenNestsBase<TileFlattenNestsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    llvm::SmallPtrSet<Operation *, 4> gone;
    for (scf::ForOp loop : loops)
      if (!gone.contains(loop))
        if (std::optional<Nest> nest = matchNest(loop)) {
          gone.insert(nest->inner);
          flatten(*nest);
        }
  }
};

} // namespace

bool hasShortNest(Operation *op) {
  return op
      ->walk([](scf::ForOp loop) {
        return matchNest(loop) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace selvedge::schedule
