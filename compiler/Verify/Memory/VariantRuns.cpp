// Executes the launches of a variant with several sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/VariantRuns.h"

#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Memory/StoredElements.h"
#include "compiler/Verify/Passes.h"
#include "dialect/Tile/Limits.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

#include <map>

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// The work of the usual trials of a variant, three tenths of a second, and of
/// those that look for what they have not reached; and of launches of two
/// variants together.
constexpr uint64_t maxUsualWork = 1 << 24, maxFurtherWork = 1 << 24,
                   maxTogetherWork = 1 << 21;
/// Most kernels whose operations can all be reached take less than ten: proofs
/// that some never are begin behind those.
constexpr unsigned numFurther = 96, numUnproved = 10;
/// The same where some thread blocks do.
constexpr uint64_t maxWorkOfSome = 4 << 20;
constexpr unsigned numOfSome = 48;
/// Those that must allow what no size reaches.
constexpr unsigned numForced = 12;
/// More thread blocks may take longer than all trials may.
constexpr int64_t manyBlocks = 256;

VariantRuns::VariantRuns(VariantOp variant, Launches launches,
                         ArrayRef<const ProgramSinks *> programs)
    : variant(variant), launches(launches), leastWork(launches.size()) {
  for (auto [launched, program] : llvm::zip_equal(launches, programs))
    kernels.emplace_back(launched.first, launched.second, program);
  for (const ProgramSinks *program : programs) {
    if (!program || !program->isWhole())
      continue;
    tile::KernelOp kernel = program->getKernel();
    llvm::append_range(segments, segmentRowsOf(kernel));
    llvm::append_range(numbered, numberedDimsOf(kernel));
    written.push_back(kernel);
    noteRows(kernel);
    kernel.walk([&](tile::StoreOp store) {
      unstored.insert(tensorName(store.getTensor()));
    });
  }
}

/// Ranges of segments have blocks of which each segment may have a part.
void VariantRuns::noteRows(tile::KernelOp kernel) {
  for (auto range : kernel.getRanges().getAsRange<tile::IterAttr>())
    for (unsigned symbol = 0; symbol < range.getExtent().getNumSymbols();
         ++symbol)
      if (range.getBlock() && range.getExtent().getNumDims() == 0 &&
          range.getExtent().isFunctionOfSymbol(symbol) &&
          !llvm::is_contained(rows, symbol))
        rows.push_back(symbol);
}

LogicalResult VariantRuns::run() {
  if (failed(runUsual(maxUsualWork, /*scale=*/0)) ||
      failed(runFurther(Further::ByAll)) ||
      failed(runFurther(Further::AtLimits)) ||
      failed(runFurther(Further::BySome)) || failed(runTowards()) ||
      failed(runBehind()) || failed(runBroken()))
    return failure();
  runForced();
  if (failed(checkStored()))
    return failure();
  return checkReached();
}

