// Executes the launches of a variant with several sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/VariantRuns.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The work of the usual trials of a variant, three tenths of a second, and of
/// those that look for what they have not reached.
constexpr uint64_t maxUsualWork = 1 << 24, maxFurtherWork = 5 << 20;
/// Most kernels whose operations can all be reached take less than ten.
constexpr unsigned numFurther = 96;

VariantRuns::VariantRuns(VariantOp variant, Launches launches,
                         ArrayRef<const ProgramSinks *> programs)
    : variant(variant), launches(launches) {
  for (auto [launched, program] : llvm::zip_equal(launches, programs))
    kernels.emplace_back(launched.first, launched.second, program);
  for (const ProgramSinks *program : programs) {
    if (!program || !program->isWhole())
      continue;
    tile::KernelOp kernel = program->getKernel();
    llvm::append_range(segments, segmentRowsOf(kernel));
    kernel.walk([&](tile::StoreOp store) {
      unstored.insert(tensorName(store.getTensor()));
    });
  }
}

LogicalResult VariantRuns::run() {
  if (failed(runUsual()) || failed(runFurther()))
    return failure();
  Operation *op = findUnreached();
  if (!op && remarks.empty() && failed(checkStored()))
    return failure();
  if (op)
    remarks.push_back(
        {op->getLoc(),
         llvm::formatv("kernel '{0}' has operations that no size executes "
                       "which was tried, first {1}",
                       op->getParentOfType<KernelOp>().getSymName(),
                       op->getName().getStringRef())});
  return success();
}

LogicalResult VariantRuns::runUsual() {
  maxWork += maxUsualWork;
  unsigned scale = 0, next = 0;
  while (true) {
    std::vector<LaunchTrial> trials =
        makeLaunchTrials(variant, launches, scale);
    auto trial = llvm::find_if(
        trials, [&](const LaunchTrial &t) { return t.kind >= next; });
    if (trial == trials.end())
      return success();
    // What comes next is left as much again.
    Outcome outcome = execute(*trial, (maxWork - work) / 2);
    if (outcome == Outcome::Refused)
      return failure();
    if (outcome == Outcome::Accepted) {
      next = trial->kind + 1;
      continue;
    }
    // The others would take too long, too.
    if (++scale < numTrialScales)
      continue;
    remarks.push_back(
        {variant.getLoc(),
         llvm::formatv("variant '{0}' takes too long to be executed with {1}",
                       variant.getName(),
                       trial->str(variant->getParentOfType<PlanOp>()))});
    return success();
  }
}

LogicalResult VariantRuns::runFurther() {
  maxWork = work + maxFurtherWork;
  for (auto [i, runs] : llvm::enumerate(kernels))
    for (unsigned number = 0;
         number < numFurther && work < maxWork && runs.findUnreached();
         ++number)
      if (std::optional<LaunchTrial> trial =
              makeFurtherTrial(variant, launches, launches[i], number))
        if (execute(*trial, maxFurtherWork / 2, i) == Outcome::Refused)
          return failure();
  return success();
}

Outcome VariantRuns::execute(const LaunchTrial &trial, uint64_t limit,
                             std::optional<size_t> alone) {
  auto plan = variant->getParentOfType<PlanOp>();
  limit = std::min(limit, maxWork - work);
  GlobalMemory memory(plan, trial.sizes, trial.samples, trial.hasOptionals,
                      trial.turn);
  bool isBegun = memory.getWork() <= limit;
  if (alone)
    memory.assumeLaunched();
  Outcome outcome = launchAll(trial, memory, limit, alone);
  // What has too many elements is not begun.
  if (outcome != Outcome::TooLong || isBegun)
    work += std::min(memory.getWork(), limit);
  if (outcome != Outcome::Accepted)
    return outcome;
  std::erase_if(unstored, [&](const std::string &tensor) {
    return memory.isStored(tensor);
  });
  bool isRight = succeeded(memory.finish(variant)) &&
                 (alone || succeeded(checkRows(memory)));
  return isRight ? outcome : Outcome::Refused;
}

LogicalResult VariantRuns::checkRows(const GlobalMemory &memory) {
  return success(llvm::all_of(segments, [&](const SegmentRows &rows) {
    return succeeded(
        memory.checkRows(variant, rows.tensor, rows.dim, rows.ends));
  }));
}

LogicalResult VariantRuns::checkStored() {
  if (unstored.empty())
    return success();
  return variant.emitOpError("expects launches that store to '")
         << *unstored.begin()
         << "', as the program does, found none for any sizes";
}

Outcome VariantRuns::launchAll(const LaunchTrial &trial, GlobalMemory &memory,
                               uint64_t limit, std::optional<size_t> alone) {
  if (memory.getWork() > limit)
    return Outcome::TooLong;
  for (auto [i, launched, runs] : llvm::enumerate(launches, kernels)) {
    auto [launch, kernel] = launched;
    if (alone && *alone != i)
      continue;
    memory.startLaunch(kernel);
    runs.startTrial();
    for (int64_t block = 0; block < trial.numBlocks(launch); ++block)
      if (Outcome outcome =
              runs.run(trial.of(launch, kernel, block), memory, limit);
          outcome != Outcome::Accepted)
        return outcome;
    auto describe = [&](InFlightDiagnostic &error) {
      error.attachNote(launch.getLoc())
          << "with " << trial.str(variant->getParentOfType<PlanOp>());
    };
    if (Outcome outcome = runs.finishTrial(memory, trial.callers, describe);
        outcome != Outcome::Accepted)
      return outcome;
  }
  return Outcome::Accepted;
}

Operation *VariantRuns::findUnreached() {
  for (KernelRuns &runs : kernels)
    if (Operation *op = runs.findUnreached())
      return op;
  return nullptr;
}

} // namespace selvedge::verify
