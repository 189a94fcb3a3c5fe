// What tests of an op have to know of how it is compiled.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_DRIVER_PLANFACTS_H
#define SELVEDGE_COMPILER_DRIVER_PLANFACTS_H

#include "compiler/Driver/Compiler.h"

#include <map>
#include <set>

namespace selvedge {

/// What tests of an op have to know of how it is compiled.
struct PlanFacts {
  /// By dim, the elements of it that kernels take at a time, in all versions of
  /// the op. Dims that kernels take one by one are missing.
  std::map<std::string, std::set<int64_t>> blocks;
  /// Those of them that loops inside of kernels take.
  std::set<std::string> loops;
  /// Whether a mask removes data that is present, which in MaskMode::Tile may
  /// then make rows of its tile NaN.
  bool removesPresentData = false;
};

/// Runs the passes, without verifiers, to where plans are bound.
CompileResult findPlanFacts(const CompileRequest &request, PlanFacts &facts);

} // namespace selvedge

#endif // SELVEDGE_COMPILER_DRIVER_PLANFACTS_H
