// Sizes of all axes of a kernel for a candidate, and what a schedule pins.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANBINDING_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANBINDING_H

#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Plan/PlanTables.h"

#include <map>

namespace selvedge::schedule {

/// What a schedule pins of a kernel.
struct Pins {
  /// By block symbol.
  std::map<std::string, int64_t> blocks;
  std::optional<int64_t> warps;

  bool isEmpty() const { return blocks.empty() && !warps; }
  /// The size of an axis that is walked in blocks of a pinned size.
  std::optional<int64_t> sizeOf(tile::AxisAttr axis) const {
    auto found =
        axis.getBlock() ? blocks.find(axis.getBlock().str()) : blocks.end();
    return found == blocks.end() ? std::nullopt : std::optional(found->second);
  }
};

/// Those of kernels that the program has: other versions, and what initialises
/// outputs, are the compiler's.
Pins findPins(tile::KernelOp kernel, const TargetInfo &target);

/// Candidates for a kernel whose rows `threads` share.
llvm::SmallVector<Candidate> candidatesForRows(tile::KernelOp kernel,
                                               int64_t threads);

/// The sizes that a candidate gives all axes, those that a schedule pins
/// excepted; columns are multiples of the granule. `layouts` then share
/// operands as the candidate does.
KernelPlan bind(tile::KernelOp kernel, KernelLayouts &layouts,
                const Candidate &c, int64_t columnGranule, const Pins &pins);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANBINDING_H
