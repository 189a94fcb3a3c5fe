// Loops of which a step is finished before the next.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Layouts/SpreadVectors.h"
#include "compiler/Schedule/Layouts/SumRegisters.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Schedule/Roles/RoleStepOrder.h"
#include "compiler/Schedule/Roles/RoleStepProducts.h"
#include "compiler/Schedule/Roles/StagedLoads.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

/// Of a step with a product that crosses warpgroups: sums that the step only
/// hands on start when the operands of all of them are there, which then take
/// the registers of what they are made of. Those that cross come before the
/// last one, beside which their results leave. How many operations come before
/// all of these.
size_t RoleKernel::putProductsLast(SmallVectorImpl<Operation *> &ops) const {
  SmallVector<Operation *> first, products, crossing, after;
  for (Operation *op : ops) {
    bool isHandedOn =
        isa<MmaOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<scf::YieldOp, StoreOp>(user);
        });
    bool isAfter = isa<StoreOp>(op);
    (!isHandedOn           ? isAfter ? after : first
     : plan.crossingOf(op) ? crossing
                           : products)
        .push_back(op);
  }
  if (!products.empty()) {
    crossing.push_back(products.back());
    products.pop_back();
  }
  narrowLate(first);
  chooseLate(first);
  ops = std::move(first);
  size_t before = ops.size();
  for (auto *part : {&products, &crossing, &after})
    llvm::append_range(ops, *part);
  return before;
}

LogicalResult RoleKernel::emitStepOp(Operation &op, StepProducts &products,
                                     const Vectors &vectors, Cursor at,
                                     IRMapping &mapping) {
  // Barriers of the warps of form seq: those of roles meet elsewhere.
  if (isa<BarrierOp>(op))
    return success();
  // Lanes that store part: no product may be in flight.
  if (isa<StoreOp>(op))
    products.finishAll();
  products.finishFor(op);
  if (Value early = vectors.lookup(&op);
      early && useSpread(cast<LoadOp>(op), early, mapping))
    return success();
  else if (isWholeBranch(op))
    return emitWholeBranch(cast<scf::IfOp>(op), products, vectors, at, mapping);
  else if (auto whole = dyn_cast<WholeOp>(op))
    WholeOp::create(b, loc, presenceOf(whole.getPresence(), mapping));
  else if (auto read = dyn_cast<ReadOp>(op))
    emitStepRead(read, products, at, mapping);
  else if (auto mma = dyn_cast<MmaOp>(op))
    products.start(mma);
  else if (const RoleCrossing *crossing = plan.crossingOf(&op))
    emitCrossingStage(*crossing, at, mapping);
  else
    return emitOp(op, mapping);
  return success();
}

/// Vectors that copies bring to a step. All is read ahead of the step's
/// products that finds registers beside them: behind products in flight an
/// access takes some 250 cycles, and ptxas would have a product that starts at
/// what is read then wait for the one before. Of others only the slots are
/// named here.
void RoleKernel::readVectors(scf::ForOp loop, ArrayRef<MmaOp> products,
                             StepProducts &step, Cursor at,
                             IRMapping &mapping) {
  // They come with the tile that the first of such products reads.
  auto *bringing = llvm::find_if(products, [&](MmaOp mma) {
    return schedule.streamedBy(loop, mma) == schedule.firstRead();
  });
  if (!schedule.readsVectors() || bringing == products.end())
    return;
  step.awaitTiles(*bringing);
  llvm::MapVector<Value, SmallVector<ReadOp>> reads;
  loop.getBody()->walk([&](ReadOp read) {
    if (read.getBuffer().getType().isVector())
      reads[read.getBuffer()].push_back(read);
  });
  bool isFirst = true;
  for (auto &[buffer, ofBuffer] : reads) {
    ReadOp read = ofBuffer.front();
    vectorSlot(read, at, mapping);
    bool isStart =
        llvm::any_of(products, [&](MmaOp mma) { return startOf(mma) == read; });
    if (!isStart && !schedule.crossingsAreLate &&
        read.getBuffer().getType().getLead())
      spreadReads[buffer] = readSpread(read, at, mapping);
    if (!isStart && !(std::exchange(isFirst, false) &&
                      fitsBesideSums(typeOfWarpgroup(read.getType()))))
      continue;
    emitRead(read, at, mapping);
    for (ReadOp same : ofBuffer)
      mapping.map(same.getResult(), mapping.lookup(read.getResult()));
  }
  for (MmaOp mma : products)
    if (startOf(mma))
      cloneConverted(*mma.getInit().getDefiningOp(), mapping);
}

/// Whether an operation is a read, or repeats what is read, that readVectors()
/// has emitted.
static bool isReadEarly(Operation &op, const IRMapping &mapping) {
  auto repeated = dyn_cast<BroadcastOp>(op);
  bool isOfRead = isa<ReadOp>(op) ||
                  (repeated && repeated.getSource().getDefiningOp<ReadOp>());
  return isOfRead && mapping.contains(op.getResult(0));
}

