// tile-bind-blocks: sizes of the plan become static extents.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Passes.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Plan/PlanChoice.h"
#include "dialect/Tile/Decisions.h"
#include "dialect/Tile/SchedulePins.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

namespace selvedge::schedule {

#define GEN_PASS_DEF_TILEBINDBLOCKS
#include "compiler/Schedule/Passes.h.inc"

namespace {

using namespace mlir;
using namespace selvedge::tile;

/// The type with the plan's sizes.
Type bindType(Type type, const KernelPlan &plan) {
  if (!isTile(type))
    return type;
  SmallVector<int64_t> sizes;
  for (StringAttr axis : axesOf(type))
    sizes.push_back(plan.sizes.lookup(axis));
  return tileType(getElementTypeOrSelf(type), axesOf(type), sizes);
}

/// Whether a range by blocks of `size` has one block, whatever the dims are.
bool isOfOneTile(IterAttr range, int64_t size) {
  AffineMap extent = range.getExtent();
  return extent.isSingleConstant() && extent.getSingleConstantResult() > 0 &&
         extent.getSingleConstantResult() <= size;
}

void applyPlan(KernelOp kernel, const KernelPlan &plan) {
  llvm::StringMap<int64_t> blocks;
  SmallVector<NamedAttribute> sizes;
  OpBuilder builder(kernel.getContext());
  for (auto axis : kernel.getAxes().getAsRange<AxisAttr>()) {
    int64_t size = plan.sizes.lookup(axis.getName());
    sizes.push_back(
        builder.getNamedAttr(axis.getName(), builder.getI64IntegerAttr(size)));
    if (axis.getBlock())
      blocks[axis.getBlock().getValue()] = size;
  }
  SmallVector<Attribute> ranges;
  for (auto range : kernel.getRanges().getAsRange<IterAttr>())
    ranges.push_back(IterAttr::get(
        range.getContext(), range.getName(),
        range.getBlock()
            ? range.getExtentFor(blocks.lookup(range.getBlock().getValue()))
            : range.getExtent(),
        range.getBlock()));
  kernel.setRangesAttr(builder.getArrayAttr(ranges));
  kernel.setSizesAttr(builder.getDictionaryAttr(sizes));
  kernel.setWarps(plan.warps);
  kernel.setSharedOperands(plan.sharesOperands);
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(bindType(result.getType(), plan));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(bindType(argument.getType(), plan));
  });
  // The index of a range of one element, or of one block, is 0 as lowering has
  // it, so that what is loaded there and at 0 is one here, too, and parts of
  // loops that have no steps there have none here.
  OpBuilder first = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (auto [i, range] :
       llvm::enumerate(kernel.getRanges().getAsRange<IterAttr>()))
    if (isOfOneTile(range, range.getBlock()
                               ? blocks.lookup(range.getBlock().getValue())
                               : 1) &&
        !kernel.getCoord(i).use_empty())
      kernel.getCoord(i).replaceAllUsesWith(arith::ConstantIntOp::create(
          first, withoutDecisions(kernel.getLoc()), 0, 32));
  kernel.walk([&](BlockSizeOp op) {
    OpBuilder at(op);
    Value size = arith::ConstantIntOp::create(at, op.getLoc(),
                                              blocks.lookup(op.getBlock()), 32);
    op.replaceAllUsesWith(size);
    op.erase();
  });
}

/// Axes that warps share are reduced last: what they exchange is least then.
void orderReductions(KernelOp kernel, KernelLayouts &layouts,
                     const KernelPlan &plan) {
  shareContiguous(layouts, plan.sizes, plan.warps);
  SmallVector<AxisLayouts> axisLayouts =
      layOutAll(layouts, plan.sizes, plan.warps);
  kernel.walk([&](ReduceOp reduce) {
    SmallVector<Attribute> axes(reduce.getOver().getValue());
    auto isShared = [&](Attribute axis) {
      const AxisLayouts &own = axisLayouts[layouts.placeOf(reduce)];
      auto layout = own.find(cast<StringAttr>(axis));
      return layout != own.end() &&
             llvm::any_of(layout->second.getWarps(),
                          [](int64_t stride) { return stride != 0; });
    };
    SmallVector<Attribute> ordered;
    for (bool last : {false, true})
      llvm::copy_if(axes, std::back_inserter(ordered),
                    [&](Attribute axis) { return isShared(axis) == last; });
    reduce.setOverAttr(ArrayAttr::get(kernel.getContext(), ordered));
  });
}

