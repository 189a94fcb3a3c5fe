// Loops of which a step is finished before the next.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include "mlir/Analysis/SliceAnalysis.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// Whether the step itself brings an operand to shared memory.
bool readsStaged(MmaOp mma) {
  auto isStaged = [](Value v) {
    return llvm::any_of(v.getUsers(), llvm::IsaPred<StageOp>);
  };
  return isStaged(mma.getLhs()) || isStaged(mma.getRhs());
}

/// In which order the operations of a step are emitted: first what copied tiles
/// and memory alone decide, so that products run and vectors arrive while
/// nothing waits for them. Of a step with masks all but the first product stay
/// where they are: conditions take the registers of their sums.
class StepOrder {
public:
  explicit StepOrder(scf::ForOp loop) : loop(loop) {
    bool isMasked =
        llvm::any_of(loop.getBody()->getOps<MmaOp>(), [](MmaOp mma) {
          return !mma.getPresence().empty() && !readsStaged(mma);
        });
    bool crosses = llvm::any_of(loop.getBody()->getOps<MmaOp>(), readsStaged);
    for (Operation &op : loop.getBody()->without_terminator())
      if (auto mma = dyn_cast<MmaOp>(op);
          mma && isFree(mma) && (first.empty() || !isMasked))
        first.push_back(mma);
      else if (auto load = dyn_cast<LoadOp>(op);
               load && isSmall(load) && !crosses)
        addEarly(load);
    for (MmaOp mma : first)
      for (Value operand : mma->getOperands())
        if (Operation *def = operand.getDefiningOp())
          addEarly(def);
  }

  /// Loads of vectors, and what they and the first products need.
  bool isEarly(Operation *op) const { return early.contains(op); }
  /// Products of copied tiles.
  ArrayRef<MmaOp> firstProducts() const { return first; }

private:
  /// A tile with several axes would take registers until it is needed, and so
  /// do conditions per element, of a loop's last step for one.
  static bool isSmall(LoadOp load) {
    DistAttr dist = distOf(load.getType());
    return (!dist || dist.getAxes().size() <= 1) &&
           llvm::none_of(load.getPresence(),
                         [](Value p) { return bool(distOf(p.getType())); });
  }

  bool isFree(MmaOp mma) {
    auto isThere = [&](Value v) {
      return loop.isDefinedOutsideOfLoop(v) || isa<BlockArgument>(v);
    };
    return isThere(mma.getLhs()) && isThere(mma.getRhs()) &&
           !readsStaged(mma) &&
           (isThere(mma.getInit()) || isSplat(mma.getInit(), 0));
  }

  /// Unless a product has to be finished first, or memory is written.
  void addEarly(Operation *op) {
    if (op->getBlock() != loop.getBody())
      return;
    llvm::SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.filter = [&](Operation *def) {
      return def->getBlock() == loop.getBody();
    };
    (void)getBackwardSlice(op, &slice, options);
    bool waits = llvm::any_of(slice, [](Operation *def) {
      return isa<MmaOp>(def) || !(isa<LoadOp>(def) || isMemoryEffectFree(def));
    });
    if (!waits)
      early.insert(slice.begin(), slice.end());
  }

  scf::ForOp loop;
  llvm::SmallPtrSet<Operation *, 16> early;
  SmallVector<MmaOp> first;
};

} // namespace

/// Products of a step that have been started, in order, and the tiles that
/// become free when they are finished.
class RoleKernel::StepProducts {
public:
  StepProducts(RoleKernel &kernel, scf::ForOp loop, Cursor at,
               IRMapping &mapping)
      : kernel(kernel), copies(kernel.plan.streamed.find(loop)->second), at(at),
        mapping(mapping), readers(copies.size()),
        crosses(!kernel.plan.crossings[loop].empty()) {
    for (auto mma : loop.getBody()->getOps<MmaOp>())
      for (auto [i, copy] : llvm::enumerate(copies))
        readers[i] += reads(mma, copy);
  }

