// Comparison of a kernel with what a pass made of it, store by store.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Tile/SameResults.h"

#include "compiler/Verify/Tile/Differs.h"

#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::tile;

class SameResults::Cursor {
public:
  Cursor(Block &block, LaneValues &values, Stores &stores,
         ArrayRef<Passed> passed = {})
      : values(values), stores(stores), passed(passed) {
    places.emplace_back(block.begin(), nullptr);
  }

  /// Numbers what comes before; never past the end of the block.
  Operation *next() {
    while (true) {
      Operation *op = &*places.back().first++;
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && isSingleStep(loop))
        enter(loop);
      else if (auto yield = dyn_cast<scf::YieldOp>(op);
               yield && places.back().second)
        leave(yield);
      else if (op->getNumRegions() != 0 || isa<StoreOp>(op) ||
               op->hasTrait<OpTrait::IsTerminator>())
        return op;
      else if (auto load = dyn_cast<LoadOp>(op))
        visit(load);
      else if (isMemoryEffectFree(op))
        values.visit(op, 0);
      else
        return op;
    }
  }

private:
  /// Absent lanes of a load that fills nothing hold anything, and so may what
  /// was stored.
  void visit(LoadOp load) {
    LaneValues::Number tensor = values.of(load.getTensor());
    for (const Passed &stored : passed)
      if (stored.tensor == tensor && load.getFill() == Fill::Any &&
          stored.indices == values.of(load.getIndices()) &&
          stored.presence == values.ofPresence(load.getPresence()))
        return values.bind(load.getResult(), stored.value);
    values.visit(load, stores.lookup(tensor));
  }

  bool isSingleStep(scf::ForOp loop) {
    auto bound = [&](Value v) { return values.constantOf(values.of(v)); };
    std::optional<int64_t> low = bound(loop.getLowerBound()),
                           high = bound(loop.getUpperBound()),
                           step = bound(loop.getStep());
    return low && high && step && !loop.getUnsignedCmp() && *low < *high &&
           *high - *low <= *step;
  }

  void enter(scf::ForOp loop) {
    values.bind(loop.getInductionVar(), values.of(loop.getLowerBound()));
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
      values.bind(argument, values.of(init));
    places.emplace_back(loop.getBody()->begin(), loop);
  }

  void leave(scf::YieldOp yield) {
    scf::ForOp loop = places.pop_back_val().second;
    for (auto [result, value] :
         llvm::zip_equal(loop.getResults(), yield.getOperands()))
      values.bind(result, values.of(value));
  }

  LaneValues &values;
  Stores &stores;
  ArrayRef<Passed> passed;
  /// The operation to come in each block, and the loop whose step it is.
  SmallVector<std::pair<Block::iterator, scf::ForOp>> places;
};

void SameResults::bindSignature(ProgramOp program, KernelOp before,
                                KernelOp after) {
  unsigned shared = program.getNumSharedArgs();
  values.bind(before.getBody().getArguments().take_front(shared),
              after.getBody().getArguments().take_front(shared));
}

void SameResults::countStores(Operation *op, Stores &stores) {
  llvm::SmallSetVector<LaneValues::Number, 4> stored;
  op->walk([&](StoreOp store) { stored.insert(values.of(store.getTensor())); });
  for (LaneValues::Number tensor : stored)
    ++stores[tensor];
}

/// The axes whose lanes a store has.
static llvm::SmallSetVector<StringAttr, 4> axesOf(StoreOp store) {
  llvm::SmallSetVector<StringAttr, 4> axes;
  for (Value index : store.getIndices())
    axes.insert_range(tile::axesOf(index.getType()));
  return axes;
}

LogicalResult SameResults::compare(StoreOp before, StoreOp after) {
  auto [x, y] = std::pair(axesOf(before), axesOf(after));
  if (values.of(before.getTensor()) != values.of(after.getTensor()))
    return differs(before, after, "the tensor");
  if (x.size() != y.size() || !llvm::set_is_subset(x, y) ||
      values.of(before.getIndices()) != values.of(after.getIndices()))
    return differs(before, after, "the elements");
  if (values.ofPresence(before.getPresence()) !=
      values.ofPresence(after.getPresence()))
    return differs(before, after, "the presence");
  if (values.of(before.getValue()) != values.of(after.getValue()))
    return differs(before, after, "the value");
  countStores(before, storesBefore);
  countStores(after, storesAfter);
  return success();
}

LogicalResult SameResults::compareRegions(Operation *before, Operation *after) {
  if (before->getPropertiesAsAttribute() != after->getPropertiesAsAttribute() ||
      before->getNumRegions() != after->getNumRegions() ||
      before->getNumResults() != after->getNumResults())
    return differs(before, after, "the form");
  countStores(before, storesBefore);
  countStores(after, storesAfter);
  for (auto [x, y] :
       llvm::zip_equal(before->getRegions(), after->getRegions())) {
    if (x.empty() && y.empty())
      continue;
    if (!x.hasOneBlock() || !y.hasOneBlock() ||
        x.getNumArguments() != y.getNumArguments())
      return differs(before, after, "the regions");
    values.bind(x.getArguments(), y.getArguments());
    if (failed(compare(x.front(), y.front())))
      return failure();
  }
  countStores(before, storesBefore);
  countStores(after, storesAfter);
  values.bind(before->getResults(), after->getResults());
  return success();
}

