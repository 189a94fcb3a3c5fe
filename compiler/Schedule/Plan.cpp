// Choice of block sizes and warps: the candidates that fit, ranked.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan.h"
#include "compiler/Schedule/RepeatedReads.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/Limits.h"
#include "dialect/Tile/SchedulePins.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

namespace {

/// Block sizes by role, best first.
struct Candidate {
  int64_t rows, cols, contracted, warps;
  /// Warps that share the axis of lanes; 0: as many as have a vector of it.
  int64_t laneWarps = 0;
  /// Steps of axes that each thread holds completely.
  int64_t local = 16;
  /// Elements of a block that no product has at most; 0: as many as threads
  /// share.
  int64_t most = 0;
  /// Elements of a block of the kernel's ranges for each of those.
  int64_t each = 1;
  /// Warps share columns, and computed operands go through shared memory.
  bool sharesOperands = false;
};

/// Rows on all warps: products whose operands stay in registers, reductions
/// along columns.
constexpr Candidate rowCandidates[] = {
    {128, 64, 64, 8}, {64, 64, 64, 4}, {64, 32, 32, 4}, {64, 16, 16, 4}};
/// 32 rows per warp, tried before: what a warp reads from shared memory serves
/// twice as many products, and shared memory is what products wait for (heads
/// of 128: 80 reads per 256 products instead of 144).
constexpr Candidate wideRowCandidates[] = {{128, 64, 64, 4}, {128, 32, 32, 4}};
/// Warps share rows and columns although operands are computed, where registers
/// have no room for 32 rows per warp: warps read less of shared memory with
/// squares of their own than with 16 rows (gradients of keys, heads of 128: 144
/// reads per 320 products instead of 184, 16 % less time).
constexpr Candidate sharedOperandCandidates[] = {
    {128, 64, 64, 8, 0, 16, 0, 1, true},
    {128, 128, 128, 8, 0, 16, 0, 1, true},
    {64, 64, 64, 8, 0, 16, 0, 1, true},
    {64, 32, 32, 8, 0, 16, 0, 1, true}};
/// Keys in parts, since queries are too few to fill the chip: more rows would
/// be multiplied for nothing.
constexpr Candidate splitCandidates[] = {{64, 64, 64, 4}, {64, 32, 32, 4}};
/// For any strides, first of all where two thread blocks of it fit the
/// registers of a multiprocessor: each waits for single elements (heads of 64
/// take 38 % less time than in steps of 64 columns).
constexpr Candidate universalCandidate{128, 32, 32, 8};
/// Warpgroups of 64 rows each: four where the accumulators are small.
constexpr Candidate warpgroupCandidates[] = {
    {256, 64, 64, 16}, {128, 128, 64, 8}, {128, 64, 64, 8},
    {64, 64, 64, 4},   {64, 32, 32, 4},   {64, 16, 16, 4}};
/// The same of parts of a range, which few rows ask for (heads of 64 and four
/// rows: 1.6 times the bandwidth of blocks of 256 rows).
constexpr Candidate splitWarpgroupCandidates[] = {{64, 64, 64, 4},
                                                  {64, 128, 64, 4}};
/// The same for plain products, whose accumulators are all that registers hold.
constexpr Candidate plainWarpgroupCandidates[] = {
    {128, 256, 64, 8}, {128, 128, 64, 8}, {128, 64, 64, 8}, {64, 64, 64, 4}};
/// Rows of several heads: the packed program is for few of them
/// (`tile-pack-rows`). Short steps leave room for rings of many slots, and
/// registers for the indices of pairs.
constexpr Candidate packedCandidates[] = {
    {64, 32, 32, 4}, {64, 64, 64, 4}, {64, 16, 16, 4}};
constexpr Candidate packedWarpgroupCandidates[] = {
    {64, 64, 64, 4}, {64, 128, 64, 4}, {64, 32, 32, 4}, {64, 16, 16, 4}};
/// Warps share rows and columns: plain products.
constexpr Candidate squareCandidates[] = {
    {128, 128, 32, 8}, {64, 64, 32, 4}, {32, 32, 32, 4}};
/// No products and no loops: each element is read once. Thread blocks of few
/// rows cost more to start than to run.
constexpr Candidate streamCandidates[] = {{1, 1024, 1, 2, 0, 16, 0, 4},
                                          {1, 1024, 1, 2, 0, 16, 0, 2}};
/// No products: two kilobytes of a row at a time. Few registers let many thread
/// blocks hide each other's latency. The others are for measurements.
constexpr Candidate elementwiseCandidates[] = {
    {1, 1024, 1, 2}, {1, 512, 1, 2}, {1, 1024, 1, 4}};
/// Nothing is read, as where outputs are initialised: no latency has to be
/// hidden, and thread blocks that store little cost more to start than to run.
constexpr Candidate storeCandidates[] = {{1, 2048, 1, 2, 0, 16, 0, 4},
                                         {1, 1024, 1, 2, 0, 16, 0, 2},
                                         {1, 1024, 1, 2}};
/// Tiles of three axes and more, of which threads hold one or several
/// completely.
constexpr Candidate smallElementwiseCandidates[] = {
    {1, 1024, 1, 2, 0, 4}, {1, 512, 1, 2, 0, 4}, {1, 256, 1, 4, 0, 4},
    {1, 256, 1, 4, 0, 2},  {1, 256, 1, 4, 0, 1}, {1, 64, 1, 4, 0, 1},
    {1, 32, 1, 4, 0, 1}};
/// Words per thread of the largest tile of such a kernel: a few of them live at
/// a time.
constexpr int64_t elementwiseWords = 64;
/// Words per thread of a tile that has another axis beside those of
/// accumulators.
constexpr int64_t wordsBesideProducts = 64;
/// Registers per thread that no plan may exceed: what spills of more would be
/// slower than memory, and long to compile.
constexpr int64_t mostRegisters = 2048;
/// The same where no products keep others waiting: elements are unrolled.
constexpr int64_t mostElementwiseRegisters = 4096;
/// Where no other fits: what registers do not hold goes to local memory.
constexpr Candidate lastCandidates[] = {
    {64, 16, 16, 4},       {32, 16, 16, 2},       {16, 16, 16, 1},
    {64, 16, 16, 4, 0, 1}, {32, 16, 16, 2, 0, 1}, {16, 16, 16, 1, 0, 1}};
/// Where not even those do: tiles of four axes beside products.
constexpr Candidate singleCandidates[] = {{64, 16, 16, 4, 0, 1, 1},
                                          {32, 16, 16, 2, 0, 1, 1},
                                          {16, 16, 16, 1, 0, 1, 1}};

/// The same without products: tiles of four axes and more, or sums whose parts
/// warps have no room to exchange.
constexpr Candidate singleElementwiseCandidates[] = {{1, 32, 1, 4, 0, 1, 8},
                                                     {1, 32, 1, 4, 0, 1, 1},
                                                     {1, 32, 1, 1, 0, 1, 8},
                                                     {1, 32, 1, 1, 0, 1, 1}};

/// Columns of an accumulator of which a warp holds 16 rows and has registers
/// left.
constexpr int64_t mostRepeatedColumns = 256;

/// Rows that are read more than once: vectors of 16 bytes that each thread has
/// in flight, best first. Many hide latency with few threads, so that few rows
/// share the first cache.
constexpr int64_t vectorsInFlight[] = {4, 2};
/// Blocks of fewer threads would be too many for a multiprocessor.
constexpr int64_t smallestBlock = 128;

/// Rows of accumulators that a warp has at least.
constexpr int64_t rowsOfWarp = 16;

/// Registers that addresses, predicates, fragments and loop state take beside
/// accumulators where there are many to be had, and how few they can be (seen
/// in SASS of the templates).
constexpr int64_t registerOverhead = 72, leastOverhead = 31;
/// The same where another warpgroup copies in bulk.
constexpr int64_t bulkRegisterOverhead = 32;
/// The same where single elements are copied.
constexpr int64_t elementOverhead = 80;
/// By so much ptxas may exceed the estimate without that warpgroup: attention
/// at D = 256 spills where 224 or 248 are estimated, and does not at 212.
constexpr int64_t registerReserve = 32;

/// What a schedule pins of a kernel.
struct Pins {
  /// By block symbol.
  std::map<std::string, int64_t> blocks;
  std::optional<int64_t> warps;

