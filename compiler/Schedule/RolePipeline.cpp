// Loops in which one product lags a step behind the others.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// A product lags if an operand in registers depends on another product of the
/// same step and only the next step needs its result. Each loop must have
/// exactly one, in the same place, and pass all its results to the next loop.
bool RoleKernel::findLaggedProducts() {
  for (auto [n, loop] : llvm::enumerate(plan.loops)) {
    MmaOp found;
    for (auto mma : loop.getBody()->getOps<MmaOp>()) {
      bool computed =
          llvm::any_of(ValueRange{mma.getLhs(), mma.getRhs()}, [&](Value v) {
            return !isa<BufferType>(v.getType()) &&
                   !loop.isDefinedOutsideOfLoop(v);
          });
      if (computed ? bool(found) : !isZero(mma.getInit()))
        return false;
      if (computed)
        found = mma;
    }
    if (!found || !found->hasOneUse() ||
        !isa<scf::YieldOp>(*found->getUsers().begin()))
      return false;
    unsigned result = found->getUses().begin()->getOperandNumber();
    if (n > 0 && result != laggedResult)
      return false;
    laggedResult = result;
    lagged[loop] = found;
    if (n == 0)
      continue;
    for (auto [init, before] :
         llvm::zip_equal(loop.getInitArgs(), plan.loops[n - 1].getResults()))
      if (init != before)
        return false;
  }
  // Results of all loops but the last go to the next loop only.
  for (scf::ForOp loop :
       SmallVector<scf::ForOp>(ArrayRef(plan.loops).drop_back()))
    for (Value result : loop.getResults())
      if (!result.hasOneUse())
        return false;
  return true;
}

std::optional<size_t> RoleKernel::streamedBy(scf::ForOp loop, MmaOp mma) {
  SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
  for (auto [i, copy] : llvm::enumerate(copies)) {
    Value buffer = copy.copy.getBuffer();
    if (mma.getLhs() == buffer || mma.getRhs() == buffer)
      return i;
  }
  return std::nullopt;
}

Value RoleKernel::awaitLagged(scf::ForOp loop, const Pending &pending,
                              const IRMapping &mapping, Value clears) {
  // planRoles() admits products of streamed tiles only.
  size_t ring = *streamedBy(loop, lagged[loop]);
  IRMapping local = mapping;
  local.map(loop.getInductionVar(), pending.index);
  return awaitTile(plan.streamed.find(loop)->second[ring], streamed[ring],
                   pending.at, local, clears);
}

Value RoleKernel::laggedOperand(scf::ForOp loop) {
  MmaOp mma = lagged[loop];
  bool isLeft = isa<BufferType>(mma.getRhs().getType());
  return isLeft ? mma.getLhs() : mma.getRhs();
}

Value RoleKernel::startLagged(scf::ForOp loop, const Pending &pending,
                              Value slot) {
  MmaOp mma = lagged[loop];
  bool isLeft = laggedOperand(loop) == mma.getLhs();
  return WgmmaOp::create(b, loc, convert(mma.getType()),
                         isLeft ? pending.operand : slot,
                         isLeft ? slot : pending.operand,
                         pending.carried[laggedResult], mma.getOverAttr());
}

void RoleKernel::awaitTurn() {
  if (plan.warpgroups > 1)
    NamedBarrierOp::create(b, loc, add(warpgroup, i32(turnBarrier)),
                           2 * threadsPerWarpgroup, false);
}

