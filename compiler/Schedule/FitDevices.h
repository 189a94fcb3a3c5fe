// Versions of programs for devices with little shared memory.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_SCHEDULE_FITDEVICES_H
#define SELVEDGE_COMPILER_SCHEDULE_FITDEVICES_H

#include "compiler/Target/TargetInfo.h"
#include "dialect/Tile/Tile.h"

#include <string>

namespace selvedge::schedule {

/// Whether the best plan of a kernel, by the model, takes more shared memory
/// than some devices of the target have.
bool mayTakeMore(tile::ProgramOp program, const TargetInfo &target);

/// The version of `program` for the devices of the target that have the least
/// shared memory; null where there is none.
tile::ProgramOp versionForLeast(tile::ProgramOp program,
                                const TargetInfo &target);

/// What it is called, or would be.
std::string nameForLeast(tile::ProgramOp program, const TargetInfo &target);

/// Adds that version behind the program. Null, and why, where a kernel has no
/// plan that takes so little.
tile::ProgramOp addVersionForLeast(tile::ProgramOp program,
                                   const TargetInfo &target, std::string &why);

/// Why a kernel of the program has no plan; empty where all have one.
std::string findUnplanned(tile::ProgramOp program, const TargetInfo &target);

} // namespace selvedge::schedule

#endif // SELVEDGE_COMPILER_SCHEDULE_FITDEVICES_H