  bool isEmpty() const { return blocks.empty() && !warps; }
  /// The size of an axis that is walked in blocks of a pinned size.
  std::optional<int64_t> sizeOf(AxisAttr axis) const {
    auto found =
        axis.getBlock() ? blocks.find(axis.getBlock().str()) : blocks.end();
    return found == blocks.end() ? std::nullopt : std::optional(found->second);
  }
};

/// Those of kernels that the program has: other versions, and what initialises
/// outputs, are the compiler's.
Pins findPins(KernelOp kernel, const TargetInfo &target) {
  Pins pins;
  ProgramOp program = kernel.getProgram();
  if (!program.isBase() || kernel.getSymName().starts_with("init_"))
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

int64_t elements(Type type, const KernelPlan &plan) {
  int64_t n = 1;
  for (StringAttr axis : axesOf(type))
    n *= plan.sizes.lookup(axis);
  return n;
}

/// Candidates for a kernel whose rows `threads` share.
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
int64_t padded(int64_t extent, int64_t adjacent, size_t bits) {
  int64_t vectors = llvm::divideCeil(extent, adjacent);
  auto threads = static_cast<int64_t>(
      llvm::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, vectors))));
  return adjacent *
         llvm::alignTo(vectors, std::min(threads, int64_t(1) << bits));
}

