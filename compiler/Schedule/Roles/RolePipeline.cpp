// Loops in which one product lags a step behind the others.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Roles/RoleKernel.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// The copy that the lagged product of a loop reads, and what its tile is meant
/// to hold. The tile may be that of an earlier loop: the last one tests every
/// predicate and so says what exists of any tile.
RoleKernel::StepTile RoleKernel::laggedTile(scf::ForOp loop, Value index,
                                            const IRMapping &mapping) {
  // planRoles() admits products of streamed tiles only.
  size_t ring = *schedule.streamedBy(loop, schedule.lagged[loop]);
  scf::ForOp last = plan.loops.back();
  IRMapping local = mapping;
  local.map(loop.getInductionVar(), index);
  local.map(last.getInductionVar(), index);
  return {&plan.streamed.find(loop)->second[ring],
          &streamed[ring],
          {&plan.streamed.find(last)->second[ring]},
          local};
}

/// The tile of the pending product, whose step has cleared absent rows.
Value RoleKernel::awaitLagged(scf::ForOp loop, const Pending &pending,
                              const IRMapping &mapping) {
  StepTile tile = laggedTile(loop, pending.index, mapping);
  size_t ring = *schedule.streamedBy(loop, schedule.lagged[loop]);
  bool hasCome = llvm::all_of(plan.loops, [&](scf::ForOp any) {
    // And so in its first step.
    return schedule.comesWithTurn(any, ring, /*inFirst=*/false);
  });
  return awaitTile(*tile.copy, *tile.ring, pending.at, tile.mapping, tile.meant,
                   hasCome);
}

Value RoleKernel::startLagged(scf::ForOp loop, const Pending &pending,
                              Value slot) {
  MmaOp mma = schedule.lagged[loop];
  bool isLeft = schedule.laggedOperand(loop) == mma.getLhs();
  return WgmmaOp::create(
      b, loc, typeOfWarpgroup(mma.getType()), isLeft ? pending.operand : slot,
      isLeft ? slot : pending.operand,
      pending.isFresh ? Value() : pending.carried[schedule.laggedResult],
      mma.getOverAttr(), ValueRange());
}

/// Whether a tile's first step has two bodies: that of the last loop fits any
/// step. Where tiles are one pipeline it comes seldom without another's end;
/// and from the last step to the first it is masked nearly always if what rows
/// see ends one after the other. Of windows both bodies are masked, and one is
/// enough; where their loops are not joined it would be 4 % slower (D 64).
bool RoleKernel::hasTwoBodies(const Pending *before) {
  if (plan.loops.size() == 1 || (schedule.isPipelined() && !before) ||
      schedule.joinsLoops())
    return false;
  return !schedule.isBackward() || !schedule.endsByRow();
}

