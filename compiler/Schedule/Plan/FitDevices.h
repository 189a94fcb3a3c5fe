// Versions of programs for devices with little shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_PLAN_FITDEVICES_H
#define SELVEDGE_COMPILER_SCHEDULE_PLAN_FITDEVICES_H

#include "compiler/Target/TargetInfo.h"
#include "dialect/Tile/Tile.h"

#include <map>
#include <string>

namespace selvedge::schedule {

/// The version of `program` for the devices of the target that have the least
/// shared memory; null where there is none.
tile::ProgramOp versionForLeast(tile::ProgramOp program,
                                const TargetInfo &target);

/// What it is called, or would be.
std::string nameForLeast(tile::ProgramOp program, const TargetInfo &target);

/// By name, kernels of a program, and why they have no plan.
using Unplanned = std::map<std::string, std::string>;

/// The kernels of the program that have none.
Unplanned findUnplanned(tile::ProgramOp program, const TargetInfo &target);

/// Adds that version behind the program, made of `source`: the program, or the
/// same with other products. Null where a kernel has no plan that takes so
/// little.
tile::ProgramOp addVersionForLeast(tile::ProgramOp program,
                                   tile::ProgramOp source,
                                   const TargetInfo &target,
                                   Unplanned &unplanned);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_PLAN_FITDEVICES_H