  /// Awaits the tiles that a product is the first to read, and starts it.
  void start(MmaOp mma) {
    for (auto [i, copy] : llvm::enumerate(copies)) {
      Value buffer = copy.copy.getBuffer();
      if (reads(mma, copy) && !kernel.slots.lookup(buffer))
        kernel.slots[buffer] =
            kernel.clearedTile(copy, kernel.streamed[i], at, mapping);
    }
    const RoleCrossing *crossing = kernel.plan.crossingOf(mma);
    if (crossing && !std::exchange(hasMet, true))
      kernel.meetAtCrossing();
    mapping.map(mma.getResult(),
                crossing ? kernel.startCrossing(*crossing, at, mapping)
                         : kernel.startProduct(mma, mapping));
    started.push_back(mma);
  }

  /// Finishes the products whose results `op` needs.
  void finishFor(Operation &op) {
    for (size_t n = 0; n < started.size(); ++n)
      if (llvm::is_contained(op.getOperands(), started[n].getResult()))
        finish(n);
  }

  void finishAll() {
    for (size_t n = 0; n < started.size(); ++n)
      finish(n);
    for (BulkCopy &copy : copies)
      kernel.slots.erase(copy.copy.getBuffer());
  }

private:
  static bool reads(MmaOp mma, BulkCopy &copy) {
    Value buffer = copy.copy.getBuffer();
    return mma.getLhs() == buffer || mma.getRhs() == buffer;
  }

  /// The n-th product, and of a step with one that crosses warpgroups all that
  /// were started before it: they have been finished by then, too, and ptxas
  /// takes their registers for theirs until a wait has them. Elsewhere
  /// registers are read behind a wait of their own.
  void finish(size_t n) {
    size_t first = crosses ? 0 : n;
    for (size_t m = first; m <= n; ++m) {
      if (!waited.insert(m).second)
        continue;
      Value result = started[m].getResult(), flight = mapping.lookup(result);
      mapping.map(result, WgmmaWaitOp::create(kernel.b, started[m].getLoc(),
                                              flight.getType(), flight,
                                              started.size() - 1 - n)
                              .getResult());
    }
    for (; finished <= n; ++finished)
      for (auto [i, copy] : llvm::enumerate(copies))
        if (reads(started[finished], copy) && --readers[i] == 0)
          ArriveOp::create(kernel.b, kernel.loc, kernel.streamed[i].empty,
                           at.stage, true);
  }

  RoleKernel &kernel;
  SmallVector<BulkCopy> &copies;
  Cursor at;
  IRMapping &mapping;
  /// Per copy, the products that have still to read its tile.
  SmallVector<int64_t> readers;
  /// Whether some product crosses warpgroups, and these have met.
  bool crosses, hasMet = false;
  SmallVector<MmaOp> started;
  llvm::SmallDenseSet<size_t> waited;
  size_t finished = 0;
};

/// What products behind `ops` multiply is narrowed where nothing else needs it
/// any more: until then it would take registers twice.
static void narrowLate(SmallVectorImpl<Operation *> &ops) {
  for (size_t n = ops.size(); n-- > 0;) {
    auto narrow = dyn_cast<ConvertOp>(ops[n]);
    auto isNeededBy = [&](Value v, Operation *op) {
      return llvm::is_contained(v.getUsers(), op);
    };
    if (!narrow)
      continue;
    size_t last = n;
    for (size_t m = n + 1; m < ops.size(); ++m) {
      if (isNeededBy(narrow.getResult(), ops[m]))
        break;
      if (isNeededBy(narrow.getSource(), ops[m]))
        last = m;
    }
    std::rotate(ops.begin() + n, ops.begin() + n + 1, ops.begin() + last + 1);
  }
}

