// How the final `sm` form keeps an operation safe, and what it costs.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Mechanism.h"

#include "dialect/Sm/Sm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace selvedge::explain {

using namespace mlir;
using namespace selvedge::sm;

/// Registers of one thread that hold `v`.
static int64_t registersOf(Type type) {
  LayoutAttr layout = layoutOf(type);
  return layout ? layout.getNumRegs() : 1;
}

/// Instructions of one thread that evaluate `conditions` in the block of `op`;
/// what is hoisted out of it costs nothing there. Indices exist anyway.
static int64_t evaluationCost(Operation *op, ValueRange conditions) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> worklist(conditions);
  while (!worklist.empty()) {
    Value v = worklist.pop_back_val();
    Operation *def = v.getDefiningOp();
    bool isCondition = getElementTypeOrSelf(v.getType()).isInteger(1);
    if (!def || def->getBlock() != op->getBlock() || !isCondition)
      continue;
    if (found.insert(def))
      llvm::append_range(worklist, def->getOperands());
  }
  int64_t cost = 0;
  for (Operation *def : found)
    if (isa<arith::ArithDialect>(def->getDialect()) &&
        !isa<arith::ConstantOp>(def))
      cost += registersOf(def->getResult(0).getType());
  return cost;
}

/// Conditions joined per access, once their parts are known.
static int64_t joinCost(size_t predicates, int64_t accesses) {
  return predicates < 2 ? 0 : (static_cast<int64_t>(predicates) - 1) * accesses;
}

/// Whether some predicate differs between neighbours along the last index.
static bool variesAlongRow(ValueRange indices, ValueRange presence) {
  LayoutAttr last =
      indices.empty() ? LayoutAttr() : layoutOf(indices.back().getType());
  return last && llvm::any_of(presence, [&](Value p) {
           LayoutAttr layout = layoutOf(p.getType());
           return layout && layout.indexOf(last.getAxes()[0].getName()) >= 0;
         });
}

static void describeCopy(CopyAsyncOp copy, Instance &instance) {
  Type element = copy.getBuffer().getType().getElementType();
  int64_t vector = copy.getVector(),
          accesses = copy.getLayout().getNumRegs() / vector;
  bool wide = vector * element.getIntOrFloatBitWidth() == 128;
  size_t count = copy.getPresence().size();
  bool varies = variesAlongRow(copy.getIndices(), copy.getPresence());
  if (!wide)
    instance.mechanism = "predicated ld + st.shared, zero where absent";
  else if (!varies)
    instance.mechanism = "cp.async with source size 0 where absent";
  else
    instance.mechanism = "cp.async where all 16 bytes are present, else "
                         "predicated ld + st.shared";
  if (count == 0) {
    instance.mechanism =
        wide ? "cp.async, always present" : "ld + st.shared, always present";
    return;
  }
  // One select of the source size, or one register to clear, per access.
  int64_t tests = wide && varies ? accesses * vector : accesses;
  instance.instructions = evaluationCost(copy, copy.getPresence()) +
                          joinCost(count, tests) + accesses;
}

static void describeLoad(LoadOp load, Instance &instance) {
  int64_t accesses = registersOf(load.getType()) / load.getVector();
  size_t count = load.getPresence().size();
  instance.mechanism =
      count ? "predicated ld, zero where absent" : "ld, always present";
  if (count)
    instance.instructions = evaluationCost(load, load.getPresence()) +
                            joinCost(count, accesses) +
                            registersOf(load.getType());
}

static void describeStore(StoreOp store, Instance &instance) {
  int64_t accesses =
      registersOf(store.getValue().getType()) / store.getVector();
  size_t count = store.getPresence().size();
  instance.mechanism = count ? "predicated st" : "st, always present";
  instance.instructions =
      evaluationCost(store, store.getPresence()) + joinCost(count, accesses);
}

