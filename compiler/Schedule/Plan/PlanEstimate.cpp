// What a plan takes, before ptxas knows: registers and shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/PlanEstimate.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

int64_t elements(Type type, const KernelPlan &plan) {
  int64_t n = 1;
  for (StringAttr axis : axesOf(type))
    n *= plan.sizes.lookup(axis);
  return n;
}

bool isStaged(const KernelLayouts &layouts, DotOp dot, Value operand) {
  std::optional<unsigned> home = layouts.homeOf(operand);
  return home && home != layouts.homeOf(dot.getResult());
}

void keepLargest(LargestTile &largest, Operation *op, Type type,
                 ArrayRef<StringAttr> axes, int64_t count) {
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  int64_t words = count * std::max<int64_t>(width, 16) / 32;
  if (words > largest.words)
    largest = {op, SmallVector<StringAttr>(axes), words};
}

LargestTile largestTile(KernelOp kernel, KernelLayouts &layouts,
                        const KernelPlan &plan, const Candidate &c) {
  shareContiguous(layouts, plan.sizes, c.laneWarps ? c.laneWarps : c.warps);
  SmallVector<AxisLayouts> axisLayouts =
      layOutAll(layouts, plan.sizes, plan.warps);
  LargestTile largest;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (Type type = result.getType(); isTile(type))
        for (unsigned g : layouts.neededIn(result))
          keepLargest(largest, op, type, axesOf(type),
                      registersOf(type, axisLayouts[g]));
  });
  return largest;
}

LargestTile largestRepeatedStore(KernelOp kernel, KernelLayouts &layouts,
                                 const KernelPlan &plan) {
  SmallVector<AxisLayouts> axisLayouts =
      layOutAll(layouts, plan.sizes, plan.warps);
  LargestTile largest;
  kernel.walk([&](StoreOp store) {
    llvm::SmallSetVector<StringAttr, 4> axes;
    for (Value index : store.getIndices())
      axes.insert_range(axesOf(index.getType()));
    Type type = store.getValue().getType();
    if (axes.size() == axesOf(type).size())
      return;
    const AxisLayouts &own = axisLayouts[layouts.placeOf(store)];
    int64_t count = 1;
    for (StringAttr axis : axes)
      if (auto layout = own.find(axis); layout != own.end())
        count *= layout->second.getNumRegs();
    keepLargest(largest, store, type, axes.getArrayRef(), count);
  });
  return largest;
}

int64_t exchangedBytes(KernelOp kernel, KernelLayouts &layouts,
                       const KernelPlan &plan) {
  constexpr int64_t wordBytes = 4;
  SmallVector<AxisLayouts> axisLayouts =
      layOutAll(layouts, plan.sizes, plan.warps);
  int64_t bytes = 0;
  kernel.walk([&](ReduceOp reduce) {
    const AxisLayouts &own = axisLayouts[layouts.placeOf(reduce)];
    int64_t registers = registersOf(reduce.getType(), own);
    for (auto axis : reduce.getOver().getAsRange<StringAttr>()) {
      auto layout = own.find(axis);
      if (layout == own.end() ||
          llvm::all_of(layout->second.getWarps(),
                       [](int64_t stride) { return stride == 0; }))
        continue;
      bytes += registers * 32 * plan.warps * wordBytes;
      registers *= layout->second.getNumRegs();
    }
  });
  return bytes;
}

/// Sums of products that `value` is computed from in the loop of `place`.
static llvm::SetVector<Operation *> sumsBehind(Value value, Block *place) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == place; };
  (void)getBackwardSlice(value, &slice, options);
  slice.remove_if([](Operation *op) { return !isa<DotOp>(op); });
  return slice;
}

/// Whether a computed operand of a product takes the registers of a sum that it
/// is computed from, since no operand of a later product is. One product of a
/// loop waits for the next step, where another sum takes that place.
static bool takesItsPlace(const KernelLayouts &layouts, DotOp dot,
                          Value operand) {
  Block *place = dot->getBlock();
  SmallVector<std::pair<DotOp, Value>> computed;
  // Where an operand is staged products start when all of them are there.
  if (llvm::any_of(place->getOps<DotOp>(), [&](DotOp other) {
        return layouts.hasStagedOperand(other);
      }))
    return !sumsBehind(operand, place).empty();
  for (auto other : place->getOps<DotOp>())
    for (Value value : {other.getLhs(), other.getRhs()})
      if (!sumsBehind(value, place).empty())
        computed.push_back({other, value});
  if (computed.size() < 2)
    return false;
  return llvm::any_of(sumsBehind(operand, place), [&](Operation *sum) {
    return llvm::none_of(computed, [&](const auto &other) {
      return dot->isBeforeInBlock(other.first) &&
             sumsBehind(other.second, place).contains(sum);
    });
  });
}