/// Of a step with a product that crosses warpgroups: sums that the step only
/// hands on start when the operands of all of them are there, which then take
/// the registers of what they are made of. Those that cross come before the
/// last one, beside which their results leave.
void RoleKernel::putProductsLast(SmallVectorImpl<Operation *> &ops) const {
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
  ops = std::move(first);
  for (auto *part : {&products, &crossing, &after})
    llvm::append_range(ops, *part);
}

LogicalResult RoleKernel::emitLoop(scf::ForOp loop, IRMapping &mapping,
                                   Cursor &step) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(valueOf(init, mapping));
  inits.push_back(step.stage);
  inits.push_back(step.parity);
  auto steps = scf::ForOp::create(b, loop.getLoc(),
                                  scalar(loop.getLowerBound(), mapping),
                                  scalar(loop.getUpperBound(), mapping),
                                  scalar(loop.getStep(), mapping), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(steps.getBody());
    IRMapping local = mapping;
    local.map(loop.getInductionVar(), steps.getInductionVar());
    for (auto [from, to] :
         llvm::zip(loop.getRegionIterArgs(), steps.getRegionIterArgs()))
      local.map(from, to);
    unsigned carried = loop.getInitArgs().size();
    Cursor at{steps.getRegionIterArg(carried),
              steps.getRegionIterArg(carried + 1)};
    StepOrder order(loop);
    StepProducts products(*this, loop, at, local);
    for (Operation &op : loop.getBody()->without_terminator())
      if (order.isEarly(&op) && failed(emitOp(op, local)))
        return failure();
    llvm::DenseMap<Operation *, Value> spread;
    if (!plan.crossings[loop].empty())
      for (auto load : loop.getBody()->getOps<LoadOp>())
        if (Value early = loadSpread(load, local))
          spread[load] = early;
    for (MmaOp mma : order.firstProducts())
      products.start(mma);
    auto rest = llvm::to_vector(llvm::make_filter_range(
        llvm::make_pointer_range(loop.getBody()->without_terminator()),
        [&](Operation *op) {
          auto mma = dyn_cast<MmaOp>(op);
          return !order.isEarly(op) &&
                 !(mma && llvm::is_contained(order.firstProducts(), mma));
        }));
    if (!plan.crossings[loop].empty())
      putProductsLast(rest);
    SmallVector<std::pair<const BulkAdd *, Value>> staged;
    for (Operation *next : rest) {
      Operation &op = *next;
      auto mma = dyn_cast<MmaOp>(op);
      // Barriers of the warps of form seq: those of roles meet elsewhere.
      if (isa<BarrierOp>(op))
        continue;
      const BulkAdd *sent = addOf(&op);
      // Lanes that store part: no product may be in flight.
      if (isa<StoreOp>(op) && !sent)
        products.finishAll();
      products.finishFor(op);
      if (sent)
        staged.push_back({sent, stageAdd(*sent, local)});
      else if (Value early = spread.lookup(&op);
               early && useSpread(cast<LoadOp>(op), early, local))
        continue;
      else if (mma)
        products.start(mma);
      else if (const RoleCrossing *crossing = plan.crossingOf(&op))
        emitCrossingStage(*crossing, at, local);
      else if (failed(emitOp(op, local)))
        return failure();
    }
    products.finishAll();
    for (auto [sent, slot] : staged)
      sendAdd(*sent, slot, local);
    SmallVector<Value> yields;
    for (Value v :
         cast<scf::YieldOp>(loop.getBody()->getTerminator()).getResults())
      yields.push_back(valueOf(v, local));
    Cursor next = advance(at, stages);
    yields.push_back(next.stage);
    yields.push_back(next.parity);
    scf::YieldOp::create(b, loc, yields);
  }
  for (auto [from, to] : llvm::zip(loop.getResults(), steps.getResults()))
    mapping.map(from, to);
  step = {steps.getResult(loop.getNumResults()),
          steps.getResult(loop.getNumResults() + 1)};
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