/// Starts the products of a step that need nothing of it, and beside them the
/// lagged product of the step before; the latter's tile is that of `earlier`.
/// Returns the lagged product, which is still in flight. A tile's first step
/// comes with its `steps`, and while its products run the tile after `mail` is
/// received.
FailureOr<Value> RoleKernel::emitFront(scf::ForOp loop, Value index, Cursor at,
                                       const Pending *before,
                                       const IRMapping &earlier,
                                       IRMapping &mapping,
                                       const TileSteps *steps, Mail *mail) {
  MmaOp last = schedule.lagged[loop];
  SmallVector<BulkCopy> &copies = plan.streamed.find(loop)->second;
  auto ringOf = [&](MmaOp mma) { return schedule.streamedBy(loop, mma); };
  struct Started {
    MmaOp mma;
    Value lhs, rhs, result;
  };
  auto meantIn = [&](size_t ring) {
    Meant meant{&copies[ring]};
    if (steps && hasTwoBodies(before)) {
      meant.first = &plan.streamed.find(plan.loops.front())->second[ring];
      meant.isFirst = steps->isOfFirst;
    }
    return meant;
  };
  // The first warpgroup clears rows before its turn.
  SmallVector<StepTile> tiles;
  for (auto mma : loop.getBody()->getOps<MmaOp>())
    if (std::optional<size_t> ring = ringOf(mma); ring && mma != last)
      tiles.push_back(
          {&copies[*ring], &streamed[*ring], meantIn(*ring), mapping});
  tiles.push_back(laggedTile(loop, index, mapping));
  clearTiles(tiles, at, /*inFirst=*/steps != nullptr, /*isBeforeTurn=*/true);
  SmallVector<Started> started;
  for (auto mma : loop.getBody()->getOps<MmaOp>()) {
    if (mma == last)
      continue;
    if (std::optional<size_t> ring = ringOf(mma))
      slots[copies[*ring].copy.getBuffer()] =
          awaitTile(copies[*ring], streamed[*ring], at, mapping, meantIn(*ring),
                    schedule.comesWithTurn(loop, *ring, steps != nullptr));
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
  // The warps meet at their turn: here, too, after the stores before.
  if (areStoresDrained)
    TmaDrainOp::create(b, loc, /*written=*/false);
  awaitTurn();
  for (Started &product : started)
    product.result = WgmmaOp::create(
        b, loc, typeOfWarpgroup(product.mma.getType()), product.lhs,
        product.rhs, Value(), product.mma.getOverAttr(),
        presenceOf(product.mma.getPresence(), mapping));
  // Awaited when the others run.
  Value product;
  if (before)
    product = startLagged(loop, *before, awaitLagged(loop, *before, earlier));
  if (mail)
    *mail = receiveTile(mail->next, /*isSingle=*/false);
  for (auto &[mma, lhs, rhs, value] : started)
    mapping.map(mma.getResult(), WgmmaWaitOp::create(b, loc, value.getType(),
                                                     value, product ? 1 : 0)
                                     .getResult());
  // Others wait for the turn more than for a slot; a tile's first step, which
  // shares its time with the end of another, is faster so.
  auto release = [&] {
    for (const Started &done : started)
      if (std::optional<size_t> ring = ringOf(done.mma)) {
        ArriveOp::create(b, loc, streamed[*ring].empty, at.stage, true);
        slots.erase(copies[*ring].copy.getBuffer());
      }
  };
  if (steps)
    release();
  passTurn();
  if (schedule.isLongBehindTurn(loop))
    keepTurnFirst(/*inFlight=*/true);
  if (!steps)
    release();
  return product;
}

/// The lagged product `started`, whose tile is no longer needed then. With
/// `fold` it is awaited behind the first part of that.
Value RoleKernel::finishLagged(scf::ForOp loop, Value started,
                               const Pending &pending, Value fold) {
  if (fold)
    AfterOp::create(b, loc, fold);
  Value product = WgmmaWaitOp::create(b, loc, started.getType(), started, 0);
  releaseLagged(loop, pending);
  return product;
}

void RoleKernel::releaseLagged(scf::ForOp loop, const Pending &pending) {
  ArriveOp::create(
      b, loc, streamed[*schedule.streamedBy(loop, schedule.lagged[loop])].empty,
      pending.at.stage, true);
}

/// Everything of a step but its products. The carried values are mapped; the
/// first step of a tile has no maximum to speculate on. `meet` is emitted where
/// the step must not go on beside another product: before there are weights.
/// Where `isWhole` is true scores need no mask.
LogicalResult RoleKernel::emitRest(scf::ForOp loop, bool isFirst,
                                   IRMapping &mapping, Pending &after,
                                   Meet meet, Value isWhole) {
  auto found = schedule.softmax.find(loop);
  // They come in a branch.
  llvm::SmallPtrSet<Operation *, 16> masking;
  if (isWhole)
    masking = findMasking(loop);
  if (found == schedule.softmax.end())
    meet(Value());
  auto isSoftmax = [&](Operation &op) {
    return found != schedule.softmax.end() && found->second.isPart(&op);
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
      if (!emitted && !isFirst) {
        emitSoftmax(found->second, loop, mapping, meet, isWhole);
      } else if (!emitted) {
        Exponents exponents = findExponents(found->second, loop, mapping);
        maskScores(exponents);
        emitExactSoftmax(found->second, loop, exponents, mapping, isFirst,
                         meet);
      }
      emitted = true;
    } else if (auto read = dyn_cast<ReadOp>(op)) {
      emitRead(read, after.at, mapping);
    } else if (!isa<MmaOp>(op) && !masking.contains(&op) &&
               !(isa<SplatOp>(op) && mapping.contains(op.getResult(0))) &&
               failed(emitOp(op, mapping))) {
      return failure();
    }
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  after.carried.clear();
  for (auto [i, v] : llvm::enumerate(yield.getResults()))
    after.carried.push_back(valueOf(
        i == schedule.laggedResult ? schedule.lagged[loop].getInit() : v,
        mapping));
  after.operand = valueOf(schedule.laggedOperand(loop), mapping);
  // The product comes when the predicates of this step are gone.
  MmaOp last = schedule.lagged[loop];
  if (!last.getPresence().empty())
    ContributesOp::create(b, loc, after.operand, last.getOverAttr(),
                          presenceOf(last.getPresence(), mapping));
  return success();
}

/// One further step of a tile.
LogicalResult RoleKernel::emitStep(scf::ForOp loop, Value index, Cursor at,
                                   const Pending &before, IRMapping mapping,
                                   Pending &after, Value isWhole) {
  // Scalars of this step, which `mapping` gets, are not those of the one
  // before.
  const IRMapping earlier = mapping;
  mapping.map(loop.getInductionVar(), index);
  claimWhole(loop, index, mapping);
  if (schedule.masksInBranch(loop))
    isWhole = wholeStep(loop, mapping);
  FailureOr<Value> started =
      emitFront(loop, index, at, &before, earlier, mapping);
  if (failed(started))
    return failure();
  for (auto [argument, value] :
       llvm::zip_equal(loop.getRegionIterArgs(), before.carried))
    mapping.map(argument, value);
  after.index = index;
  after.at = at;
  auto meet = [&](Value fold) {
    mapping.map(loop.getRegionIterArg(schedule.laggedResult),
                finishLagged(loop, *started, before, fold));
    if (plan.warpgroups > 2 && !fold && !schedule.isLongBehindTurn(loop))
      keepTurnFirst(/*inFlight=*/false);
  };
  return emitRest(loop, /*isFirst=*/false, mapping, after, meet, isWhole);
}

SmallVector<Value> RoleKernel::initialValues(IRMapping &mapping) {
  SmallVector<Value> inits;
  for (Value init : plan.loops.front().getInitArgs())
    inits.push_back(valueOf(init, mapping));
  if (auto found = schedule.softmax.find(plan.loops.back());
      found != schedule.softmax.end())
    inits[found->second.sum] = SplatOp::create(
        b, loc, schedule.partialType,
        arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0)));
  return inits;
}