void RoleKernel::passTurn() {
  if (plan.warpgroups == 1)
    return;
  Value next = add(warpgroup, i32(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                      i32(plan.warpgroups));
  NamedBarrierOp::create(
      b, loc,
      add(arith::SelectOp::create(b, loc, wraps, i32(0), next),
          i32(turnBarrier)),
      2 * threadsPerWarpgroup, true);
}

/// One step: the products that need nothing of it, the lagged product of the
/// step before beside them, then everything else.
LogicalResult RoleKernel::emitStep(scf::ForOp loop, Value index, Cursor at,
                                   std::optional<Pending> before,
                                   IRMapping mapping, Pending &after) {
  mapping.map(loop.getInductionVar(), index);
  MmaOp last = lagged[loop];
  SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
  auto ringOf = [&](MmaOp mma) { return streamedBy(loop, mma); };
  struct Started {
    MmaOp mma;
    Value lhs, rhs, result;
  };
  SmallVector<Started> started;
  for (auto mma : loop.getBody()->getOps<MmaOp>()) {
    if (mma == last)
      continue;
    std::optional<size_t> ring = ringOf(mma);
    if (ring) {
      Value buffer = copies[*ring].copy.getBuffer();
      slots[buffer] = awaitTile(copies[*ring], streamed[*ring], at, mapping);
    }
    auto operand = [&](Value v) {
      Value slot = slots.lookup(v);
      return slot ? slot : mapping.lookupOrNull(v);
    };
    Value lhs = operand(mma.getLhs()), rhs = operand(mma.getRhs());
    if (!lhs || !rhs)
      return mma.emitOpError("cannot start before the other operations of its "
                             "step");
    started.push_back({mma, lhs, rhs, Value()});
  }
  Value pendingSlot = before ? awaitLagged(loop, *before, mapping) : Value();
  awaitTurn();
  for (Started &product : started)
    product.result =
        WgmmaOp::create(b, loc, convert(product.mma.getType()), product.lhs,
                        product.rhs, Value(), product.mma.getOverAttr());
  Value product = before ? startLagged(loop, *before, pendingSlot) : Value();
  for (auto &[mma, lhs, rhs, value] : started) {
    mapping.map(mma.getResult(), WgmmaWaitOp::create(b, loc, value.getType(),
                                                     value, product ? 1 : 0)
                                     .getResult());
    if (std::optional<size_t> ring = ringOf(mma)) {
      ArriveOp::create(b, loc, streamed[*ring].empty, at.stage, true);
      slots.erase(copies[*ring].copy.getBuffer());
    }
  }
  passTurn();
  if (before) {
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      mapping.map(argument, before->carried[i]);
    mapping.map(
        loop.getRegionIterArg(laggedResult),
        WgmmaWaitOp::create(b, loc, product.getType(), product, 0).getResult());
    ArriveOp::create(b, loc, streamed[*ringOf(last)].empty, before->at.stage,
                     true);
  }
  auto found = softmax.find(loop);
  auto isSoftmax = [&](Operation &op) {
    return found != softmax.end() && found->second.isPart(&op);
  };
  // Constants between its operations come before a step that is emitted whole.
  for (Operation &op : loop.getBody()->without_terminator())
    if (isa<SplatOp>(op) && !mapping.contains(op.getResult(0)) &&
        loop.isDefinedOutsideOfLoop(op.getOperand(0)) &&
        failed(emitOp(op, mapping)))
      return failure();
  bool emitted = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isSoftmax(op)) {
      if (!emitted && before)
        emitSoftmax(found->second, loop, mapping);
      else if (!emitted)
        emitExactSoftmax(found->second, loop, mapping);
      emitted = true;
    } else if (!isa<MmaOp>(op) &&
               !(isa<SplatOp>(op) && mapping.contains(op.getResult(0))) &&
               failed(emitOp(op, mapping))) {
      return failure();
    }
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, v] : llvm::enumerate(yield.getResults()))
    after.carried.push_back(
        mapping.lookup(i == laggedResult ? last.getInit() : v));
  after.operand = mapping.lookup(laggedOperand(loop));
  after.index = index;
  after.at = at;
  return success();
}

/// The first step of a tile, alone. It has the body of the first loop if that
/// runs, else that of the last, which tests every predicate and so fits any
/// step.
LogicalResult RoleKernel::emitFirstStep(Value index, Cursor at, Value runsFirst,
                                        ArrayRef<Value> inits,
                                        const IRMapping &mapping,
                                        Pending &pending) {
  auto emit = [&](scf::ForOp loop) {
    IRMapping local = mapping;
    for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), inits))
      local.map(argument, init);
    pending.carried.clear();
    return emitStep(loop, index, at, std::nullopt, local, pending);
  };
  scf::ForOp first = plan.loops.front(), last = plan.loops.back();
  if (first == last)
    return emit(last);
  SmallVector<Type> types(
      ValueRange(inits).take_front(last.getNumResults()).getTypes());
  types.push_back(convert(laggedOperand(last).getType()));
  auto branch = scf::IfOp::create(b, loc, types, runsFirst, true);
  for (auto [block, loop] : {std::pair(branch.thenBlock(), first),
                             std::pair(branch.elseBlock(), last)}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    if (failed(emit(loop)))
      return failure();
    SmallVector<Value> results(pending.carried);
    results.push_back(pending.operand);
    scf::YieldOp::create(b, loc, results);
  }
  pending.carried = llvm::to_vector_of<Value>(branch.getResults().drop_back());
  pending.operand = branch.getResults().back();
  return success();
}

