// tile-loop-parts: full and partial parts of loops, steps that do nothing.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Loops/IdleWithout.h"
#include "compiler/Schedule/Loops/LoopBounds.h"
#include "compiler/Schedule/Passes.h"
#include "dialect/Tile/Limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILELOOPPARTS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;
using analysis::LinearIndex;

class Splitter : BoundBuilder {
public:
  explicit Splitter(scf::ForOp loop) : BoundBuilder(loop), loop(loop) {}

  void run() {
    if (!loop.getInductionVar().getType().isInteger(32))
      return;
    for (Operation &op : *loop.getBody()) {
      if (op.getNumRegions() != 0)
        return;
      for (Value p : presenceOf(&op))
        collectCompares(p, compares);
    }
    for (Value compare : compares)
      classify(compare);
    // `x[j] else 0` of a loop without blocks. Other choices split no loop.
    llvm::SetVector<Value> chosen;
    for (auto select : loop.getBody()->getOps<arith::SelectOp>())
      collectCompares(select.getCondition(), chosen);
    for (Value compare : chosen)
      if (!compares.contains(compare) && isIdleWithout(loop, compare))
        classify(compare);
    if (!conditions.empty() || !quotients.empty())
      split();
  }

private:
  /// A compare as `sign * index + rest <= 0`.
  struct Condition {
    Value compare;
    int64_t sign;
    LinearIndex rest;
    /// A step in which it holds nowhere changes nothing.
    bool skips;
  };

  /// `(index + lane) / divisor < end`, without which a step changes nothing.
  struct Quotient {
    Value compare, divisor, end;
    StringAttr axis;
  };

  /// Takes a compare of a quotient: that of pages with their number.
  void classifyQuotient(Value compare) {
    auto less = compare.getDefiningOp<arith::CmpIOp>();
    if (!less || less.getPredicate() != arith::CmpIPredicate::slt)
      return;
    auto quotient =
        analysis::source(less.getLhs()).getDefiningOp<arith::FloorDivSIOp>();
    Value end = analysis::source(less.getRhs());
    if (!quotient || !end.getType().isInteger(32) ||
        !loop.isDefinedOutsideOfLoop(end))
      return;
    auto range = analysis::source(quotient.getLhs()).getDefiningOp<RangeOp>();
    Value divisor = analysis::source(quotient.getRhs());
    if (range && range.getStart() == loop.getInductionVar() &&
        blockOf(axesOf(range.getType())[0]) && isPositive(divisor) &&
        loop.isDefinedOutsideOfLoop(divisor) && isIdleWithout(loop, compare))
      quotients.push_back({compare, divisor, end, axesOf(range.getType())[0]});
  }

  static bool isPositive(Value v) {
    if (auto max = v.getDefiningOp<arith::MaxSIOp>())
      return isPositive(max.getLhs()) || isPositive(max.getRhs());
    auto constant = v.getDefiningOp<arith::ConstantIntOp>();
    return constant && constant.value() > 0;
  }

  void classify(Value compare) {
    std::optional<LinearIndex> form = analysis::linearCompare(compare);
    if (!form)
      return classifyQuotient(compare);
    Value index = loop.getInductionVar();
    int64_t sign = form->coefficientOf(index);
    form->scalars.erase(index);
    if (sign != 1 && sign != -1)
      return;
    for (auto &[scalar, coefficient] : form->scalars)
      if (!loop.isDefinedOutsideOfLoop(scalar))
        return;
    for (auto &[axis, coefficient] : form->axes)
      if (!blockOf(axis))
        return;
    for (auto &[quotient, coefficient] : form->quotients)
      if (!hasExtreme(quotient) ||
          !loop.isDefinedOutsideOfLoop(quotient.range.getStart()) ||
          !loop.isDefinedOutsideOfLoop(quotient.divisor))
        return;
    conditions.push_back({compare, sign, *form, isIdleWithout(loop, compare)});
  }

  /// Whether a bound is a constant, or below one that lies behind every range
  /// at most.
  static bool isLimited(Value bound) {
    if (bound.getDefiningOp<arith::ConstantOp>())
      return true;
    auto limited = bound.getDefiningOp<arith::MinSIOp>();
    std::optional<int64_t> most =
        limited ? getConstantIntValue(limited.getRhs()) : std::nullopt;
    return most && *most <= maxExtent + 1;
  }