LogicalResult SameResults::compare(Operation *before, Operation *after) {
  if (before->getName() != after->getName())
    return differs(before, after, "an operation in the place");
  if (auto store = dyn_cast<StoreOp>(before))
    return compare(store, cast<StoreOp>(after));
  bool isKnown = isa<scf::ForOp, scf::IfOp>(before) ||
                 before->hasTrait<OpTrait::IsTerminator>();
  if (!isKnown)
    return differs(before, after,
                   "a comparison with a known operation in the "
                   "place");
  if (values.of(before->getOperands()) != values.of(after->getOperands()))
    return differs(before, after,
                   isa<scf::ForOp>(before) ? "the bounds and initial values"
                                           : "the operands");
  return before->getNumRegions() != 0 ? compareRegions(before, after)
                                      : success();
}

LogicalResult SameResults::compareRest(Cursor &wanted, Cursor &found,
                                       ArrayRef<LaneValues::Number> passed,
                                       SmallVectorImpl<Passed> &stored) {
  while (true) {
    Operation *op = wanted.next();
    auto store = dyn_cast<StoreOp>(op);
    LaneValues::Number tensor = store ? values.of(store.getTensor()) : 0;
    if (store && llvm::is_contained(passed, tensor)) {
      stored.push_back({tensor, values.of(store.getIndices()),
                        values.ofPresence(store.getPresence()),
                        values.of(store.getValue())});
      continue;
    }
    if (op->hasTrait<OpTrait::IsTerminator>() && !passed.empty())
      return success();
    if (failed(compare(op, found.next())))
      return failure();
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
  }
}

LogicalResult SameResults::compare(Block &before, Block &after) {
  Cursor wanted(before, values, storesBefore),
      found(after, values, storesAfter);
  SmallVector<Passed> none;
  return compareRest(wanted, found, /*passed=*/{}, none);
}

LogicalResult SameResults::compareJoined(Block &first, Block &second,
                                         Block &after,
                                         ArrayRef<LaneValues::Number> passed) {
  Cursor found(after, values, storesAfter);
  SmallVector<Passed> stored;
  Cursor wanted(first, values, storesBefore);
  if (failed(compareRest(wanted, found, passed, stored)))
    return failure();
  Cursor rest(second, values, storesBefore, stored);
  SmallVector<Passed> none;
  return compareRest(rest, found, /*passed=*/{}, none);
}

LogicalResult haveSameArguments(ProgramOp before, ProgramOp after) {
  for (StringRef name : {"dims", "tensors", "scalars", "promises", "params"})
    if (before->getAttr(name) != after->getAttr(name))
      return after.emitOpError("expects the ")
             << name << " of the program before the pass";
  return success();
}

LogicalResult haveSameSignature(ProgramOp before, ProgramOp after) {
  if (failed(haveSameArguments(before, after)))
    return failure();
  size_t wanted = llvm::range_size(before.getOps<KernelOp>()),
         found = llvm::range_size(after.getOps<KernelOp>());
  return wanted == found ? success()
                         : after.emitOpError("expects as many kernels as "
                                             "before the pass, ")
                               << wanted << ", but has " << found;
}

/// Whether a coordinate is always 0.
static bool isSingle(IterAttr range) {
  auto extent = dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
  return !range.getBlock() && extent && extent.getValue() == 1;
}

LogicalResult haveSameResults(KernelOp before, KernelOp after) {
  if (before->getPropertiesAsAttribute() != after->getPropertiesAsAttribute())
    return after.emitOpError("expects the signature of kernel '")
           << before.getSymName() << "' before the pass";
  SameResults results;
  results.bindSignature(before.getProgram(), before, after);
  for (auto [i, range] :
       llvm::enumerate(before.getRanges().getAsRange<IterAttr>())) {
    results.values.bind(ValueRange(before.getCoord(i)),
                        ValueRange(after.getCoord(i)));
    if (isSingle(range))
      for (Value coord : {before.getCoord(i), after.getCoord(i)})
        results.values.bind(coord, results.values.integer(0, 32));
  }
  return results.compare(before.getBody().front(), after.getBody().front());
}

LogicalResult haveSameResults(ProgramOp before, ProgramOp after) {
  if (failed(haveSameSignature(before, after)))
    return failure();
  for (auto [kernel, other] :
       llvm::zip_equal(before.getOps<KernelOp>(), after.getOps<KernelOp>()))
    if (failed(haveSameResults(kernel, other)))
      return failure();
  return success();
}

} // namespace selvedge::verify
