// Runs kernels over their grids.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_PHYSICAL_LAUNCH_H
#define SELVEDGE_COMPILER_PHYSICAL_LAUNCH_H

#include "compiler/Physical/Executor.h"
#include "compiler/Physical/Physical.h"

namespace selvedge::physical {

/// The version of a program that is for the arguments' dims, or the program.
tile::ProgramOp versionFor(tile::ProgramOp program,
                           const reference::Arguments &arguments);

/// Runs the kernels of a program in order. Fails on sizes that are not bound.
llvm::Error launchProgram(tile::ProgramOp program,
                          reference::Arguments &arguments,
                          PoisonSource &poison);

/// Runs the launches of one variant: the named one, or the first that suits
/// contiguous tensors. `initialised` is that of Options.
llvm::Error launchPlan(sm::PlanOp plan, llvm::StringRef variant,
                       reference::Arguments &arguments, PoisonSource &poison,
                       Footprint *initialised = nullptr);

} // namespace selvedge::physical

#endif // SELVEDGE_COMPILER_PHYSICAL_LAUNCH_H