/// `BM, warps pinned by the schedule; `; empty where it pins nothing.
std::string pinnedWords(KernelOp kernel, const TargetInfo &target) {
  if (!isPinned(kernel, target))
    return "";
  SmallVector<StringRef> names;
  std::map<std::string, int64_t> pins =
      pinsOf(kernel.getProgram(), kernel.getSymName(), target.name);
  for (const auto &[name, value] : pins)
    if (name != rolesPin && name != ringsPin && name != stagesPin)
      names.push_back(name);
  return llvm::join(names, ", ") + " pinned by the schedule; ";
}

/// Says why `plan` was chosen: by the model, or because `origin` says so.
void noteTiles(KernelOp kernel, const RankedPlans &ranked,
               const KernelPlan &plan, StringRef origin,
               const TargetInfo &target) {
  std::string why = origin.empty() ? "" : origin.str() + "; ";
  why += pinnedWords(kernel, target);
  why += "estimated " + std::to_string(plan.registers) + " of " +
         std::to_string(plan.registerLimit) + " registers per thread, " +
         std::to_string(plan.smemBytes) + " bytes of shared memory";
  for (const std::string &refused : ranked.refused)
    why += "; " + refused;
  for (const KernelPlan &other : ranked.plans)
    if (&other != &plan)
      why += "; " + planWords(kernel, other) + " fit too";
  noteDecision(kernel, {"tiles", planWords(kernel, plan), why});
}

/// The plans that a kernel of a choice could have, by the name there.
using FittingPlans = std::map<std::string, std::set<std::string>>;

/// A choice of another compiler, or made by hand, may name no plan of this one:
/// the model's are bound then.
void warnOfUnused(Operation *module, const PlanChoice &choice,
                  const FittingPlans &fitting, const TargetInfo &target) {
  std::string ofSmallDevices =
      VersionAttr::get(module->getContext(), VersionKind::Program, 0,
                       target.leastSmemBytesPerBlock)
          .str() +
      ".";
  for (const auto &[name, plan] : choice.tiles) {
    auto found = fitting.find(name);
    // What was chosen for all devices serves a single one, too.
    if (found == fitting.end() && StringRef(name).contains(ofSmallDevices))
      continue;
    if (found == fitting.end()) {
      module->emitWarning("no kernel is called '") << name << "'";
    } else if (!found->second.contains(plan)) {
      InFlightDiagnostic warning = module->emitWarning("plan '")
                                   << plan << "' does not fit kernel '" << name
                                   << "'";
      warning.attachNote() << "these do: " << llvm::join(found->second, ", ");
    }
  }
}

struct TileBindBlocksPass : impl::TileBindBlocksBase<TileBindBlocksPass> {
  using TileBindBlocksBase::TileBindBlocksBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = knownTarget(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    std::optional<PlanChoice> choice = parseChoice(tiles);
    if (!choice) {
      getOperation()->emitError("expects a choice of plans, but got '")
          << tiles << "'";
      return signalPassFailure();
    }
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    FittingPlans fitting;
    for (KernelOp kernel : kernels) {
      KernelLayouts layouts(kernel, *target);
      FailureOr<RankedPlans> ranked = rankPlans(kernel, layouts, *target);
      if (failed(ranked))
        return signalPassFailure();
      auto chosen = choice->tiles.find(planName(kernel));
      const KernelPlan *plan = ranked->plans.end();
      if (chosen != choice->tiles.end()) {
        for (const KernelPlan &candidate : ranked->plans)
          fitting[chosen->first].insert(planKey(kernel, candidate));
        plan = llvm::find_if(ranked->plans, [&](const KernelPlan &candidate) {
          return planKey(kernel, candidate) == chosen->second;
        });
      }
      bool isChosen = plan != ranked->plans.end();
      if (!isChosen)
        plan = &ranked->plans.front();
      noteTiles(kernel, *ranked, *plan,
                isChosen ? StringRef(origin) : StringRef(), *target);
      layouts.shareOperands(plan->sharesOperands);
      orderReductions(kernel, layouts, *plan);
      applyPlan(kernel, *plan);
    }
    warnOfUnused(getOperation(), *choice, fitting, *target);
  }
};

} // namespace
} // namespace selvedge::schedule
