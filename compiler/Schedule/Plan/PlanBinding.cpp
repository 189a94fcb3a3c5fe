// Sizes of all axes of a kernel for a candidate, and what a schedule pins.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/PlanBinding.h"
#include "compiler/Schedule/Copies/RepeatedReads.h"
#include "compiler/Schedule/Plan/PlanEstimate.h"
#include "dialect/Tile/Limits.h"
#include "dialect/Tile/SchedulePins.h"

#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

Pins findPins(KernelOp kernel, const TargetInfo &target) {
  Pins pins;
  ProgramOp program = kernel.getProgram();
  bool hasItsRanges =
      program.isBase() || program.getKind() == VersionKind::Single;
  if (!hasItsRanges || kernel.isInit())
    return pins;
  for (const auto &[name, value] :
       pinsOf(program, kernel.getSymName(), target.name)) {
    if (name == warpsPin)
      pins.warps = value;
    else if (name != rolesPin && name != ringsPin && name != stagesPin)
      pins.blocks[name] = value;
  }
  return pins;
}

SmallVector<Candidate> candidatesForRows(KernelOp kernel, int64_t threads) {
  int64_t bytes = 1;
  for (const RepeatedRead &read : findOwnRows(kernel))
    bytes = std::max(
        bytes, bytesOf(kernel.getTensorArgOf(read.tensor).getElementType()));
  SmallVector<Candidate> candidates;
  for (int64_t vectors : vectorsInFlight)
    candidates.push_back({1, std::min(threads * vectors * 16 / bytes, maxBlock),
                          1, std::max(threads, smallestBlock) / 32,
                          threads / 32});
  return candidates;
}

/// Size of a bound axis that is spread over `bits` lanes and warps: padded so
/// that they share it, but not to more than twice its extent.
static int64_t padded(int64_t extent, int64_t adjacent, size_t bits) {
  int64_t vectors = llvm::divideCeil(extent, adjacent);
  auto threads = static_cast<int64_t>(
      llvm::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, vectors))));
  return adjacent *
         llvm::alignTo(vectors, std::min(threads, int64_t(1) << bits));
}

/// Steps of an axis that each thread holds completely beside elements of
/// accumulators: code is made for each of them.
static int64_t localSteps(const LayoutGroup &group, StringAttr axis,
                          const AxisLayouts &products, int64_t most) {
  int64_t count = 1;
  if (auto it = group.neighbours.find(axis); it != group.neighbours.end())
    for (StringAttr other : it->second)
      if (auto layout = products.find(other);
          layout != products.end() && group.roleOf(other) != AxisRole::Spread)
        count *= layout->second.getNumRegs();
  if (count == 1)
    return most;
  return std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(wordsBesideProducts / count), 1, most);
}

/// Sizes of a group's spread axes that have none yet.
static void bindSpread(KernelOp kernel, LayoutGroup &group, const Candidate &c,
                       KernelPlan &plan) {
  llvm::SmallPtrSet<Attribute, 4> ofKernel;
  for (auto range : kernel.getRanges().getAsRange<IterAttr>())
    ofKernel.insert(range.getName());
  // All threads are free before the first axis; those of products are known.
  AxisLayouts axisLayouts = layOutProducts(group, plan.sizes, plan.warps);
  group.laneWarps = 1;
  DenseMap<StringAttr, AxisAttr> axes;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    axes[axis.getName()] = axis;
  auto atMost = [&](int64_t size) {
    return c.most ? std::min(size, c.most) : size;
  };
  for (StringAttr name : group.spreadOrder()) {
    FreeThreads threads = freeThreads(group, name, axisLayouts, plan.warps);
    bool isContiguous = group.contiguous.contains(name),
         isBlock = static_cast<bool>(axes[name].getBlock());
    int64_t extent = isBlock ? 0 : axes[name].getExtent();
    auto [entry, isNew] = plan.sizes.insert({name, extent});
    int64_t &size = entry->second;
    bool isOfProduct = !isNew;
    // One axis of a tile has whole vectors on its lanes.
    constexpr size_t allLanes = 5;
    if (isContiguous && (isOfProduct || threads.lanes.size() == allLanes)) {
      if (!isOfProduct)
        size = isBlock ? atMost(c.cols)
                       : padded(extent, adjacentOf(group, extent),
                                threads.lanes.size());
      group.laneWarps = shareLanes(size, c.laneWarps ? c.laneWarps : c.warps);
    } else if (!isOfProduct) {
      int64_t shared = int64_t(1) << threads.bits();
      // A block of one row where nothing is left to share it.
      size = !isBlock ? padded(extent, 1, threads.bits())
             : threads.bits() > 0 || ofKernel.contains(name)
                 ? atMost(shared * c.each)
                 : localSteps(group, name, axisLayouts, c.local);
    }
    axisLayouts[name] =
        spread(group, name, size, threads, plan.warps, /*vector=*/8);
  }
}

