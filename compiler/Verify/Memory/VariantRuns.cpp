// Executes the launches of a variant with several sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/VariantRuns.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The work of the usual trials of a variant, three tenths of a second, and of
/// those that look for what they have not reached; and of launches of two
/// variants together.
constexpr uint64_t maxUsualWork = 1 << 24, maxFurtherWork = 5 << 20,
                   maxTogetherWork = 1 << 21;
/// Most kernels whose operations can all be reached take less than ten.
constexpr unsigned numFurther = 96;
/// The same where some thread blocks do.
constexpr uint64_t maxWorkOfSome = 4 << 20;
constexpr unsigned numOfSome = 48;

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
  if (failed(runUsual(maxUsualWork, /*scale=*/0)) ||
      failed(runFurther(/*bySome=*/false)) ||
      failed(runFurther(/*bySome=*/true)))
    return failure();
  Operation *op = findUnreached();
  if (failed(checkStored()))
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

LogicalResult VariantRuns::runTogether() {
  return runUsual(maxTogetherWork, numTrialScales - 1);
}

LogicalResult VariantRuns::runUsual(uint64_t budget, unsigned scale) {
  maxWork += budget;
  unsigned next = 0;
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

LogicalResult VariantRuns::runFurther(bool bySome) {
  maxWork = work + (bySome ? maxWorkOfSome : maxFurtherWork);
  for (size_t i : llvm::seq(launches.size()))
    for (unsigned number = 0; number < (bySome ? numOfSome : numFurther) &&
                              work < maxWork && isOpen(i, bySome);
         ++number) {
      std::optional<LaunchTrial> trial =
          bySome ? makeTrialOfSome(variant, launches, launches[i], number)
                 : makeFurtherTrial(variant, launches, launches[i], number);
      if (!trial)
        continue;
      if (execute(*trial, bySome ? maxWorkOfSome / 4 : maxFurtherWork / 2,
                  Alone{i, bySome}) == Outcome::Refused)
        return failure();
    }
  return success();
}

/// Whether a kernel has a store to a tensor, whatever its presence.
static bool hasStoreTo(KernelOp kernel, StringRef tensor) {
  return kernel
      .walk([&](Operation *op) {
        Value target =
            llvm::TypeSwitch<Operation *, Value>(op)
                .Case<StoreOp, BulkReduceOp>(
                    [](auto store) { return store.getTensor(); })
                .Case([](TmaStoreOp store) { return store.getMap(); })
                .Default([](Operation *) { return Value(); });
        return target && tensorName(target) == tensor ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

bool VariantRuns::isOpen(size_t launch, bool bySome) {
  // Few thread blocks take all tiles of a kernel with roles anyway.
  KernelOp kernel = launches[launch].second;
  if (bySome && !kernel.getBody().getOps<RoleOp>().empty())
    return false;
  return kernels[launch].findUnreached() ||
         llvm::any_of(unstored, [&](const std::string &tensor) {
           return hasStoreTo(launches[launch].second, tensor);
         });
}

Outcome VariantRuns::execute(const LaunchTrial &trial, uint64_t limit,
                             std::optional<Alone> alone) {
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
  if (alone && alone->bySome)
    return outcome;
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
  for (const std::string &tensor : unstored) {
    bool isMeant = llvm::any_of(launches, [&](const auto &launched) {
      return hasStoreTo(launched.second, tensor);
    });
    if (!isMeant)
      return variant.emitOpError("expects launches that store to '")
             << tensor << "', as the program does, found none";
    // The program's own store may be of no element.
    remarks.push_back(
        {variant.getLoc(),
         llvm::formatv("no size that was tried stores to '{0}'", tensor)});
  }
  return success();
}

/// All thread blocks of a launch, or the last ones, the first ones, and one
/// between: most loops of the last one have steps.
static SmallVector<int64_t> blocksOf(int64_t count, bool bySome) {
  if (bySome && count > 5)
    return {count - 1, count / 2, 0, count - 2, 1};
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

Outcome VariantRuns::launchAll(const LaunchTrial &trial, GlobalMemory &memory,
                               uint64_t limit, std::optional<Alone> alone) {
  if (memory.getWork() > limit)
    return Outcome::TooLong;
  for (auto [i, launched, runs] : llvm::enumerate(launches, kernels)) {
    auto [launch, kernel] = launched;
    if (alone && alone->launch != i)
      continue;
    bool bySome = alone && alone->bySome;
    memory.startLaunch(kernel);
    runs.startTrial();
    for (int64_t block : blocksOf(trial.numBlocks(launch), bySome))
      if (Outcome outcome =
              runs.run(trial.of(launch, kernel, block), memory, limit);
          outcome != Outcome::Accepted)
        return outcome;
    if (bySome)
      continue;
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