void RoleKernel::yieldStep(const Pending &pending, ValueRange more) {
  SmallVector<Value> results(pending.carried);
  results.push_back(pending.operand);
  llvm::append_range(results, more);
  scf::YieldOp::create(b, loc, results);
}

ValueRange RoleKernel::takeStep(scf::IfOp branch, Pending &pending) {
  ValueRange results = branch.getResults();
  size_t n = pending.carried.size();
  pending.carried = llvm::to_vector(results.take_front(n));
  pending.operand = results[n];
  return results.drop_front(n + 1);
}

/// The first step of a tile. Beside all of it runs the last product of the tile
/// before, `before`; `finish` is emitted with its result.
///
/// The step has the body of the first loop if that has it, else that of the
/// last, which tests every predicate and so fits any step.
LogicalResult RoleKernel::emitFirstStep(
    const TileSteps &steps, Cursor at, const Pending *before,
    const IRMapping &earlier, llvm::function_ref<LogicalResult(Value)> finish,
    const IRMapping &mapping, Pending &pending, Mail &mail) {
  scf::ForOp first = plan.loops.front(), last = plan.loops.back();
  IRMapping local = mapping;
  local.map(last.getInductionVar(), steps.first);
  local.map(first.getInductionVar(), steps.first);
  SmallVector<Value> inits = initialValues(local);
  FailureOr<Value> started =
      emitFront(last, steps.first, at, before, earlier, local, &steps, &mail);
  if (failed(started))
    return failure();
  Value product;
  auto meet = [&](Value) {
    if (before)
      product = finishLagged(last, *started, *before);
  };
  pending.index = steps.first;
  pending.at = at;
  auto emit = [&](scf::ForOp loop) {
    IRMapping body = local;
    body.map(loop.getInductionVar(), steps.first);
    claimWhole(loop, steps.first, body);
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), inits))
      body.map(argument, init);
    for (auto [from, to] : llvm::zip_equal(last.getBody()->getOps<MmaOp>(),
                                           loop.getBody()->getOps<MmaOp>()))
      if (Value result = local.lookupOrNull(from.getResult()))
        body.map(to.getResult(), result);
    return emitRest(loop, /*isFirst=*/true, body, pending, meet);
  };
  if (!hasTwoBodies(before)) {
    if (failed(emit(last)))
      return failure();
    return before ? finish(product) : success();
  }
  SmallVector<Type> types(ValueRange(inits).getTypes());
  types.push_back(typeOfWarpgroup(schedule.laggedOperand(last).getType()));
  if (before)
    types.push_back(started->getType());
  auto branch = scf::IfOp::create(b, loc, types, steps.isOfFirst, true);
  for (auto [block, loop] : {std::pair(branch.thenBlock(), first),
                             std::pair(branch.elseBlock(), last)}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    if (failed(emit(loop)))
      return failure();
    yieldStep(pending, before ? ValueRange(product) : ValueRange());
  }
  ValueRange more = takeStep(branch, pending);
  return before ? finish(more.front()) : success();
}