void VariantRuns::runForced() {
  MLIRContext *context = variant.getContext();
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler silence(context, [&](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  maxWork = work + maxWorkOfSome;
  for (auto [i, runs] : llvm::enumerate(kernels)) {
    if (!runs.startForced())
      continue;
    bool isRefused = false, isAccepted = false;
    for (unsigned number = 0;
         number < numForced && work < maxWork && !isRefused; ++number)
      if (std::optional<LaunchTrial> trial =
              makeTrial(Further::ByAll, i, number)) {
        Outcome outcome = execute(*trial, maxWorkOfSome / 4, Alone{i, true});
        isRefused = outcome == Outcome::Refused;
        isAccepted |= outcome == Outcome::Accepted;
      }
    runs.endForced(isAccepted && !isRefused);
  }
}

LogicalResult VariantRuns::runTogether() {
  return runUsual(maxTogetherWork, numTrialScales - 1);
}

bool VariantRuns::hasRoles() const {
  return llvm::any_of(kernels,
                      [](const KernelRuns &runs) { return runs.hasRoles(); });
}

LogicalResult VariantRuns::measureBlocks(uint64_t limit) {
  auto first = [&](unsigned scale) -> std::optional<LaunchTrial> {
    std::vector<LaunchTrial> trials =
        makeLaunchTrials(variant, launches, rows, scale);
    return trials.empty() ? std::nullopt : std::optional(trials.front());
  };
  std::optional<LaunchTrial> large = first(0);
  bool isMany =
      large && !hasRoles() && llvm::any_of(launches, [&](const auto &launched) {
        return large->numBlocks(launched.first) > manyBlocks;
      });
  std::optional<LaunchTrial> small =
      isMany ? first(numTrialScales - 1) : std::nullopt;
  return failure(small && execute(*small, limit) == Outcome::Refused);
}

uint64_t VariantRuns::expectedWork(const LaunchTrial &trial,
                                   std::optional<Alone> alone) const {
  uint64_t expected = 0;
  // Thread blocks of kernels with roles take tiles until there are none.
  if (hasRoles())
    return expected;
  for (auto [i, launched, least] : llvm::enumerate(launches, leastWork))
    if (least && (!alone || alone->launch == i))
      expected = llvm::SaturatingAdd(
          expected, llvm::SaturatingMultiply<uint64_t>(
                        trial.numBlocks(launched.first), *least));
  return expected;
}

LogicalResult VariantRuns::runUsual(uint64_t budget, unsigned scale) {
  maxWork += budget;
  if (scale == 0 && failed(measureBlocks(budget / 8)))
    return failure();
  unsigned next = 0;
  bool isLonger = false, isTooLong = false;
  while (true) {
    std::vector<LaunchTrial> trials =
        makeLaunchTrials(variant, launches, rows, scale);
    auto trial = llvm::find_if(
        trials, [&](const LaunchTrial &t) { return t.kind >= next; });
    if (trial == trials.end())
      return success();
    if (isTooLong)
      maxWork = work + budget / 8;
    // What comes next is left as much again.
    uint64_t left = maxWork - work;
    Outcome outcome = execute(*trial, isLonger ? left : left / 2);
    if (outcome == Outcome::Refused)
      return failure();
    if (outcome == Outcome::Accepted) {
      next = trial->kind + 1;
      continue;
    }
    // The others would take too long, too.
    if (++scale < numTrialScales)
      continue;
    // Tiles are large: few lanes take as long as many.
    if (!std::exchange(isLonger, true)) {
      maxWork = work + budget / 2;
      continue;
    }
    if (!std::exchange(isTooLong, true))
      remarks.push_back(
          {variant.getLoc(),
           llvm::formatv("variant '{0}' takes too long to be executed with {1}",
                         variant.getName(),
                         trial->str(variant->getParentOfType<PlanOp>()))});
    // Others may be of fewer tiles, or of none.
    next = trial->kind + 1;
  }
}

std::optional<LaunchTrial> VariantRuns::makeTrial(Further kind, size_t launch,
                                                  unsigned number) const {
  switch (kind) {
  case Further::ByAll:
    return makeFurtherTrial(variant, launches, launches[launch], number);
  case Further::AtLimits:
    return makeTrialAtLimit(variant, launches[launch], number);
  case Further::BySome:
    return makeTrialOfSome(variant, launches, launches[launch], number);
  }
  llvm_unreachable("unknown kind");
}

LogicalResult VariantRuns::runFurther(Further kind) {
  bool bySome = kind != Further::ByAll;
  // A tile of a kernel with roles takes all of its steps.
  bool isLong = !bySome || hasRoles();
  uint64_t budget = isLong ? maxFurtherWork : maxWorkOfSome,
           limit = bySome && isLong ? budget : budget / 4;
  for (size_t i : llvm::seq(launches.size())) {
    // What one kernel takes the next one lacks otherwise.
    maxWork = work + budget;
    for (unsigned number = 0; number < (bySome ? numOfSome : numFurther) &&
                              work < maxWork && isOpen(i, kind);
         ++number) {
      if (number == numUnproved)
        kernels[i].prove(Effort::Usual);
      std::optional<LaunchTrial> trial = makeTrial(kind, i, number);
      if (!trial)
        continue;
      if (execute(*trial, limit, Alone{i, bySome}) == Outcome::Refused)
        return failure();
    }
    kernels[i].prove(Effort::Usual);
  }
  return success();
}

bool VariantRuns::isOpen(size_t launch, Further kind) {
  // Few thread blocks take all tiles of a kernel with roles anyway.
  KernelOp kernel = launches[launch].second;
  if (kind == Further::BySome && kernel.hasRoles())
    return false;
  return kernels[launch].findUnreached() ||
         llvm::any_of(unstored, [&](const std::string &tensor) {
           return hasStoreTo(launches[launch].second, tensor);
         });
}

GlobalMemory VariantRuns::makeMemory(const LaunchTrial &trial,
                                     bool bySome) const {
  using Parts = GlobalMemory::Parts;
  GlobalMemory memory(variant->getParentOfType<PlanOp>(), trial.sizes,
                      trial.samples, trial.hasOptionals, trial.turn,
                      bySome ? Parts::Some : Parts::All);
  for (const auto &[integers, tensor, dim, size] : numbered)
    memory.setNumbers(integers, tensor, dim, size);
  return memory;
}

Outcome VariantRuns::execute(const LaunchTrial &trial, uint64_t limit,
                             std::optional<Alone> alone) {
  limit = std::min(limit, maxWork - work);
  GlobalMemory memory = makeMemory(trial, alone && alone->bySome);
  // What has too many elements is not begun, nor what nobody can launch.
  auto isTooLarge = [&](const auto &launched) {
    return trial.numTiles(launched.first) > tile::maxExtent;
  };
  if (memory.getWork() > limit || !memory.canBePassed() ||
      (alone ? isTooLarge(launches[alone->launch])
             : llvm::any_of(launches, isTooLarge)))
    return Outcome::TooLong;
  // The others are left as much as if it had been begun.
  if (!(alone && alone->bySome) && expectedWork(trial, alone) > limit) {
    maxWork -= limit;
    return Outcome::TooLong;
  }
  memory.begin();
  if (alone)
    memory.assumeLaunched();
  Outcome outcome = launchAll(trial, memory, limit, alone);
  work += std::min(memory.getWork(), limit);
  if (outcome != Outcome::Accepted)
    return outcome;
  std::erase_if(unstored, [&](const std::string &tensor) {
    return memory.isStored(tensor);
  });
  if (alone && alone->bySome)
    return outcome;
  bool isRight = succeeded(memory.finish(variant)) &&
                 (alone || (succeeded(checkRows(memory)) &&
                            succeeded(checkElements(memory, trial.callers))));
  return isRight ? outcome : Outcome::Refused;
}

LogicalResult VariantRuns::checkRows(const GlobalMemory &memory) {
  return success(llvm::all_of(segments, [&](const SegmentRows &rows) {
    return succeeded(
        memory.checkRows(variant, rows.tensor, rows.dim, rows.ends));
  }));
}

LogicalResult VariantRuns::checkElements(GlobalMemory &memory,
                                         int64_t callers) {
  return success(llvm::all_of(written, [&](tile::KernelOp kernel) {
    return succeeded(checkStoredElements(variant, kernel, memory, callers));
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

Outcome VariantRuns::launchAll(const LaunchTrial &trial, GlobalMemory &memory,
                               uint64_t limit, std::optional<Alone> alone) {
  for (auto [i, launched, runs] : llvm::enumerate(launches, kernels)) {
    auto [launch, kernel] = launched;
    if (alone && alone->launch != i)
      continue;
    bool bySome = alone && alone->bySome;
    uint64_t before = memory.getWork();
    memory.startLaunch(kernel);
    runs.startTrial();
    SmallVector<int64_t> blocks =
        alone && alone->block ? SmallVector<int64_t>{*alone->block}
        : bySome ? trial.someBlocks(launch)
                 : llvm::to_vector(llvm::seq(trial.numBlocks(launch)));
    for (int64_t block : blocks)
      if (Outcome outcome =
              runs.run(bySome ? trial.ofSome(launch, kernel, block)
                              : trial.of(launch, kernel, block),
                       memory, limit);
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
    if (blocks.empty())
      continue;
    uint64_t each = (memory.getWork() - before) / blocks.size();
    leastWork[i] = std::min(leastWork[i].value_or(each), each);
  }
  return Outcome::Accepted;
}

/// An argument without a promise whose integers decide whether an operation is
/// executed; empty where there is none.
static StringRef unpromisedBound(Operation *op, PlanOp plan) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent);
       parent = parent->getParentOp())
    for (Value decides : parent->getOperands())
      (void)getBackwardSlice(decides, &slice, options);
  for (auto tensor : plan.getTensors().getAsRange<tile::TensorArgAttr>()) {
    StringRef name = tensor.getName();
    auto isPromised = [&](Attribute promise) {
      return cast<tile::RequireAttr>(promise).getTensor() == name;
    };
    auto isRead = [&](Operation *decides) {
      auto load = dyn_cast<LoadOp>(decides);
      return load && tensorName(load.getTensor()) == name &&
             isa<IntegerType>(load.getTensor().getType().getElementType());
    };
    if (llvm::none_of(plan.getPromises(), isPromised) &&
        llvm::any_of(slice, isRead))
      return name;
  }
  return {};
}

LogicalResult VariantRuns::checkReached() {
  for (KernelRuns &runs : kernels) {
    Operation *op = runs.findUnreached();
    if (!op)
      continue;
    InFlightDiagnostic error =
        op->emitOpError(unreachedError)
        << ", found none that kernel '"
        << op->getParentOfType<KernelOp>().getSymName()
        << "' could be tried with, and no proof that it never is";
    if (StringRef bound =
            unpromisedBound(op, variant->getParentOfType<PlanOp>());
        !bound.empty())
      error.attachNote(op->getLoc())
          << "what '" << bound << "' has may be promised: 'requires " << bound
          << " in 0..N'";
    return error;
  }
  return success();
}

} // namespace selvedge::verify