/// Steps of an axis that each thread holds completely beside elements of
/// accumulators: code is made for each of them.
int64_t localSteps(const LayoutGroup &group, StringAttr axis,
                   const AxisDists &products, int64_t most) {
  int64_t count = 1;
  if (auto it = group.neighbours.find(axis); it != group.neighbours.end())
    for (StringAttr other : it->second)
      if (auto dist = products.find(other);
          dist != products.end() && group.roleOf(other) != AxisRole::Spread)
        count *= dist->second.getNumRegs();
  if (count == 1)
    return most;
  return std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(wordsBesideProducts / count), 1, most);
}

/// Sizes of a group's spread axes that have none yet.
void bindSpread(KernelOp kernel, LayoutGroup &group, const Candidate &c,
                KernelPlan &plan) {
  llvm::SmallPtrSet<Attribute, 4> ofKernel;
  for (auto range : kernel.getRanges().getAsRange<IterAttr>())
    ofKernel.insert(range.getName());
  // All threads are free before the first axis; those of products are known.
  AxisDists dists = distributeProducts(group, plan.sizes, plan.warps);
  group.laneWarps = 1;
  DenseMap<StringAttr, AxisAttr> axes;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    axes[axis.getName()] = axis;
  auto atMost = [&](int64_t size) {
    return c.most ? std::min(size, c.most) : size;
  };
  for (StringAttr name : group.spreadOrder()) {
    FreeThreads threads = freeThreads(group, name, dists, plan.warps);
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
                 : localSteps(group, name, dists, c.local);
    }
    dists[name] = spread(group, name, size, threads, plan.warps, /*vector=*/8);
  }
}

/// Columns of an accumulator that thread blocks share, each of which computes
/// everything else again: as many as registers have room for, in equal parts.
/// None where the axis is no such one.
std::optional<int64_t> repeatedColumns(KernelOp kernel,
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

/// Whether an operand is computed in another group than the product.
bool isStaged(const KernelLayouts &layouts, DotOp dot, Value operand) {
  std::optional<unsigned> home = layouts.homeOf(operand);
  return home && home != layouts.homeOf(dot.getResult());
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

/// The larger of what is in `largest` and `count` elements per thread of an
/// operation's tile.
void keepLargest(LargestTile &largest, Operation *op, Type type,
                 ArrayRef<StringAttr> axes, int64_t count) {
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  int64_t words = count * std::max<int64_t>(width, 16) / 32;
  if (words > largest.words)
    largest = {op, SmallVector<StringAttr>(axes), words};
}

/// The largest tile that `layouts` spread.
LargestTile largestTile(KernelOp kernel, KernelLayouts &layouts,
                        const KernelPlan &plan, const Candidate &c) {
  shareContiguous(layouts, plan.sizes, c.laneWarps ? c.laneWarps : c.warps);
  SmallVector<AxisDists> dists = distributeAll(layouts, plan.sizes, plan.warps);
  LargestTile largest;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (Type type = result.getType(); isTile(type))
        for (unsigned g : layouts.neededIn(result))
          keepLargest(largest, op, type, axesOf(type),
                      registersOf(type, dists[g]));
  });
  return largest;
}

/// The largest store of a value that lacks axes of its indices: each element
/// has code of its own.
LargestTile largestRepeatedStore(KernelOp kernel, KernelLayouts &layouts,
                                 const KernelPlan &plan) {
  SmallVector<AxisDists> dists = distributeAll(layouts, plan.sizes, plan.warps);
  LargestTile largest;
  kernel.walk([&](StoreOp store) {
    llvm::SmallSetVector<StringAttr, 4> axes;
    for (Value index : store.getIndices())
      axes.insert_range(axesOf(index.getType()));
    Type type = store.getValue().getType();
    if (axes.size() == axesOf(type).size())
      return;
    const AxisDists &own = dists[layouts.placeOf(store)];
    int64_t count = 1;
    for (StringAttr axis : axes)
      if (auto dist = own.find(axis); dist != own.end())
        count *= dist->second.getNumRegs();
    keepLargest(largest, store, type, axes.getArrayRef(), count);
  });
  return largest;
}