/// A row per thread at a time, 16 bytes per store; of a vector a column.
static void describeClear(ClearOp clear, Instance &instance) {
  BufferType type = clear.getBuffer().getType();
  int64_t rows = registersOf(clear.getPresence().front().getType());
  instance.instructions =
      evaluationCost(clear, clear.getPresence()) +
      joinCost(clear.getPresence().size(), rows) +
      (type.isVector() ? rows : rows * type.getRowBytes() / 16);
}

static void describeBulk(Operation *op, Instance &instance) {
  if (isa<ProxyFenceOp>(op)) {
    instance.mechanism = "fence: products see the cleared rows";
    instance.instructions = 1;
  } else if (isa<NamedBarrierOp>(op)) {
    instance.mechanism = "barrier: no warpgroup reads before they are cleared";
    instance.instructions = 1;
  } else if (auto any = dyn_cast<AnyOp>(op)) {
    instance.mechanism = "compare, true for NaN, and vote of the warp";
    instance.instructions = evaluationCost(op, any.getCondition()) +
                            registersOf(any.getCondition().getType());
  } else {
    instance.mechanism = instance.op;
  }
}

/// `j < N and j < kv_len[b]`.
static std::string listed(const Record &record, ArrayRef<int64_t> positions) {
  std::string text;
  for (int64_t i : positions)
    text += (text.empty() ? "" : " and ") + record.predicates[i].text;
  return text;
}

void describeTests(const Record &record, size_t numTested, Instance &instance) {
  SmallVector<int64_t> rest;
  for (int64_t i = 0; i < static_cast<int64_t>(numTested); ++i)
    if (!llvm::is_contained(instance.proved, i) &&
        !llvm::is_contained(instance.byExtent, i))
      rest.push_back(i);
  std::string outside = listed(record, instance.byExtent);
  if (instance.op == "sm.tma_store") {
    instance.mechanism = "TMA store";
    if (!outside.empty())
      instance.mechanism += ", clipped to " + outside + " by the tensor map";
  } else if (instance.op == "sm.tma_load") {
    instance.mechanism = "TMA copy";
    if (!outside.empty())
      instance.mechanism +=
          ", zero where not " + outside + " by the tensor map";
    bool isCleared =
        llvm::any_of(record.instances, [](const Instance &instance) {
          return instance.op == "sm.clear";
        });
    if (!rest.empty())
      instance.mechanism += "; rows that are not " + listed(record, rest) +
                            (isCleared ? " arrive and are cleared"
                                       : " arrive and add to no other");
    else if (outside.empty())
      instance.mechanism += ", always present";
  } else if (instance.op == "sm.clear") {
    instance.mechanism =
        "one warpgroup clears the rows that are not " + listed(record, rest);
  }
}

unsigned numPredicates(Operation *op) {
  if (auto copy = dyn_cast<CopyAsyncOp>(op))
    return copy.getPresence().size();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPresence().size();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getPresence().size();
  return 0;
}

Instance describeInstance(Operation *op, StringRef kind) {
  Instance instance;
  instance.kernel = op->getParentOfType<KernelOp>().getSymName().str();
  instance.op = op->getName().getStringRef().str();
  instance.frequency = op->getParentOfType<scf::ForOp>() ? "per loop iteration"
                                                         : "once per tile";
  if (auto copy = dyn_cast<CopyAsyncOp>(op)) {
    describeCopy(copy, instance);
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    describeLoad(load, instance);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    describeStore(store, instance);
    if (kind == "init") {
      instance.mechanism = "a kernel that runs before all others";
      instance.frequency = "once per tile of the init kernel";
      instance.instructions += registersOf(store.getValue().getType());
    }
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    instance.mechanism = "select";
    instance.instructions = registersOf(select.getType()) +
                            evaluationCost(op, select.getCondition());
  } else if (auto clear = dyn_cast<ClearOp>(op)) {
    describeClear(clear, instance);
  } else {
    describeBulk(op, instance);
  }
  return instance;
}

} // namespace selvedge::explain