/// A few elements of a vector per lane, behind which lanes get those that they
/// compute with from each other: where it may begin anywhere that takes half as
/// many accesses to shared memory. Null where lanes have no such elements.
Value RoleKernel::readSpread(ReadOp read, Cursor at, IRMapping &mapping) {
  Type spread = spreadType(typeOfWarpgroup(read.getType()));
  return spread ? ReadOp::create(b, read.getLoc(), spread,
                                 vectorSlot(read, at, mapping))
                      .getResult()
                : Value();
}

/// Elements that take registers which products in flight need are read behind
/// those: the ones that their first users wait for.
void RoleKernel::emitStepRead(ReadOp read, StepProducts &products, Cursor at,
                              IRMapping &mapping) {
  if (read.getBuffer().getType().isVector() &&
      !fitsBesideSums(typeOfWarpgroup(read.getType())))
    for (Operation *user : read->getUsers())
      if (isa<BroadcastOp>(user))
        for (Operation *computed : user->getUsers())
          products.finishFor(*computed);
  emitRead(read, at, mapping);
}

/// Loads the vectors of a block that nothing has loaded yet.
void RoleKernel::loadVectors(Block &block, Vectors &vectors,
                             IRMapping &mapping) {
  for (auto load : block.getOps<LoadOp>())
    if (Value early =
            mapping.contains(load.getResult()) || vectors.contains(load)
                ? Value()
                : loadSpread(load, mapping))
      vectors[load] = early;
}

/// What one side of a branch computes. Vectors that the step before has not
/// loaded are loaded at its start.
LogicalResult RoleKernel::emitSide(Block &side, StepProducts &products,
                                   Vectors vectors, Cursor at,
                                   IRMapping &mapping) {
  loadVectors(side, vectors, mapping);
  SmallVector<Operation *> ops;
  for (Operation &op : side.without_terminator())
    if (!isReadEarly(op, mapping) &&
        (!isa<LoadOp>(op) || !mapping.contains(op.getResult(0))))
      ops.push_back(&op);
  narrowLate(ops, /*pastChoices=*/true);
  chooseLate(ops);
  for (Operation *op : ops)
    if (failed(emitStepOp(*op, products, vectors, at, mapping)))
      return failure();
  products.finishAll();
  scf::YieldOp::create(
      b, loc,
      llvm::map_to_vector(side.getTerminator()->getOperands(),
                          [&](Value v) { return valueOf(v, mapping); }));
  return success();
}

/// Each side finishes all products that run.
LogicalResult RoleKernel::emitWholeBranch(scf::IfOp source,
                                          StepProducts &products,
                                          const Vectors &vectors, Cursor at,
                                          IRMapping &mapping) {
  SmallVector<Type> types =
      llvm::map_to_vector(source.getResultTypes(),
                          [&](Type type) { return typeOfWarpgroup(type); });
  auto branch = scf::IfOp::create(b, loc, types,
                                  scalar(source.getCondition(), mapping), true);
  const StepProducts before = products;
  const IRMapping known = mapping;
  for (auto [from, to] : {std::pair(source.thenBlock(), branch.thenBlock()),
                          std::pair(source.elseBlock(), branch.elseBlock())}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    products.goBackTo(before);
    mapping = known;
    if (failed(emitSide(*from, products, vectors, at, mapping)))
      return failure();
  }
  mapping = known;
  mapping.map(source.getResults(), branch.getResults());
  return success();
}

