// Loops of which a step is finished before the next.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/RoleKernel.h"

#include "mlir/Analysis/SliceAnalysis.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::sm;

namespace {

/// In which order the operations of a step are emitted: first what copied tiles
/// and memory alone decide, so that products run and vectors arrive while
/// nothing waits for them. Of a step with masks all but the first product stay
/// where they are: conditions take the registers of their sums.
class StepOrder {
public:
  explicit StepOrder(scf::ForOp loop) : loop(loop) {
    bool isMasked =
        llvm::any_of(loop.getBody()->getOps<MmaOp>(),
                     [](MmaOp mma) { return !mma.getPresence().empty(); });
    for (Operation &op : loop.getBody()->without_terminator())
      if (auto mma = dyn_cast<MmaOp>(op);
          mma && isFree(mma) && (first.empty() || !isMasked))
        first.push_back(mma);
      else if (auto load = dyn_cast<LoadOp>(op); load && isSmall(load))
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
        mapping(mapping), readers(copies.size()) {
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
    mapping.map(mma.getResult(), kernel.startProduct(mma, mapping));
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

  /// The n-th product. Those before it have been finished by then, too, but
  /// registers are read behind a wait of their own.
  void finish(size_t n) {
    if (!waited.insert(n).second)
      return;
    Value result = started[n].getResult(), flight = mapping.lookup(result);
    mapping.map(result, WgmmaWaitOp::create(kernel.b, started[n].getLoc(),
                                            flight.getType(), flight,
                                            started.size() - 1 - n)
                            .getResult());
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
  SmallVector<MmaOp> started;
  llvm::SmallDenseSet<size_t> waited;
  size_t finished = 0;
};

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
    for (MmaOp mma : order.firstProducts())
      products.start(mma);
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto mma = dyn_cast<MmaOp>(op);
      if (order.isEarly(&op) ||
          (mma && llvm::is_contained(order.firstProducts(), mma)))
        continue;
      products.finishFor(op);
      if (mma)
        products.start(mma);
      else if (failed(emitOp(op, local)))
        return failure();
    }
    products.finishAll();
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