/// Columns of an accumulator that thread blocks share, each of which computes
/// everything else again: as many as registers have room for, in equal parts.
/// None where the axis is no such one.
static std::optional<int64_t> repeatedColumns(KernelOp kernel,
                                              const KernelLayouts &layouts,
                                              AxisAttr axis, int64_t granule) {
  if (!axis.getBlock() || layouts.getGroups().front().splitCols)
    return std::nullopt;
  for (auto range : kernel.getRanges().getAsRange<IterAttr>()) {
    auto extent = dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
    if (range.getBlock() != axis.getBlock() || !extent ||
        extent.getValue() < granule)
      continue;
    int64_t parts = llvm::divideCeil(extent.getValue(), mostRepeatedColumns);
    return llvm::alignTo(llvm::divideCeil(extent.getValue(), parts), granule);
  }
  return std::nullopt;
}

KernelPlan bind(KernelOp kernel, KernelLayouts &layouts, const Candidate &c,
                int64_t columnGranule, const Pins &pins) {
  KernelPlan plan;
  plan.warps = c.warps;
  plan.sharesOperands = c.sharesOperands;
  layouts.shareOperands(c.sharesOperands);
  auto isAnywhere = [&](StringAttr axis, AxisRole role) {
    return llvm::any_of(layouts.getGroups(), [&](const LayoutGroup &group) {
      auto it = group.roles.find(axis);
      return it != group.roles.end() && it->second == role;
    });
  };
  auto isResultColumn = [&](StringAttr axis) {
    return llvm::any_of(layouts.getGroups(), [&](const LayoutGroup &group) {
      return group.resultCols.contains(axis);
    });
  };
  bool stages = llvm::any_of(layouts.getDots(), [&](DotOp dot) {
    return layouts.hasStagedOperand(dot);
  });
  // Axes of products first: the others share what these leave.
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
    StringAttr name = axis.getName();
    bool isRows = isAnywhere(name, AxisRole::Rows);
    if (!isRows && !isAnywhere(name, AxisRole::Cols) &&
        !layouts.isProductAxis(name))
      continue;
    // Rows of a product whose operand is staged, and columns of what that is
    // made of: as long as columns are.
    bool isOnlyRows = isRows && !(stages && isResultColumn(name));
    int64_t granule = isOnlyRows ? 16 : columnGranule,
            block = isOnlyRows             ? c.rows
                    : isResultColumn(name) ? c.cols
                                           : c.contracted;
    if (std::optional<int64_t> size = pins.sizeOf(axis))
      block = *size;
    else if (isResultColumn(name))
      block = repeatedColumns(kernel, layouts, axis, granule).value_or(block);
    plan.sizes[name] =
        axis.getBlock() ? block : llvm::alignTo(axis.getExtent(), granule);
  }
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (std::optional<int64_t> size = pins.sizeOf(axis))
      plan.sizes[axis.getName()] = *size;
  // An axis has one size: the tiles of most axes choose it.
  auto groups = llvm::map_to_vector(layouts.getGroups(),
                                    [](LayoutGroup &group) { return &group; });
  llvm::sort(groups, [](LayoutGroup *a, LayoutGroup *b) {
    return std::pair(b->spreadOrder().size(), a) <
           std::pair(a->spreadOrder().size(), b);
  });
  for (LayoutGroup *group : groups)
    bindSpread(kernel, *group, c, plan);
  // An axis that no tile has.
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    plan.sizes.insert(
        {axis.getName(), axis.getBlock() ? c.local : axis.getExtent()});
  // One block symbol has one size, whatever axes it serves.
  llvm::MapVector<StringAttr, int64_t> blocks;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock()) {
      int64_t &size =
          blocks.insert({axis.getBlock(), plan.sizes[axis.getName()]})
              .first->second;
      size = std::max(size, plan.sizes[axis.getName()]);
    }
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock())
      plan.sizes[axis.getName()] = blocks[axis.getBlock()];
  return plan;
}
} // namespace selvedge::schedule
