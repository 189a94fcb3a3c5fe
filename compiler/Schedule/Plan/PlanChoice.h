// A choice among the plans of an op's kernels, as text.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANCHOICE_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANCHOICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace selvedge::schedule {

/// What a schedule of warp roles can be told to leave out, as names of entries:
/// warpgroups multiply in turn; tiles are one pipeline; masked steps come
/// first; maxima are speculated on; a product lags a step. `lag` leaves all of
/// these out.
llvm::ArrayRef<llvm::StringLiteral> scheduleAspects();

/// What the schedule would otherwise choose by its model. As text
/// `main:BM128-BN64-w8;rings=2`, entries in any order; empty: nothing.
struct PlanChoice {
  /// By kernel, a key of planKey(). Kernels of the version for any strides are
  /// called `universal.KERNEL`.
  std::map<std::string, std::string> tiles;
  /// Most slots of a ring of form roles; 0: as the schedule likes.
  int64_t rings = 0;
  /// Buffers per pipelined copy of form async; 0: as the schedule likes.
  int64_t stages = 0;
  /// Kernels that warps execute although the target has warpgroups
  /// (`main:roles=off`).
  std::set<std::string> withoutRoles;
  /// Of scheduleAspects(), those that no kernel with roles has (`turns=off`).
  std::set<std::string> off;
  /// Without it (`bulk=off`) the version for any strides serves all tensors.
  bool bulk = true;

  bool operator==(const PlanChoice &) const = default;
};

/// The text of `choice`.
std::string printChoice(const PlanChoice &choice);

/// Reads printChoice()'s text; none where it is none.
std::optional<PlanChoice> parseChoice(llvm::StringRef text);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_PLANCHOICE_H
