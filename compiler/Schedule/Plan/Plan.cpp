// Choice of block sizes and warps: the candidates that fit, ranked.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Copies/RepeatedReads.h"
#include "compiler/Schedule/Plan/PlanBinding.h"
#include "compiler/Schedule/Plan/PlanEstimate.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/LaunchSizes.h"
#include "dialect/Tile/SchedulePins.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

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

/// Whether a range of the kernel is a number of parts that a launch chooses, or
/// was one: its tiles are few then.
static bool hasParts(KernelOp kernel) {
  ProgramOp program = kernel.getProgram();
  if (program.getKind() == VersionKind::Single)
    return true;
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

static bool contains(KernelOp kernel,
                     llvm::function_ref<bool(Operation *)> matches) {
  return kernel
      .walk([&](Operation *op) {
        return matches(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Other loops compute indices, such as the segment that a tile belongs to.
static bool isInLoopOverTiles(Operation *op) {
  return op->getParentOfType<scf::ForOp>() &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
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
  // What initialises looks at the ends of segments at most.
  bool loads = !kernel.isInit() && contains(kernel, llvm::IsaPred<LoadOp>);
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
             !contains(kernel, isInLoopOverTiles)) {
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
      AxisLayouts axisLayouts = layOutProducts(group, plan.sizes, plan.warps);
      for (unsigned bit = 0; bit < llvm::Log2_64(plan.warps); ++bit)
        if (!axisLayouts.empty() &&
            llvm::none_of(axisLayouts, [&](const auto &entry) {
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

/// Whether a product has other rows than 64 per warpgroup: those of a kernel
/// that are no block of its range, such as a state's.
static bool idlesWarpgroups(const KernelLayouts &layouts,
                            const KernelPlan &plan) {
  constexpr int64_t rowsOfGroup = 64, warpsOfGroup = 4;
  return llvm::any_of(layouts.getDots(), [&](DotOp dot) {
    const LayoutGroup &group =
        layouts.getGroups()[*layouts.homeOf(dot.getResult())];
    return !layouts.hasStagedOperand(dot) &&
           llvm::any_of(axesOf(dot.getType()), [&](StringAttr axis) {
             return group.roleOf(axis) == AxisRole::Rows &&
                    plan.sizes.lookup(axis) * warpsOfGroup !=
                        rowsOfGroup * plan.warps;
           });
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
  return kernel.getProgram().isBase() && !findPins(kernel, target).isEmpty();
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
  auto considerAll = [&] {
    for (const Candidate &candidate :
         candidatesFor(kernel, layouts, target, useWarpgroups))
      ranking.consider(candidate);
  };
  considerAll();
  RankedPlans &ranked = ranking.ranked;
  if (ranked.plans.empty() && !ranking.pins.isEmpty()) {
    if (kernel.getProgram().isBase())
      return refusePins(ranking);
    // Of a version nobody has asked for it.
    ranking.pins = {};
    considerAll();
  }
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
      return leavesPages(kernel, plan) || crossesRows(layouts, plan) ||
             idlesWarpgroups(layouts, plan);
    });
  if (!useWarpgroups)
    putLast([](const KernelPlan &plan) {
      return !plan.sharesOperands && plan.room() < registerReserve;
    });
  putLast([&](const KernelPlan &plan) { return isMostlyIdle(kernel, plan); });
  return std::move(ranked);
}

} // namespace selvedge::schedule
