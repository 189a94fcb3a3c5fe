// Versions of programs for devices with little shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/Schedule/Plan/FitDevices.h"

#include "compiler/Schedule/Plan/Plan.h"
#include "dialect/Tile/Decisions.h"

namespace selvedge::schedule {

using namespace mlir;
using namespace selvedge::tile;

static VersionAttr leastVersionOf(ProgramOp program, const TargetInfo &target) {
  VersionAttr version = program.getVersion().value_or(
      VersionAttr::get(program.getContext(), VersionKind::Program, 0));
  return version.forDevicesWith(target.leastSmemBytesPerBlock);
}

ProgramOp versionForLeast(ProgramOp program, const TargetInfo &target) {
  VersionAttr wanted = leastVersionOf(program, target);
  for (auto other : program->getParentOfType<ModuleOp>().getOps<ProgramOp>())
    if (other.getBaseName() == program.getBaseName() &&
        other.getVersion() == wanted)
      return other;
  return {};
}

std::string nameForLeast(ProgramOp program, const TargetInfo &target) {
  return (program.getBaseName() + "." + leastVersionOf(program, target).str())
      .str();
}

Unplanned findUnplanned(ProgramOp program, const TargetInfo &target) {
  Unplanned unplanned;
  std::string why;
  // Nobody asked for these plans.
  ScopedDiagnosticHandler silence(
      program.getContext(), [&](Diagnostic &diagnostic) {
        if (why.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          why = diagnostic.str();
      });
  for (auto kernel : program.getBody().getOps<KernelOp>()) {
    KernelLayouts layouts(kernel, target);
    why.clear();
    if (failed(rankPlans(kernel, layouts, target)))
      unplanned.emplace(kernel.getSymName(), why);
  }
  return unplanned;
}

ProgramOp addVersionForLeast(ProgramOp program, ProgramOp source,
                             const TargetInfo &target, Unplanned &unplanned) {
  auto version = cast<ProgramOp>(source->clone());
  program->getBlock()->getOperations().insert(std::next(program->getIterator()),
                                              version);
  version.makeVersion(program, leastVersionOf(program, target));
  unplanned = findUnplanned(version, target);
  if (!unplanned.empty()) {
    version.erase();
    return {};
  }
  for (auto kernel : version.getBody().getOps<KernelOp>())
    noteDecision(kernel,
                 {"devices",
                  std::to_string(target.leastSmemBytesPerBlock) +
                      " bytes of shared memory per thread block",
                  "the variant before it takes more, which not all devices "
                  "that run this code have"});
  return version;
}

} // namespace selvedge::schedule
