// Elaborator: schedules, which pin what the plan would choose.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

namespace {

/// Most elements of a block, warps of a thread block, and buffers.
constexpr int64_t kLargestBlock = 4096, kMostWarps = 16, kMostBuffers = 8;

void collectBlocks(ArrayRef<Stmt> body, std::set<StringRef> &blocks) {
  for (const Stmt &stmt : body) {
    if (stmt.kind == Stmt::Kind::For && !stmt.range.block.empty())
      blocks.insert(stmt.range.block);
    collectBlocks(stmt.body, blocks);
    collectBlocks(stmt.elseBody, blocks);
  }
}

/// The names of block sizes in kernels of that name; in all of an empty one.
std::set<StringRef> blocksOf(const OpDecl &op, StringRef name) {
  std::set<StringRef> blocks;
  for (const KernelDecl &kernel : op.kernels) {
    if (!name.empty() && kernel.name != name)
      continue;
    for (const RangeDecl &range : kernel.ranges)
      if (!range.block.empty())
        blocks.insert(range.block);
    collectBlocks(kernel.body, blocks);
  }
  return blocks;
}

} // namespace

SmallVector<SchedulePin> Elaborator::schedulePins() {
  SmallVector<SchedulePin> pins;
  for (const OpDecl *op : llvm::reverse(chain))
    for (const ScheduleDecl &schedule : op->schedules)
      addSchedule(schedule, pins);
  return pins;
}

std::optional<int64_t> Elaborator::pinnedNumber(const PinDecl &pin,
                                                bool isBlock) {
  if (pin.name == rolesPin) {
    if (!pin.value)
      return 0;
    diags.error(pin.loc, "expects 'roles = off'",
                "kernels have warp roles wherever they can");
    return std::nullopt;
  }
  if (!pin.value) {
    diags.error(pin.loc, "expects a number for '" + pin.name + "'");
    return std::nullopt;
  }
  Val value = eval(*pin.value);
  if (value.isError())
    return std::nullopt;
  bool isDepth = pin.name == ringsPin || pin.name == stagesPin;
  int64_t least = isDepth ? 2 : 1, most = isBlock   ? kLargestBlock
                                          : isDepth ? kMostBuffers
                                                    : kMostWarps;
  bool isInside = value.is(Val::Kind::Int) && value.intValue >= least &&
                  value.intValue <= most;
  if (isInside && (isDepth || llvm::isPowerOf2_64(value.intValue)))
    return value.intValue;
  diags.error(pin.value->loc,
              "expects " + Twine(isDepth ? "a number" : "a power of two") +
                  " in " + Twine(least) + ".." + Twine(most) + " for '" +
                  pin.name + "', known at compile time, but got " +
                  describe(value));
  return std::nullopt;
}

void Elaborator::addSchedule(const ScheduleDecl &schedule,
                             SmallVectorImpl<SchedulePin> &pins) {
  const OpDecl &base = *chain.back();
  SmallVector<StringRef> kernels;
  for (const KernelDecl &kernel : base.kernels)
    kernels.push_back(kernel.name);
  bool ofKernel = !schedule.kernel.empty();
  if (ofKernel && !llvm::is_contained(kernels, schedule.kernel))
    return diags.error(schedule.loc,
                       "op '" + base.name + "' has no kernel '" +
                           schedule.kernel + "'",
                       didYouMean(schedule.kernel, kernels));
  SmallVector<StringAttr> targets;
  for (auto [loc, name] : schedule.targets) {
    if (!targetInfo(name.str()))
      return diags.error(loc, "unknown target '" + name + "'",
                         "known are " + targetNames("and"));
    targets.push_back(StringAttr::get(ctx, name));
  }
  if (targets.empty())
    targets.push_back(StringAttr::get(ctx, ""));
  std::set<StringRef> blocks = blocksOf(base, schedule.kernel), pinned;
  SmallVector<StringRef> known(blocks.begin(), blocks.end());
  known.append({warpsPin, rolesPin});
  if (!ofKernel)
    known.append({ringsPin, stagesPin});
  for (const PinDecl &pin : schedule.pins) {
    if (!llvm::is_contained(known, pin.name)) {
      bool isOfOp = pin.name == ringsPin || pin.name == stagesPin;
      std::string hint = didYouMean(pin.name, known);
      diags.error(
          pin.loc,
          (ofKernel ? "kernel '" + schedule.kernel : "op '" + base.name) +
              "' has no block size '" + pin.name + "' to pin",
          isOfOp ? "it is of all kernels: write 'schedule { ... }'" : hint);
      continue;
    }
    if (!pinned.insert(pin.name).second) {
      diags.error(pin.loc, "'" + pin.name + "' is pinned twice");
      continue;
    }
    std::optional<int64_t> value =
        pinnedNumber(pin, /*isBlock=*/blocks.count(pin.name) != 0);
    for (StringAttr target : targets)
      if (value)
        pins.push_back({StringAttr::get(ctx, schedule.kernel), target,
                        StringAttr::get(ctx, pin.name), *value});
  }
}

} // namespace selvedge::frontend