/// Elements of the sums of a step that are gone when `dot`, which is made of
/// them and adds to nothing, has its own. What it is made of stays in half of
/// their registers, as operands.
static int64_t lentElements(DotOp dot, const KernelPlan &plan) {
  if (dot.getInit())
    return 0;
  Block *place = dot->getBlock();
  llvm::SmallSetVector<Operation *, 4> behind;
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    behind.insert_range(sumsBehind(operand, place));
  int64_t lent = 0;
  for (Operation *sum : behind)
    if (!cast<DotOp>(sum).getInit())
      lent += elements(sum->getResult(0).getType(), plan) / 2;
  return lent;
}

void estimate(KernelOp kernel, const KernelLayouts &layouts, KernelPlan &plan,
              const TargetInfo &target, bool useWarpgroups, int64_t buffers) {
  int64_t threads = 32 * plan.warps;
  llvm::SmallPtrSet<Operation *, 8> copied;
  // Loops run one after the other and share registers and buffers; what is
  // outside of loops (null) lives as long as any of them.
  llvm::MapVector<Operation *, int64_t> registersOf, smemOf;
  int64_t mostInCopy = 0;
  kernel.walk([&](DotOp dot) {
    Operation *loop = dot->getParentOfType<scf::ForOp>();
    Type type = dot.getType();
    int64_t count = elements(type, plan) / threads;
    registersOf[loop] +=
        std::max<int64_t>(0, count - lentElements(dot, plan) / threads);
    keepLargest(plan.largest, dot, type, axesOf(type), count);
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      auto load = operand.getDefiningOp<LoadOp>();
      if (!load || !isCopyableOperand(load)) {
        if (useWarpgroups && !isStaged(layouts, dot, operand) &&
            !takesItsPlace(layouts, dot, operand))
          registersOf[loop] +=
              elements(operand.getType(), plan) / (2 * threads);
      } else if (copied.insert(load).second) {
        Operation *place = load->getParentOfType<scf::ForOp>();
        int64_t bytes =
            (place ? buffers : 1) * 2 * elements(load.getType(), plan);
        smemOf[place] += bytes;
        if (bytes > mostInCopy) {
          mostInCopy = bytes;
          plan.largestCopy = load;
        }
      }
    }
  });
  // What a step loads early (sm-early-loads) is held beside its sums. 16-bit
  // numbers are not counted: plans with more warpgroups are faster with them,
  // although they spill (docs/dev/experiments.md, biases and masks).
  if (useWarpgroups)
    kernel.walk([&](LoadOp load) {
      Operation *loop = load->getParentOfType<scf::ForOp>();
      if (loop && registersOf.contains(loop) && !copied.contains(load) &&
          getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() == 32)
        registersOf[loop] += elements(load.getType(), plan) / threads;
    });
  auto total = [](const llvm::MapVector<Operation *, int64_t> &byLoop) {
    int64_t outside = 0, largest = 0;
    for (auto [loop, amount] : byLoop)
      (loop ? largest : outside) = loop ? std::max(largest, amount) : amount;
    return outside + largest;
  };
  plan.smemBytes = total(smemOf);
  if (useWarpgroups) {
    plan.registers = total(registersOf) + bulkRegisterOverhead;
    plan.registerLimit = productRegisters(plan.warps / 4);
  } else {
    plan.registers = total(registersOf) + leastOverhead;
    plan.registerLimit =
        std::min(target.regsPerThread, target.regsPerSm / threads);
  }
}

bool movesTiles(KernelOp kernel, const KernelLayouts &layouts) {
  auto moves = [&](Value value) {
    return layouts.homeOf(value) && layouts.neededIn(value).size() > 1;
  };
  return kernel
      .walk([&](Operation *op) {
        bool isMoved = llvm::any_of(op->getResults(), moves) ||
                       llvm::any_of(op->getRegions(), [&](Region &region) {
                         return llvm::any_of(region.getArguments(), moves);
                       });
        return isMoved ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t movedBytes(KernelOp kernel, const KernelLayouts &layouts,
                   const KernelPlan &plan) {
  int64_t bytes = 0;
  auto bytesOfTile = [&](Value value) {
    return elements(value.getType(), plan) *
           bytesOf(getElementTypeOrSelf(value.getType()));
  };
  auto visit = [&](Value value) {
    if (layouts.homeOf(value) && layouts.neededIn(value).size() > 1)
      bytes += bytesOfTile(value);
  };
  kernel.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), visit);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), visit);
  });
  // With `sharesOperands` loops that follow each other take the same buffers.
  llvm::MapVector<Block *, llvm::SmallSetVector<Value, 4>> staged;
  for (DotOp dot : layouts.getDots())
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (isStaged(layouts, dot, operand) ||
          (plan.sharesOperands && layouts.homeOf(operand)))
        staged[dot->getBlock()].insert(operand);
  int64_t all = 0, most = 0;
  for (const auto &[block, operands] : staged) {
    int64_t ofBlock = 0;
    for (Value operand : operands)
      ofBlock += bytesOfTile(operand);
    all += ofBlock;
    most = std::max(most, ofBlock);
  }
  return bytes + (plan.sharesOperands ? most : all);
}
} // namespace selvedge::schedule