/// What warps exchange in reductions: a word per thread for each register of
/// the result, in a buffer of its own. Axes that warps share come last.
int64_t exchangedBytes(KernelOp kernel, KernelLayouts &layouts,
                       const KernelPlan &plan) {
  constexpr int64_t wordBytes = 4;
  SmallVector<AxisDists> dists = distributeAll(layouts, plan.sizes, plan.warps);
  int64_t bytes = 0;
  kernel.walk([&](ReduceOp reduce) {
    const AxisDists &own = dists[layouts.placeOf(reduce)];
    int64_t registers = registersOf(reduce.getType(), own);
    for (auto axis : reduce.getOver().getAsRange<StringAttr>()) {
      auto dist = own.find(axis);
      if (dist == own.end() ||
          llvm::all_of(dist->second.getWarps(),
                       [](int64_t stride) { return stride == 0; }))
        continue;
      bytes += registers * 32 * plan.warps * wordBytes;
      registers *= dist->second.getNumRegs();
    }
  });
  return bytes;
}

/// Sums of products that `value` is computed from in the loop of `place`.
llvm::SetVector<Operation *> sumsBehind(Value value, Block *place) {
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
bool takesItsPlace(const KernelLayouts &layouts, DotOp dot, Value operand) {
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
int64_t lentElements(DotOp dot, const KernelPlan &plan) {
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

/// Fills the estimates of `plan`, with so many buffers for each copy of a loop.
void estimate(KernelOp kernel, const KernelLayouts &layouts, KernelPlan &plan,
              const TargetInfo &target, bool useWarpgroups,
              int64_t buffers = 2) {
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

} // namespace

int64_t productRegisters(int64_t warpgroups) {
  return warpgroups <= 2 ? 240 : warpgroups == 3 ? 160 : 112;
}

std::optional<TargetInfo> knownTarget(Operation *op, StringRef arch) {
  std::optional<TargetInfo> target = targetInfo(arch);
  if (!target)
    op->emitError("expects a known architecture, but got '") << arch << "'";
  return target;
}

bool usesWarpgroups(const KernelLayouts &layouts, const TargetInfo &target) {
  return target.hasWarpgroups && layouts.hasDot();
}

/// What a plan takes too much of; empty where it fits.
static std::string excessWords(const KernelPlan &plan,
                               const TargetInfo &target) {
  auto text = [](int64_t taken, int64_t limit, StringRef what) {
    return (Twine(taken) + " of " + Twine(limit) + " " + what).str();
  };
  if (plan.registers > plan.registerLimit)
    return text(plan.registers, plan.registerLimit, "registers per thread");
  if (plan.smemBytes > target.smemBytesPerBlock)
    return text(plan.smemBytes, target.smemBytesPerBlock,
                "bytes of shared memory");
  return "";
}

/// The sizes of the kernel's block symbols, in order.
static SmallVector<std::pair<StringAttr, int64_t>>
blockSizes(KernelOp kernel, const KernelPlan &plan) {
  SmallVector<std::pair<StringAttr, int64_t>> sizes;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (axis.getBlock() && llvm::none_of(sizes, [&](const auto &entry) {
          return entry.first == axis.getBlock();
        }))
      sizes.push_back({axis.getBlock(), plan.sizes.lookup(axis.getName())});
  return sizes;
}

std::string planWords(KernelOp kernel, const KernelPlan &plan) {
  std::string text;
  for (auto [block, size] : blockSizes(kernel, plan))
    text += block.str() + " " + std::to_string(size) + ", ";
  return text + std::to_string(plan.warps) + " warps" +
         (plan.sharesOperands ? " that share operands" : "");
}

std::string planKey(KernelOp kernel, const KernelPlan &plan) {
  std::string text;
  for (auto [block, size] : blockSizes(kernel, plan))
    text += block.str() + std::to_string(size) + "-";
  return text + "w" + std::to_string(plan.warps) +
         (plan.sharesOperands ? "-shared" : "");
}

std::string planName(KernelOp kernel) { return kernel.getSource().str(); }

std::string planName(sm::KernelOp kernel) {
  return kernel.getSource() ? kernel.getSource()->str()
                            : kernel.getSymName().str();
}

constexpr StringLiteral withoutRoles = "without_roles",
                        droppedPlans = "dropped_plans";

void dropPlan(KernelOp kernel, StringRef key, StringRef why) {
  NamedAttrList dropped;
  if (auto before = kernel->getAttrOfType<DictionaryAttr>(droppedPlans))
    dropped.append(before.begin(), before.end());
  dropped.set(key, StringAttr::get(kernel.getContext(), why));
  kernel->setDiscardableAttr(droppedPlans,
                             dropped.getDictionary(kernel.getContext()));
}

/// Why a plan was dropped; empty where it was not.
static StringRef whyDropped(KernelOp kernel, const KernelPlan &plan) {
  auto dropped = kernel->getAttrOfType<DictionaryAttr>(droppedPlans);
  auto why =
      dropped ? dropped.getAs<StringAttr>(planKey(kernel, plan)) : StringAttr();
  return why ? why.getValue() : StringRef();
}

void keepFromRoles(KernelOp kernel, StringRef why) {
  kernel->setDiscardableAttr(withoutRoles, UnitAttr::get(kernel.getContext()));
  // Of plans for warpgroups.
  kernel->removeDiscardableAttr(droppedPlans);
  noteDecision(kernel,
               {"roles", "none: every warp copies and computes", why.str()});
}

bool isKeptFromRoles(KernelOp kernel) { return kernel->hasAttr(withoutRoles); }

bool plansWarpgroups(KernelOp kernel, const KernelLayouts &layouts,
                     const TargetInfo &target) {
  return usesWarpgroups(layouts, target) &&
         kernel.getProgram().getKind() != tile::VersionKind::Universal &&
         !isKeptFromRoles(kernel);
}

std::optional<int64_t> rowThreads(KernelOp kernel) {
  std::optional<int64_t> threads = kernel.getProgram().getRowThreads();
  return threads && !findOwnRows(kernel).empty() ? threads : std::nullopt;
}

/// Whether some tile moves from its group to another one.
static bool movesTiles(KernelOp kernel, const KernelLayouts &layouts) {
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

/// What moves between groups, and what products take from shared memory
/// although it is computed.
static int64_t movedBytes(KernelOp kernel, const KernelLayouts &layouts,
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

/// Whether a range of the kernel is a number of parts that a launch chooses.
static bool hasParts(KernelOp kernel) {
  ProgramOp program = kernel.getProgram();
  return llvm::any_of(tile::getLaunchSizes(program), [&](const auto &size) {
    auto dims = program.getDims().getAsRange<StringAttr>();
    auto dim = llvm::find_if(
        dims, [&](StringAttr d) { return d.getValue() == size.name; });
    auto symbol = getAffineSymbolExpr(std::distance(dims.begin(), dim),
                                      program.getContext());
    return llvm::any_of(kernel.getRanges().getAsRange<IterAttr>(),
                        [&](IterAttr range) {
                          return range.getExtent().getResult(0) == symbol;
                        });
  });
}

template <typename Op>
static bool contains(KernelOp kernel) {
  return kernel.walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// The candidates that a kernel's products, or their absence, ask for.
static SmallVector<Candidate> candidatesFor(KernelOp kernel,
                                            KernelLayouts &layouts,
                                            const TargetInfo &target,
                                            bool useWarpgroups) {
  if (std::optional<int64_t> threads = rowThreads(kernel))
    return candidatesForRows(kernel, *threads);
  bool isPacked = kernel.getProgram().getKind() == tile::VersionKind::Packed,
       splitCols = layouts.getGroups().front().splitCols;
  bool loads = contains<LoadOp>(kernel);
  ArrayRef<Candidate> candidates =
      !layouts.hasDot() ? (loads ? ArrayRef<Candidate>(elementwiseCandidates)
                                 : ArrayRef<Candidate>(storeCandidates))
      : splitCols
          ? (useWarpgroups ? ArrayRef<Candidate>(plainWarpgroupCandidates)
                           : ArrayRef<Candidate>(squareCandidates))
      : useWarpgroups
          ? (isPacked ? ArrayRef<Candidate>(packedWarpgroupCandidates)
                      : ArrayRef<Candidate>(warpgroupCandidates))
          : (isPacked ? ArrayRef<Candidate>(packedCandidates)
                      : ArrayRef<Candidate>(rowCandidates));
  SmallVector<Candidate> all;
  if (kernel.getProgram().getKind() == tile::VersionKind::Universal &&
      layouts.hasDot() && !splitCols) {
    KernelPlan plan = bind(kernel, layouts, universalCandidate, 16, Pins());
    estimate(kernel, layouts, plan, target, /*useWarpgroups=*/false);
    int64_t registers = plan.registers - leastOverhead + elementOverhead;
    if (registers * 2 * 32 * plan.warps <= target.regsPerSm)
      all.push_back(universalCandidate);
  } else if (candidates.data() == rowCandidates) {
    if (hasParts(kernel))
      llvm::append_range(all, splitCandidates);
    llvm::append_range(all, wideRowCandidates);
    if (layouts.couldShareOperands())
      llvm::append_range(all, sharedOperandCandidates);
  } else if (candidates.data() == warpgroupCandidates && hasParts(kernel)) {
    llvm::append_range(all, splitWarpgroupCandidates);
  } else if (candidates.data() == elementwiseCandidates &&
             !contains<scf::ForOp>(kernel)) {
    llvm::append_range(all, streamCandidates);
  }
  llvm::append_range(all, candidates);
  return all;
}

namespace {

/// Candidates as they are looked at.
struct Ranking {
  KernelOp kernel;
  KernelLayouts &layouts;
  const TargetInfo &target;
  bool useWarpgroups;
  Pins pins = findPins(kernel, target);
  RankedPlans ranked = {};
  /// The one that needs the fewest registers, and the last one, of which the
  /// blocks are the least.
  std::optional<KernelPlan> smallest = {}, last = {};
  /// Why the last one that was dropped was.
  std::string lastDropped = {};

  /// The candidate with as many warps as a schedule asks for, or as rows of
  /// warpgroups do.
  Candidate withPins(Candidate candidate) {
    if (useWarpgroups)
      for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
        if (std::optional<int64_t> size = pins.sizeOf(axis);
            size && isRows(axis.getName()))
          candidate.warps = std::max<int64_t>(4, *size / rowsOfWarp);
    if (pins.warps) {
      candidate.warps = *pins.warps;
      if (useWarpgroups)
        candidate.rows = rowsOfWarp * *pins.warps;
    }
    return candidate;
  }

  bool isRows(StringAttr axis) {
    return llvm::any_of(layouts.getGroups(), [&](const LayoutGroup &group) {
      auto role = group.roles.find(axis);
      return role != group.roles.end() && role->second == AxisRole::Rows;
    });
  }

  /// Columns of some product: of rows of another one each warpgroup may have
  /// all.
  bool isColumn(StringAttr axis) {
    return llvm::any_of(layouts.getGroups(), [&](const LayoutGroup &group) {
      return group.resultCols.contains(axis);
    });
  }

  /// Why warps cannot share what a schedule pins; empty where they can.
  std::string misfit(const KernelPlan &plan) {
    constexpr int64_t warpsOfGroup = 4;
    if (useWarpgroups && plan.warps % warpsOfGroup != 0)
      return "no whole warpgroups of 4 warps";
    for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
      std::optional<int64_t> size = pins.sizeOf(axis);
      StringAttr name = axis.getName();
      if (size && *size % rowsOfWarp != 0 &&
          (isRows(name) || layouts.isProductAxis(name)))
        return "no multiple of the 16 rows and columns that products take";
      if (useWarpgroups && isRows(name) && !isColumn(name) && axis.getBlock() &&
          plan.sizes.lookup(name) != rowsOfWarp * plan.warps)
        return "other than the 64 rows that each warpgroup of 4 warps "
               "multiplies";
    }
    for (const LayoutGroup &group : layouts.getGroups()) {
      AxisDists dists = distributeProducts(group, plan.sizes, plan.warps);
      for (unsigned bit = 0; bit < llvm::Log2_64(plan.warps); ++bit)
        if (!dists.empty() && llvm::none_of(dists, [&](const auto &entry) {
              return entry.second.getWarps()[bit] != 0;
            }))
          return "less than the 16 rows that each warp multiplies";
    }
    return "";
  }

  void consider(const Candidate &given) {
    Candidate candidate = withPins(given);
    // A bulk copy moves rows of 128 bytes; `mma` wants 16 columns.
    KernelPlan plan =
        bind(kernel, layouts, candidate, useWarpgroups ? 64 : 16, pins);
    if (std::string why = pins.isEmpty() ? "" : misfit(plan); !why.empty()) {
      std::string words = planWords(kernel, plan) + " would be " + why;
      if (!llvm::is_contained(ranked.refused, words))
        ranked.refused.push_back(words);
      return;
    }
    estimate(kernel, layouts, plan, target, useWarpgroups);
    if (candidate.sharesOperands &&
        plan.smemBytes + movedBytes(kernel, layouts, plan) >
            target.smemBytesPerBlock)
      estimate(kernel, layouts, plan, target, useWarpgroups, /*buffers=*/1);
    std::string words = planWords(kernel, plan),
                excess = excessWords(plan, target);
    LargestTile largest = largestRepeatedStore(kernel, layouts, plan);
    // Results of products have been counted: where no value moves to another
    // group other tiles are no larger, or have more axes.
    if (LargestTile tile = largestTile(kernel, layouts, plan, candidate);
        tile.words > largest.words &&
        (!layouts.hasDot() || movesTiles(kernel, layouts) ||
         tile.words > plan.largest.words))
      largest = tile;
    if (layouts.hasDot()) {
      plan.registers += largest.words;
      plan.smemBytes += movedBytes(kernel, layouts, plan);
      excess = excessWords(plan, target);
    } else if (largest.words > elementwiseWords) {
      plan.registers = largest.words + registerOverhead;
      excess =
          std::to_string(largest.words) + " registers per thread for a tile";
    }
    if (largest.words > plan.largest.words)
      plan.largest = largest;
    if (int64_t bytes = plan.smemBytes + exchangedBytes(kernel, layouts, plan);
        bytes > target.smemBytesPerBlock) {
      plan.smemBytes = bytes;
      excess = excessWords(plan, target);
    }
    last = plan;
    StringRef dropped = whyDropped(kernel, plan);
    if (!dropped.empty())
      excess = lastDropped = dropped;
    auto isSame = [&](const KernelPlan &other) {
      return planWords(kernel, other) == words;
    };
    auto need = [](const KernelPlan &plan) {
      return std::max(plan.registers, plan.registerLimit);
    };
    if (plan.smemBytes <= target.smemBytesPerBlock && dropped.empty() &&
        (!smallest || need(plan) < need(*smallest)))
      smallest = plan;
    if (excess.empty() && llvm::none_of(ranked.plans, isSame))
      ranked.plans.push_back(std::move(plan));
    else if (!excess.empty() && ranked.plans.empty())
      if (std::string why = words + " would take " + excess;
          !llvm::is_contained(ranked.refused, why))
        ranked.refused.push_back(why);
  }
};

} // namespace

/// The target with as much shared memory as plans of the kernel may take.
static TargetInfo limitFor(KernelOp kernel, TargetInfo target) {
  if (std::optional<int64_t> limit = kernel.getProgram().getSharedMemory())
    target.smemBytesPerBlock = std::min(target.smemBytesPerBlock, *limit);
  return target;
}

std::string excessForWarpgroups(KernelOp kernel, KernelLayouts &layouts,
                                const TargetInfo &of) {
  TargetInfo target = limitFor(kernel, of);
  if (!plansWarpgroups(kernel, layouts, target))
    return "";
  Ranking ranking{kernel, layouts, target, /*useWarpgroups=*/true};
  for (const Candidate &candidate :
       candidatesFor(kernel, layouts, target, /*useWarpgroups=*/true))
    ranking.consider(candidate);
  return ranking.ranked.plans.empty() ? ranking.ranked.refused.back() : "";
}

/// Whether half of a block or more lies behind a range that is known to be
/// short: the rows of a block that a list names.
static bool isMostlyIdle(KernelOp kernel, const KernelPlan &plan) {
  return llvm::any_of(
      kernel.getRanges().getAsRange<IterAttr>(), [&](IterAttr range) {
        auto extent =
            dyn_cast<AffineConstantExpr>(range.getExtent().getResult(0));
        return range.getBlock() && extent &&
               plan.sizes.lookup(range.getName()) >= 2 * extent.getValue();
      });
}

/// Whether rows are looked up by a quotient of a range, pages of some length,
/// and a step of the loop is no part of one: its rows are gathered then.
static bool leavesPages(KernelOp kernel, const KernelPlan &plan) {
  return kernel
      .walk([&](arith::FloorDivSIOp quotient) {
        auto range = quotient.getLhs().getDefiningOp<RangeOp>();
        auto by = quotient.getRhs().getDefiningOp<SplatOp>();
        APInt length;
        if (!range || !by ||
            !matchPattern(by.getValue(), m_ConstantInt(&length)))
          return WalkResult::advance();
        int64_t step = plan.sizes.lookup(axesOf(range.getType()).front());
        bool isPart = step > 0 && length.getSExtValue() % step == 0;
        return isPart ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether warpgroups share neither the rows of a product whose operand they
/// stage nor panels of its columns, as wgmma wants it.
static bool crossesRows(const KernelLayouts &layouts, const KernelPlan &plan) {
  constexpr int64_t rows = 64, panel = 64;
  return llvm::any_of(layouts.getDots(), [&](DotOp dot) {
    if (!layouts.hasStagedOperand(dot))
      return false;
    int64_t warpgroups = plan.warps / 4;
    const LayoutGroup &group =
        layouts.getGroups()[*layouts.homeOf(dot.getResult())];
    int64_t ofRows = 0, ofCols = 0;
    for (StringAttr axis : axesOf(dot.getType()))
      (group.roleOf(axis) == AxisRole::Rows ? ofRows : ofCols) =
          plan.sizes.lookup(axis);
    return ofRows != rows * warpgroups &&
           (ofRows != rows || ofCols != panel * warpgroups);
  });
}

/// `64 x 512 (i x DV)`.
static std::string tileWords(ArrayRef<StringAttr> axes,
                             const KernelPlan &plan) {
  std::string sizes, names;
  for (StringAttr axis : axes) {
    StringRef by = sizes.empty() ? "" : " x ";
    sizes += (by + Twine(plan.sizes.lookup(axis))).str();
    names += (by + axis.getValue()).str();
  }
  return sizes + " (" + names + ")";
}

/// The least blocks do not fit: what is too large?
static LogicalResult refusePlan(KernelOp kernel, const KernelPlan &least,
                                const TargetInfo &target, bool hasDot) {
  bool isShared = least.smemBytes > target.smemBytesPerBlock;
  if (isShared ? !least.largestCopy : !least.largest.op)
    return kernel.emitOpError("has no plan: no candidate block sizes fit the "
                              "registers and shared memory of the target");
  if (isShared) {
    auto load = cast<LoadOp>(least.largestCopy);
    return load.emitOpError("has no plan: with the least blocks the tiles that "
                            "products read take ")
           << least.smemBytes << " of " << target.smemBytesPerBlock
           << " bytes of shared memory, most of all '"
           << kernel.getTensorArgOf(load.getTensor()).getName().getValue()
           << "' with a tile of " << tileWords(axesOf(load.getType()), least);
  }
  return least.largest.op->emitOpError(
             "has no plan: with the least blocks results take ")
         << least.registers << " registers per thread, of which even spilled "
         << (hasDot ? mostRegisters : mostElementwiseRegisters)
         << " are too many, most of all a tile of "
         << tileWords(least.largest.axes, least);
}

bool isPinned(KernelOp kernel, const TargetInfo &target) {
  return !findPins(kernel, target).isEmpty();
}

bool isPinnedWithoutRoles(KernelOp kernel, const TargetInfo &target) {
  ProgramOp program = kernel.getProgram();
  return program.isBase() && pinsOf(program, kernel.getSymName(), target.name)
                                 .count(rolesPin.str());
}

/// What a schedule pins does not fit: by how much, and what takes most?
static LogicalResult refusePins(Ranking &ranking) {
  InFlightDiagnostic diag = ranking.kernel.emitError("kernel '")
                            << ranking.kernel.getSymName()
                            << "' has a schedule that does not fit "
                            << StringRef(ranking.target.name);
  for (const std::string &why : ranking.ranked.refused)
    diag.attachNote(ranking.kernel.getLoc()) << why;
  if (ranking.last && ranking.last->largest.op)
    diag.attachNote(ranking.last->largest.op->getLoc())
        << "the largest tile in registers is "
        << tileWords(ranking.last->largest.axes, *ranking.last);
  if (ranking.useWarpgroups)
    diag.attachNote(ranking.kernel.getLoc())
        << "with 'roles = off' no warpgroups have to share it";
  return diag;
}

FailureOr<RankedPlans> rankPlans(KernelOp kernel, KernelLayouts &layouts,
                                 const TargetInfo &of) {
  TargetInfo target = limitFor(kernel, of);
  bool useWarpgroups = plansWarpgroups(kernel, layouts, target);
  Ranking ranking{kernel, layouts, target, useWarpgroups};
  for (const Candidate &candidate :
       candidatesFor(kernel, layouts, target, useWarpgroups))
    ranking.consider(candidate);
  RankedPlans &ranked = ranking.ranked;
  if (ranked.plans.empty() && !ranking.pins.isEmpty())
    return refusePins(ranking);
  if (ranked.plans.empty())
    for (const Candidate &candidate :
         layouts.hasDot() ? ArrayRef<Candidate>(lastCandidates)
                          : ArrayRef<Candidate>(smallElementwiseCandidates))
      ranking.consider(candidate);
  auto fits = [&] {
    return ranking.smallest &&
           ranking.smallest->registers <=
               (layouts.hasDot() ? mostRegisters : mostElementwiseRegisters);
  };
  if (ranked.plans.empty())
    for (const Candidate &candidate :
         layouts.hasDot() ? ArrayRef<Candidate>(singleCandidates)
                          : ArrayRef<Candidate>(singleElementwiseCandidates))
      ranking.consider(candidate);
  if (ranked.plans.empty()) {
    if (!fits() && !ranking.lastDropped.empty())
      return kernel.emitOpError("has no plan: the least blocks take ")
             << ranking.lastDropped;
    if (!fits())
      return refusePlan(kernel, *ranking.last, target, layouts.hasDot());
    ranked.plans.push_back(*ranking.smallest);
  }
  auto putLast = [&](llvm::function_ref<bool(const KernelPlan &)> isWorse) {
    SmallVector<KernelPlan> last;
    llvm::copy_if(ranked.plans, std::back_inserter(last), isWorse);
    llvm::erase_if(ranked.plans, isWorse);
    llvm::append_range(ranked.plans, last);
  };
  if (useWarpgroups)
    putLast([&](const KernelPlan &plan) {
      return leavesPages(kernel, plan) || crossesRows(layouts, plan);
    });
  if (!useWarpgroups)
    putLast([](const KernelPlan &plan) {
      return !plan.sharesOperands && plan.room() < registerReserve;
    });
  putLast([&](const KernelPlan &plan) { return isMostlyIdle(kernel, plan); });
  return std::move(ranked);
}

} // namespace selvedge::schedule