/// The last product of a tile, with nothing beside it.
Value RoleKernel::emitLastProduct(const Pending &pending,
                                  const IRMapping &mapping) {
  scf::ForOp last = plan.loops.back();
  Value started =
      startLagged(last, pending, awaitLagged(last, pending, mapping));
  return WgmmaWaitOp::create(b, loc, started.getType(), started, 0);
}

/// Maps the results of the last loop to the values that its steps have left.
void RoleKernel::mapResults(ArrayRef<Value> carried, IRMapping &mapping) {
  scf::ForOp last = plan.loops.back();
  for (auto [from, to] : llvm::zip_equal(last.getResults(), carried))
    mapping.map(from, to);
  auto found = schedule.softmax.find(last);
  if (found == schedule.softmax.end())
    return;
  const OnlineSoftmax &step = found->second;
  mapping.map(last.getResult(step.max), naturalMax(carried[step.max]));
  mapping.map(last.getResult(step.sum),
              ReduceOp::create(b, loc, typeOfWarpgroup(step.newSum.getType()),
                               tile::Combine::Add, carried[step.sum], step.over,
                               ValueRange()));
}

/// All loops of a tile: the first step alone, every further one beside the
/// product of the step before, the last product alone. Resident operands are
/// released before it, so that the next tile's come meanwhile.
LogicalResult RoleKernel::emitLaggedLoops(IRMapping &mapping, Cursor &at,
                                          Mail &mail,
                                          llvm::function_ref<void()> release) {
  TileSteps steps = findSteps(mapping, /*ofWarpgroup=*/true);
  SmallVector<Value> values = initialValues(mapping);
  size_t n = values.size();
  values.append({at.stage, at.parity});
  values.append(pack(mail));
  Cursor place = mail.next;
  auto branch = scf::IfOp::create(b, loc, ValueRange(values).getTypes(),
                                  steps.exists, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Pending pending;
    Cursor next = advance(at, schedule.stages);
    if (failed(emitFirstStep(steps, at, nullptr, mapping, {}, mapping, pending,
                             mail)) ||
        failed(emitFurtherSteps(steps, mapping, pending, next)))
      return failure();
    emitIdleSteps(steps, mapping, next);
    release();
    SmallVector<Value> results(pending.carried);
    results[schedule.laggedResult] = emitLastProduct(pending, mapping);
    releaseLagged(plan.loops.back(), pending);
    results.append({next.stage, next.parity});
    results.append(pack(mail));
    scf::YieldOp::create(b, loc, results);
    b.setInsertionPointToStart(branch.elseBlock());
    release();
    values.truncate(n + 2);
    values.append(pack(receiveTile(place, /*isSingle=*/false)));
    scf::YieldOp::create(b, loc, values);
  }
  SmallVector<Value> results(branch.getResults());
  at = {results[n], results[n + 1]};
  mail = unpackMail(branch.getResults().drop_front(n + 2));
  mapResults(ArrayRef(results).take_front(n), mapping);
  return success();
}

} // namespace selvedge::schedule