  /// `from` moved up to the next step at or after `to`.
  Value stepsUp(Value from, Value to, Value step) {
    Value distance = sub(max(to, from), from);
    return add(from,
               mul(arith::CeilDivSIOp::create(b, loc, distance, step), step));
  }

  /// First step that does something, and first full step.
  std::pair<Value, Value> lowerBounds(Value low, Value high, Value step) {
    Value skipped = low, partial = low;
    for (const Condition &c : conditions)
      if (c.sign < 0) {
        if (c.skips)
          skipped = max(skipped, extreme(c.rest, false));
        partial = max(partial, extreme(c.rest, true));
      }
    Value first = stepsUp(low, min(skipped, high), step);
    return {first, stepsUp(first, min(partial, high), step)};
  }

  void split() {
    // A bound from memory may be any integer. Past the largest extent there is
    // nothing; below it a step never wraps.
    Value low = wide(loop.getLowerBound()), high = wide(loop.getUpperBound()),
          step = wide(loop.getStep());
    if (!isLimited(loop.getLowerBound()))
      low = min(low, i64(maxExtent));
    // Steps at or past `last`, and before `first`, do nothing.
    Value first = low, last = high, fullFirst = low, fullLast = high;
    bool hasLower = false;
    for (const Condition &c : conditions) {
      if (c.sign < 0) {
        hasLower = true;
        continue;
      }
      if (c.skips)
        last = min(last, sub(i64(1), extreme(c.rest, false)));
      fullLast = min(fullLast, sub(i64(1), extreme(c.rest, true)));
    }
    for (const Quotient &q : quotients) {
      Value end = mul(wide(q.divisor), wide(q.end));
      Value size = BlockSizeOp::create(b, loc, b.getI32Type(), blockOf(q.axis));
      last = min(last, end);
      fullLast = min(fullLast, sub(end, sub(wide(size), i64(1))));
    }
    if (hasLower)
      std::tie(first, fullFirst) = lowerBounds(low, high, step);
    // Where nothing is left, bounds stay in 32 bits.
    last = max(last, i64(0));
    fullLast = max(min(fullLast, last), i64(0));
    Value partialFirst = stepsUp(fullFirst, fullLast, step);

    SmallVector<Value> carried(loop.getInitArgs());
    // Element by element copies take longer than masks: one loop for three.
    bool isUniversal =
        loop->getParentOfType<ProgramOp>().getKind() == VersionKind::Universal;
    if (conditions.empty() || (hasLower && isUniversal)) {
      carried = clonePart(first, last, carried, false);
    } else {
      if (hasLower)
        carried = clonePart(first, min(fullFirst, last), carried, false);
      carried = clonePart(fullFirst, fullLast, carried, true);
      carried = clonePart(partialFirst, last, carried, false);
    }
    loop.replaceAllUsesWith(carried);
    loop.erase();
  }

  SmallVector<Value> clonePart(Value from, Value to, ValueRange inits,
                               bool isFull) {
    Value start = narrow(from), end = narrow(to);
    auto part = scf::ForOp::create(b, loc, start, end, loop.getStep(), inits);
    if (inits.empty())
      part.getBody()->getTerminator()->erase();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), part.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), part.getRegionIterArgs());
    OpBuilder in = OpBuilder::atBlockEnd(part.getBody());
    for (Operation &op : *loop.getBody()) {
      in.clone(op, mapping);
      if (!isFull)
        continue;
      auto know = [&](Value compare) {
        if (compare.getDefiningOp() == &op)
          mapping.map(compare,
                      KnownOp::create(in, op.getLoc(), compare.getType(),
                                      mapping.lookup(compare)));
      };
      for (const Condition &c : conditions)
        know(c.compare);
      for (const Quotient &q : quotients)
        know(q.compare);
    }
    return part.getResults();
  }

  scf::ForOp loop;
  llvm::SetVector<Value> compares;
  SmallVector<Condition> conditions;
  SmallVector<Quotient> quotients;
};

struct TileLoopPartsPass : impl::TileLoopPartsBase<TileLoopPartsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->getParentOfType<KernelOp>())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      Splitter(loop).run();
  }
};

} // namespace
} // namespace selvedge::schedule