/// All loops as one pipeline: the first step alone, every further one beside
/// the product of the step before, the last product alone.
LogicalResult RoleKernel::emitLaggedLoops(IRMapping &mapping, Cursor &at) {
  scf::ForOp lastLoop = plan.loops.back();
  SmallVector<Value> lower, upper;
  Value first, exists, step, lastRuns, firstRuns;
  for (scf::ForOp loop : llvm::reverse(plan.loops)) {
    Value from = scalar(loop.getLowerBound(), mapping),
          to = scalar(loop.getUpperBound(), mapping);
    step = scalar(loop.getStep(), mapping);
    Value runs =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
    lastRuns = lastRuns ? lastRuns : runs;
    firstRuns = runs;
    first = first
                ? arith::SelectOp::create(b, loc, runs, from, first).getResult()
                : from;
    exists =
        exists ? arith::OrIOp::create(b, loc, exists, runs).getResult() : runs;
    lower.insert(lower.begin(), from);
    upper.insert(upper.begin(), to);
  }
  SmallVector<Value> inits;
  for (Value init : plan.loops.front().getInitArgs())
    inits.push_back(mapping.lookup(init));
  auto speculated = softmax.find(lastLoop);
  if (speculated != softmax.end())
    inits[speculated->second.sum] = SplatOp::create(
        b, loc, partialType,
        arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
  inits.append({at.stage, at.parity});
  auto branch =
      scf::IfOp::create(b, loc, ValueRange(inits).getTypes(), exists, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Pending pending;
    if (failed(emitFirstStep(first, at, firstRuns, inits, mapping, pending)))
      return failure();
    Cursor next = advance(at, stages);
    Value second = add(first, step);
    for (auto [loop, from, to] : llvm::zip_equal(plan.loops, lower, upper)) {
      SmallVector<Value> carried(pending.carried);
      for (Value v : {pending.operand, pending.index, pending.at.stage,
                      pending.at.parity, next.stage, next.parity})
        carried.push_back(v);
      auto steps = scf::ForOp::create(
          b, loc, arith::MaxSIOp::create(b, loc, from, second), to, step,
          carried);
      auto unpack = [&](ValueRange values) {
        size_t n = pending.carried.size();
        pending.carried.assign(values.begin(), values.begin() + n);
        pending.operand = values[n];
        pending.index = values[n + 1];
        pending.at = {values[n + 2], values[n + 3]};
        next = {values[n + 4], values[n + 5]};
      };
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToEnd(steps.getBody());
        unpack(steps.getRegionIterArgs());
        Pending after;
        if (failed(emitStep(loop, steps.getInductionVar(), next, pending,
                            mapping, after)))
          return failure();
        Cursor afterNext = advance(next, stages);
        SmallVector<Value> yields(after.carried);
        for (Value v : {after.operand, after.index, after.at.stage,
                        after.at.parity, afterNext.stage, afterNext.parity})
          yields.push_back(v);
        scf::YieldOp::create(b, loc, yields);
      }
      unpack(steps.getResults());
    }
    // Where the last loop has not run, all rows are present.
    Value product = startLagged(
        lastLoop, pending, awaitLagged(lastLoop, pending, mapping, lastRuns));
    SmallVector<Value> results(pending.carried);
    results[laggedResult] =
        WgmmaWaitOp::create(b, loc, product.getType(), product, 0);
    ArriveOp::create(b, loc,
                     streamed[*streamedBy(lastLoop, lagged[lastLoop])].empty,
                     pending.at.stage, true);
    results.append({next.stage, next.parity});
    scf::YieldOp::create(b, loc, results);
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, inits);
  }
  for (auto [from, to] : llvm::zip(lastLoop.getResults(), branch.getResults()))
    mapping.map(from, to);
  at = {branch.getResults().drop_back().back(), branch.getResults().back()};
  if (speculated != softmax.end()) {
    const OnlineSoftmax &softmaxStep = speculated->second;
    mapping.map(lastLoop.getResult(softmaxStep.sum),
                ReduceOp::create(b, loc, convert(softmaxStep.newSum.getType()),
                                 tile::Combine::Add,
                                 branch.getResult(softmaxStep.sum),
                                 softmaxStep.over, ValueRange()));
  }
  return success();
}

} // namespace selvedge::schedule
