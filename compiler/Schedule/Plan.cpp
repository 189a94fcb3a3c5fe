// Choice of block sizes and warps: the candidates that fit, ranked.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan.h"
#include "compiler/Schedule/RepeatedReads.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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
};

/// Rows on all warps: products whose operands stay in registers, reductions
/// along columns.
constexpr Candidate rowCandidates[] = {
    {128, 64, 64, 8}, {64, 64, 64, 4}, {64, 32, 32, 4}, {64, 16, 16, 4}};
/// For any strides, first of all where two thread blocks of it fit the
/// registers of a multiprocessor: each waits for single elements (heads of 64
/// take 38 % less time than in steps of 64 columns).
constexpr Candidate universalCandidate{128, 32, 32, 8};
/// Warpgroups of 64 rows each: four where the accumulators are small.
constexpr Candidate warpgroupCandidates[] = {
    {256, 64, 64, 16}, {128, 128, 64, 8}, {128, 64, 64, 8},
    {64, 64, 64, 4},   {64, 32, 32, 4},   {64, 16, 16, 4}};
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
/// Where nothing else fits.
constexpr Candidate smallCandidates[] = {
    {64, 16, 16, 4}, {32, 16, 16, 2}, {16, 16, 16, 1}};
/// Registers per thread that no plan may exceed: what spills of more would be
/// slower than memory, and long to compile.
constexpr int64_t mostRegisters = 1024;
/// No products: two kilobytes of a row at a time. Few registers let many thread
/// blocks hide each other's latency. The others are for measurements.
constexpr Candidate elementwiseCandidates[] = {
    {1, 1024, 1, 2}, {1, 512, 1, 2}, {1, 1024, 1, 4}};

/// Rows that are read more than once: vectors of 16 bytes that each thread has
/// in flight, best first. Many hide latency with few threads, so that few rows
/// share the first cache.
constexpr int64_t vectorsInFlight[] = {4, 2};
/// Blocks of fewer threads would be too many for a multiprocessor.
constexpr int64_t smallestBlock = 128;

/// A vector of 16 bytes per lane of a warp, in elements of 16 bits.
constexpr int64_t lanesGranule = 256;

/// Registers that addresses, predicates, fragments and loop state take beside
/// accumulators (seen in SASS of the templates).
constexpr int64_t registerOverhead = 72;
/// The same where another warpgroup copies in bulk.
constexpr int64_t bulkRegisterOverhead = 32;
/// By so much ptxas may exceed the estimate without that warpgroup: attention
/// at D = 256 spills where 224 or 248 are estimated, and does not at 212.
constexpr int64_t registerReserve = 32;

int64_t elements(Type type, const KernelPlan &plan) {
  int64_t n = 1;
  for (StringAttr axis : axesOf(type))
    n *= plan.sizes.lookup(axis);
  return n;
}

/// Candidates for a kernel whose rows `threads` share.
SmallVector<Candidate> candidatesForRows(KernelOp kernel, int64_t threads) {
  int64_t bytes = 1;
  for (const RepeatedRead &read : findRepeatedReads(kernel))
    bytes = std::max<int64_t>(bytes, kernel.getTensorArgOf(read.tensor)
                                             .getElementType()
                                             .getIntOrFloatBitWidth() /
                                         8);
  SmallVector<Candidate> candidates;
  for (int64_t vectors : vectorsInFlight)
    candidates.push_back({1, threads * vectors * 16 / bytes, 1,
                          std::max(threads, smallestBlock) / 32, threads / 32});
  return candidates;
}

KernelPlan bind(KernelOp kernel, const AxisRoles &roles, const Candidate &c,
                int64_t columnGranule) {
  KernelPlan plan;
  plan.warps = c.warps;
  int64_t laneWarps = 1;
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>())
    if (roles.roles.lookup(axis.getName()) == AxisRole::Lanes)
      laneWarps = shareLanes(
          axis.getBlock() ? c.cols
                          : llvm::alignTo(axis.getExtent(), lanesGranule),
          c.laneWarps ? c.laneWarps : c.warps);
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
    int64_t block = 1, granule = 1;
    switch (roles.roles.lookup(axis.getName())) {
    case AxisRole::Rows:
      block = c.rows;
      granule = 16;
      break;
    case AxisRole::Cols:
      block = roles.resultCols.contains(axis.getName()) ? c.cols : c.contracted;
      granule = columnGranule;
      break;
    case AxisRole::Lanes:
      block = c.cols;
      granule = lanesGranule;
      break;
    case AxisRole::Warps:
      block = granule = c.warps / laneWarps;
      break;
    case AxisRole::Local:
      block = 16;
      break;
    }
    plan.sizes[axis.getName()] =
        axis.getBlock() ? block : llvm::alignTo(axis.getExtent(), granule);
  }
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

