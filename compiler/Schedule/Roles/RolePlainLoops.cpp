// Loops that only add products up: one loop, its products always in flight.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

RoleKernel::PlainSteps RoleKernel::countSteps(IRMapping &mapping) {
  PlainSteps steps;
  steps.count = i32(0);
  for (scf::ForOp loop : plan.loops) {
    steps.lower.push_back(scalar(loop.getLowerBound(), mapping));
    steps.first.push_back(steps.count);
    Value length = arith::SubIOp::create(
        b, loc, scalar(loop.getUpperBound(), mapping), steps.lower.back());
    length = most(length, i32(0));
    steps.step = scalar(loop.getStep(), mapping);
    steps.count = add(steps.count,
                      arith::CeilDivSIOp::create(b, loc, length, steps.step));
  }
  return steps;
}

/// Only the verifiers read it.
Value RoleKernel::indexOf(const PlainSteps &steps, Value number) {
  Value index;
  for (auto [lower, first] : llvm::zip_equal(steps.lower, steps.first)) {
    Value before = arith::SubIOp::create(b, loc, number, first);
    Value here = add(lower, arith::MulIOp::create(b, loc, before, steps.step));
    if (index) {
      auto hasBegun = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                            before, i32(0));
      here = arith::SelectOp::create(b, loc, hasBegun, here, index);
    }
    index = here;
  }
  return index;
}

/// Slots and products say what those of the last loop do: it tests every
/// predicate and so says what exists of any step.
SmallVector<Value> RoleKernel::startProducts(Value index, Cursor at,
                                             ValueRange carried,
                                             ValueRange inits,
                                             IRMapping mapping) {
  scf::ForOp loop = plan.loops.front(), last = plan.loops.back();
  mapping.map(last.getInductionVar(), index);
  SmallVector<BulkCopy> &copies = plan.streamed[last];
  for (auto [copy, ring] : llvm::zip_equal(copies, streamed))
    slots[copy.copy.getBuffer()] = clearedTile(copy, ring, at, mapping);
  auto operand = [&](Value v) {
    Value slot = slots.lookup(v);
    return slot ? slot : valueOf(v, mapping);
  };
  auto yield = cast<scf::YieldOp>(last.getBody()->getTerminator());
  SmallVector<Value> started;
  for (auto [i, result] : llvm::enumerate(yield.getResults())) {
    auto mma = result.getDefiningOp<MmaOp>();
    Value init = !carried.empty()                    ? carried[i]
                 : isSplat(loop.getInitArgs()[i], 0) ? Value()
                                                     : inits[i];
    started.push_back(WgmmaOp::create(
        b, loc, typeOfWarpgroup(mma.getType()), operand(mma.getLhs()),
        operand(mma.getRhs()), init, mma.getOverAttr(),
        presenceOf(mma.getPresence(), mapping)));
  }
  for (BulkCopy &copy : copies)
    slots.erase(copy.copy.getBuffer());
  return started;
}

void RoleKernel::releaseStep(Value stage) {
  ArriveOp::create(b, loc, streamed.front().empty, stage, true);
}

/// The first step alone, then each beside the one before, whose tiles are
/// released when its products are finished.
LogicalResult RoleKernel::emitPlainLoops(IRMapping &mapping, Cursor &at) {
  PlainSteps numbers = countSteps(mapping);
  SmallVector<Value> inits;
  for (Value init : plan.loops.front().getInitArgs())
    inits.push_back(valueOf(init, mapping));
  SmallVector<Value> none(inits);
  none.append({at.stage, at.parity});
  auto runs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                    numbers.count, i32(0));
  auto branch =
      scf::IfOp::create(b, loc, ValueRange(none).getTypes(), runs, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, none);

  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> carried =
      startProducts(indexOf(numbers, i32(0)), at, {}, inits, mapping);
  size_t products = carried.size();
  Cursor next = advance(at, schedule.stages);
  carried.append({at.stage, next.stage, next.parity});
  auto steps =
      scf::ForOp::create(b, loc, i32(1), numbers.count, i32(1), carried);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(steps.getBody());
    ValueRange args = steps.getRegionIterArgs();
    Cursor here{args[products + 1], args[products + 2]};
    SmallVector<Value> yields =
        startProducts(indexOf(numbers, steps.getInductionVar()), here,
                      args.take_front(products), {}, mapping);
    WgmmaRetireOp::create(b, loc, products);
    releaseStep(args[products]);
    Cursor after = advance(here, schedule.stages);
    yields.append({here.stage, after.stage, after.parity});
    scf::YieldOp::create(b, loc, yields);
  }
  SmallVector<Value> results;
  for (Value flight : steps.getResults().take_front(products))
    results.push_back(WgmmaWaitOp::create(b, loc, flight.getType(), flight, 0));
  releaseStep(steps.getResult(products));
  results.append(
      {steps.getResult(products + 1), steps.getResult(products + 2)});
  scf::YieldOp::create(b, loc, results);

  scf::ForOp last = plan.loops.back();
  for (auto [from, to] : llvm::zip(last.getResults(), branch.getResults()))
    mapping.map(from, to);
  at = {branch.getResult(products), branch.getResult(products + 1)};
  return success();
}

} // namespace selvedge::schedule