/// The operations of a step of `loop`, which `steps` executes: what they find
/// is known to `mapping` then. Values of the next step, which `ahead` loads.
FailureOr<SmallVector<Value>>
RoleKernel::emitWholeStep(scf::ForOp loop, scf::ForOp steps, Cursor at,
                          ArrayRef<LoadOp> ahead, ValueRange loaded,
                          IRMapping &outside, IRMapping &mapping) {
  StepOrder order(loop);
  StepProducts products(*this, loop, at, mapping);
  llvm::SmallPtrSet<Operation *, 16> emitted;
  for (Operation &op : loop.getBody()->without_terminator())
    if (order.isEarly(&op)) {
      emitted.insert(&op);
      if (failed(emitOp(op, mapping)))
        return failure();
    }
  Vectors vectors;
  for (auto [load, value] : llvm::zip_equal(ahead, loaded))
    vectors[load] = value;
  // Elements of the first are on their way to lanes while products run, unless
  // they take registers that those need.
  LoadOp first = ahead.empty() ? LoadOp() : ahead.front();
  if (first && fitsBesideSums(typeOfWarpgroup(first.getType())) &&
      useSpread(first, vectors[first], mapping))
    emitted.insert(first);
  bool crosses = !plan.crossings[loop].empty();
  auto start = [&](ArrayRef<MmaOp> some) {
    for (MmaOp mma : some) {
      products.start(mma);
      emitted.insert(mma);
    }
  };
  // Where all meet to clear rows, none may await its turn.
  bool meets = llvm::any_of(plan.streamed[loop], [&](const BulkCopy &copy) {
    return schedule.isCleared(copy, /*inFirst=*/true);
  });
  if (meets)
    passTurnOfStepBefore(loop, steps);
  // Vectors are needed behind the first product, and their addresses take time.
  ArrayRef<MmaOp> free = order.firstProducts();
  readVectors(loop, free, products, at, mapping);
  size_t beforeVectors = std::min<size_t>(1, free.size());
  start(free.take_front(beforeVectors));
  if (!meets)
    passTurnOfStepBefore(loop, steps);
  if (crosses)
    loadVectors(*loop.getBody(), vectors, mapping);
  start(free.drop_front(beforeVectors));
  SmallVector<Operation *> rest;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!emitted.contains(&op) && !isReadEarly(op, mapping))
      rest.push_back(&op);
  size_t beforeLast = crosses ? putProductsLast(rest) : rest.size();
  ArrayRef<Operation *> now = rest, tail;
  if (schedule.crossingsAreLate) {
    tail = now.drop_front(beforeLast);
    now = now.take_front(beforeLast);
  }
  for (Operation *op : now)
    if (failed(emitStepOp(*op, products, vectors, at, mapping)))
      return failure();
  SmallVector<Value> next = nextVectors(ahead, loop, steps, outside);
  if (schedule.crossingsAreLate)
    emitLateTail(tail, steps, at, products, outside, mapping);
  products.finishAll();
  products.forgetTiles();
  return next;
}

LogicalResult RoleKernel::emitLoop(scf::ForOp loop, IRMapping &mapping,
                                   Cursor &step) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(valueOf(init, mapping));
  inits.append({step.stage, step.parity});
  Value from = scalar(loop.getLowerBound(), mapping),
        to = scalar(loop.getUpperBound(), mapping),
        by = scalar(loop.getStep(), mapping);
  SmallVector<LoadOp> ahead = vectorsAhead(loop);
  llvm::append_range(inits, firstVectors(ahead, loop, from, to, mapping));
  auto steps = scf::ForOp::create(b, loop.getLoc(), from, to, by, inits);
  unsigned carried = loop.getInitArgs().size();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(steps.getBody());
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), steps.getInductionVar());
    ValueRange args = steps.getRegionIterArgs();
    local.map(loop.getRegionIterArgs(), args.take_front(carried));
    Cursor at{args[carried], args[carried + 1]};
    FailureOr<SmallVector<Value>> next = emitWholeStep(
        loop, steps, at, ahead, args.drop_front(carried + 2), mapping, local);
    if (failed(next))
      return failure();
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(valueOf(v, local));
    Cursor after = advance(at, schedule.stages);
    yields.append({after.stage, after.parity});
    llvm::append_range(yields, *next);
    scf::YieldOp::create(b, loc, yields);
  }
  mapping.map(loop.getResults(), steps.getResults().take_front(carried));
  step = {steps.getResult(carried), steps.getResult(carried + 1)};
  if (schedule.crossingsAreLate)
    emitLastCrossings(loop, steps, step, mapping);
  return success();
}

/// The loops of a nest, once per step of its own.
LogicalResult RoleKernel::emitNest(scf::ForOp nest, IRMapping &mapping,
                                   Cursor &step) {
  SmallVector<Value> inits;
  for (Value init : nest.getInitArgs())
    inits.push_back(valueOf(init, mapping));
  inits.append({step.stage, step.parity});
  auto steps = scf::ForOp::create(b, nest.getLoc(),
                                  scalar(nest.getLowerBound(), mapping),
                                  scalar(nest.getUpperBound(), mapping),
                                  scalar(nest.getStep(), mapping), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(steps.getBody());
  IRMapping local = mapping;
  local.map(nest.getInductionVar(), steps.getInductionVar());
  unsigned carried = nest.getInitArgs().size();
  for (auto [from, to] :
       llvm::zip(nest.getRegionIterArgs(), steps.getRegionIterArgs()))
    local.map(from, to);
  Cursor at{steps.getRegionIterArg(carried),
            steps.getRegionIterArg(carried + 1)};
  for (Operation &op : nest.getBody()->without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (failed(!loop                          ? emitOp(op, local)
               : plan.streamed.contains(loop) ? emitLoop(loop, local, at)
                                              : emitNest(loop, local, at)))
      return failure();
  }
  SmallVector<Value> yields;
  for (Value v :
       cast<scf::YieldOp>(nest.getBody()->getTerminator()).getResults())
    yields.push_back(valueOf(v, local));
  yields.append({at.stage, at.parity});
  scf::YieldOp::create(b, loc, yields);
  for (auto [from, to] : llvm::zip(nest.getResults(), steps.getResults()))
    mapping.map(from, to);
  step = {steps.getResult(carried), steps.getResult(carried + 1)};
  return success();
}

} // namespace selvedge::schedule