/// Fills the estimates of `plan`.
void estimate(KernelOp kernel, KernelPlan &plan, const TargetInfo &target,
              bool useWarpgroups) {
  int64_t threads = 32 * plan.warps;
  llvm::SmallPtrSet<Operation *, 8> copied;
  // Loops run one after the other and share registers and buffers; what is
  // outside of loops (null) lives as long as any of them.
  llvm::MapVector<Operation *, int64_t> registersOf, smemOf;
  int64_t mostInSum = 0, mostInCopy = 0;
  auto keepLargest = [](int64_t &most, Operation *&largest, int64_t size,
                        Operation *op) {
    if (size > most) {
      most = size;
      largest = op;
    }
  };
  kernel.walk([&](DotOp dot) {
    Operation *loop = dot->getParentOfType<scf::ForOp>();
    registersOf[loop] += elements(dot.getType(), plan) / threads;
    keepLargest(mostInSum, plan.largestSum, elements(dot.getType(), plan), dot);
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      auto load = operand.getDefiningOp<LoadOp>();
      if (!load || !isCopyableOperand(load)) {
        registersOf[loop] += elements(operand.getType(), plan) / (2 * threads);
      } else if (copied.insert(load).second) {
        Operation *place = load->getParentOfType<scf::ForOp>();
        int64_t bytes = (place ? 2 : 1) * 2 * elements(load.getType(), plan);
        smemOf[place] += bytes;
        keepLargest(mostInCopy, plan.largestCopy, bytes, load);
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
    plan.registers = total(registersOf) + registerOverhead;
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

bool usesWarpgroups(const AxisRoles &roles, const TargetInfo &target) {
  return target.hasWarpgroups && roles.hasDot;
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
  return text + std::to_string(plan.warps) + " warps";
}

std::string planKey(KernelOp kernel, const KernelPlan &plan) {
  std::string text;
  for (auto [block, size] : blockSizes(kernel, plan))
    text += block.str() + std::to_string(size) + "-";
  return text + "w" + std::to_string(plan.warps);
}

std::string planName(KernelOp kernel) {
  StringRef version = kernel.getProgram().getVersion();
  return (version + (version.empty() ? "" : ".") + kernel.getSymName()).str();
}

std::string planName(sm::PlanOp plan, sm::VariantOp variant,
                     sm::KernelOp kernel) {
  StringRef name = kernel.getSymName(), version = variant.getName();
  name.consume_front(plan.getOp());
  name.consume_front("_");
  name = name.rsplit('_').first;
  bool isProgram = version == "aligned" || version == "bulk";
  return (isProgram ? name : version + "." + name).str();
}

constexpr StringLiteral withoutRoles = "without_roles";

void keepFromRoles(KernelOp kernel, StringRef why) {
  kernel->setDiscardableAttr(withoutRoles, UnitAttr::get(kernel.getContext()));
  noteDecision(kernel,
               {"roles", "none: every warp copies and computes", why.str()});
}

bool isKeptFromRoles(KernelOp kernel) { return kernel->hasAttr(withoutRoles); }

bool plansWarpgroups(KernelOp kernel, const AxisRoles &roles,
                     const TargetInfo &target) {
  return usesWarpgroups(roles, target) &&
         !kernel.getProgram().getUniversalOf() && !isKeptFromRoles(kernel);
}

std::optional<int64_t> rowThreads(KernelOp kernel) {
  std::optional<int64_t> threads = kernel.getProgram().getRowThreads();
  return threads && !findRepeatedReads(kernel).empty() ? threads : std::nullopt;
}

/// The candidates of a kernel, best first.
static SmallVector<Candidate> candidatesOf(KernelOp kernel,
                                           const AxisRoles &roles,
                                           const TargetInfo &target,
                                           bool useWarpgroups) {
  if (std::optional<int64_t> threads = rowThreads(kernel))
    return candidatesForRows(kernel, *threads);
  if (!roles.hasDot)
    return llvm::to_vector(ArrayRef(elementwiseCandidates));
  if (roles.splitCols)
    return useWarpgroups ? llvm::to_vector(ArrayRef(plainWarpgroupCandidates))
                         : llvm::to_vector(ArrayRef(squareCandidates));
  if (kernel.getProgram().getPackedOf())
    return useWarpgroups ? llvm::to_vector(ArrayRef(packedWarpgroupCandidates))
                         : llvm::to_vector(ArrayRef(packedCandidates));
  if (useWarpgroups)
    return llvm::to_vector(ArrayRef(warpgroupCandidates));
  SmallVector<Candidate> candidates;
  if (kernel.getProgram().getUniversalOf()) {
    KernelPlan plan = bind(kernel, roles, universalCandidate, 16);
    estimate(kernel, plan, target, /*useWarpgroups=*/false);
    if (plan.registers * 2 * 32 * plan.warps <= target.regsPerSm)
      candidates.push_back(universalCandidate);
  }
  llvm::append_range(candidates, rowCandidates);
  return candidates;
}

/// The first candidates that fit.
static RankedPlans fittingPlans(KernelOp kernel, const AxisRoles &roles,
                                const TargetInfo &target, bool useWarpgroups) {
  RankedPlans ranked;
  for (const Candidate &candidate :
       candidatesOf(kernel, roles, target, useWarpgroups)) {
    // A bulk copy moves rows of 128 bytes; `mma` wants 16 columns.
    KernelPlan plan = bind(kernel, roles, candidate, useWarpgroups ? 64 : 16);
    estimate(kernel, plan, target, useWarpgroups);
    std::string words = planWords(kernel, plan),
                excess = excessWords(plan, target);
    auto isSame = [&](const KernelPlan &other) {
      return planWords(kernel, other) == words;
    };
    if (excess.empty() && llvm::none_of(ranked.plans, isSame))
      ranked.plans.push_back(std::move(plan));
    else if (!excess.empty() && ranked.plans.empty())
      ranked.refused.push_back(words + " would take " + excess);
  }
  return ranked;
}

std::string excessForWarpgroups(KernelOp kernel, const AxisRoles &roles,
                                const TargetInfo &target) {
  if (!plansWarpgroups(kernel, roles, target))
    return "";
  RankedPlans ranked = fittingPlans(kernel, roles, target, true);
  return ranked.plans.empty() ? ranked.refused.back() : "";
}

/// `64 x 512 (i x DV)`.
static std::string tileWords(Type type, const KernelPlan &plan) {
  std::string sizes, names;
  for (StringAttr axis : axesOf(type)) {
    StringRef by = sizes.empty() ? "" : " x ";
    sizes += (by + Twine(plan.sizes.lookup(axis))).str();
    names += (by + axis.getValue()).str();
  }
  return sizes + " (" + names + ")";
}

/// The least of the small candidates does not fit: what is too large?
static LogicalResult refusePlan(KernelOp kernel, const KernelPlan &least,
                                const TargetInfo &target) {
  if (least.smemBytes > target.smemBytesPerBlock) {
    auto load = cast<LoadOp>(least.largestCopy);
    return load.emitOpError("has no plan: with the least blocks the tiles that "
                            "products read take ")
           << least.smemBytes << " of " << target.smemBytesPerBlock
           << " bytes of shared memory, most of all '"
           << kernel.getTensorArgOf(load.getTensor()).getName().getValue()
           << "' with a tile of " << tileWords(load.getType(), least);
  }
  auto dot = cast<DotOp>(least.largestSum);
  return dot.emitOpError("has no plan: with the least blocks results take ")
         << least.registers << " registers per thread, of which even spilled "
         << mostRegisters << " are too many, most of all a tile of "
         << tileWords(dot.getType(), least);
}

/// The plan that ptxas spills least: of those whose tiles fit shared memory the
/// one that takes the fewest registers.
static FailureOr<KernelPlan> spillingPlan(KernelOp kernel,
                                          const AxisRoles &roles,
                                          const TargetInfo &target) {
  std::optional<KernelPlan> best;
  KernelPlan least;
  for (const Candidate &candidate : smallCandidates) {
    least = bind(kernel, roles, candidate, 16);
    estimate(kernel, least, target, /*useWarpgroups=*/false);
    if (least.smemBytes <= target.smemBytesPerBlock &&
        least.registers <= mostRegisters &&
        (!best || least.registers < best->registers))
      best = least;
  }
  if (best)
    return *best;
  return refusePlan(kernel, least, target);
}

FailureOr<RankedPlans> rankPlans(KernelOp kernel, const AxisRoles &roles,
                                 const TargetInfo &target) {
  bool useWarpgroups = plansWarpgroups(kernel, roles, target);
  RankedPlans ranked = fittingPlans(kernel, roles, target, useWarpgroups);
  if (!useWarpgroups) {
    auto isTight = [](const KernelPlan &plan) {
      return plan.room() < registerReserve;
    };
    SmallVector<KernelPlan> lastResort;
    llvm::copy_if(ranked.plans, std::back_inserter(lastResort), isTight);
    llvm::erase_if(ranked.plans, isTight);
    llvm::append_range(ranked.plans, lastResort);
  }
  if (!ranked.plans.empty())
    return ranked;
  FailureOr<KernelPlan> last = spillingPlan(kernel, roles, target);
  if (failed(last))
    return failure();
  ranked.plans.push_back(*last);
  return ranked;
}

} // namespace selvedge::schedule
