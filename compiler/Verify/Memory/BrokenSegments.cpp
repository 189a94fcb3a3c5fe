// Executes kernels over segments where the caller has broken the promise that
// they are segments.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/KernelDims.h"
#include "compiler/Verify/Memory/VariantRuns.h"
#include "dialect/Tile/Limits.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

/// What one execution may take.
constexpr uint64_t maxWorkOfBroken = 1 << 20;

/// Ends of one segment of `rows` rows: it begins before row 0, or ends behind
/// the last row. Some row lies in it, and another does not.
static std::vector<std::vector<int64_t>> outside(int64_t rows) {
  return {{-1, rows - 1}, {1, rows + 1}};
}

/// Ends of as many segments as a loop looks at in two steps and a part: the
/// first or the last one ends before it begins.
static std::vector<std::vector<int64_t>> backward(int64_t rows, int64_t step) {
  size_t count = 2 * step + 2;
  std::vector<int64_t> first(count, 0), last(count, 0);
  first.front() = 1;
  first.back() = rows;
  last[count - 2] = rows;
  last[count - 1] = rows - 1;
  return {std::move(first), std::move(last)};
}

/// Ends of segments, one of which has all rows: others go on behind the last
/// row, by less than a block and by more. Tiles of a segment may come first or
/// last.
static std::vector<std::vector<int64_t>> behind(int64_t rows) {
  constexpr int64_t far = 4 * tile::maxBlock;
  return {{0, rows, rows + 1, rows + far},
          {rows, rows + far, 0, rows},
          {rows, rows + 1, 0, rows}};
}

SmallVector<tile::RequireAttr> VariantRuns::promisesOf(KernelOp kernel) const {
  auto isRead = [&](tile::RequireAttr promise) {
    return kernel
        .walk([&](LoadOp load) {
          return tensorName(load.getTensor()) == promise.getTensor()
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  SmallVector<tile::RequireAttr> found;
  for (auto promise : variant->getParentOfType<PlanOp>()
                          .getPromises()
                          .getAsRange<tile::RequireAttr>())
    if (promise.getOrdered() && isRead(promise))
      found.push_back(promise);
  return found;
}

LogicalResult VariantRuns::runBroken() {
  for (auto [i, launched] : llvm::enumerate(launches)) {
    StringRef name = initialisedBy(launched.second);
    if (name.empty())
      continue;
    for (tile::RequireAttr promise : promisesOf(launched.second))
      if (failed(runBroken(i, name, promise)))
        return failure();
  }
  return success();
}

LogicalResult VariantRuns::runBehind() {
  for (auto [i, launched] : llvm::enumerate(launches))
    for (tile::RequireAttr promise : promisesOf(launched.second)) {
      if (!kernels[i].findUnreached())
        break;
      std::optional<BrokenTrial> broken = brokenTrial(i, promise);
      if (!broken)
        continue;
      for (ArrayRef<int64_t> ends : behind(broken->rows)) {
        std::optional<GlobalMemory> memory =
            takeEnds(broken->trial, promise, ends);
        if (!memory)
          continue;
        memory->assumeLaunched();
        if (executeBroken(i, broken->trial, *memory, /*byAll=*/false) ==
            Outcome::Refused)
          return failure();
      }
    }
  return success();
}

std::optional<VariantRuns::BrokenTrial>
VariantRuns::brokenTrial(size_t launch, tile::RequireAttr promise) const {
  std::vector<LaunchTrial> trials =
      makeLaunchTrials(variant, launches[launch], {}, numTrialScales - 1);
  if (trials.empty())
    return std::nullopt;
  LaunchTrial &trial = trials.front();
  constexpr int64_t fewRows = 3;
  for (auto [symbol, size] : llvm::enumerate(trial.sizes))
    if (promise.getHi().isFunctionOfSymbol(symbol))
      size = std::max(size, fewRows);
  int64_t rows =
      makeMemory(trial, /*bySome=*/true).extentOf(promise.getHi()).value_or(0);
  return BrokenTrial{std::move(trial), rows};
}

LogicalResult VariantRuns::runBroken(size_t launch, StringRef initialised,
                                     tile::RequireAttr promise) {
  KernelOp kernel = launches[launch].second;
  std::optional<BrokenTrial> broken = brokenTrial(launch, promise);
  if (!broken)
    return success();
  auto &[trial, rows] = *broken;
  for (ArrayRef<int64_t> ends : outside(rows)) {
    Initialised all = initialise(launch, initialised, trial, promise, ends);
    if (all.outcome == Outcome::Refused ||
        (all.outcome == Outcome::Accepted && !all.isComplete))
      return failure();
  }
  SmallVector<int64_t> steps = stepsOf(kernel, tile::maxBlock);
  for (std::vector<int64_t> &ends :
       backward(rows, steps.empty() ? 1 : steps.front())) {
    Initialised some = initialise(launch, initialised, trial, promise, ends);
    // As if the first one began before row 0.
    ends.front() = -1;
    Initialised all = initialise(launch, initialised, trial, promise, ends);
    if (some.outcome == Outcome::Refused || all.outcome == Outcome::Refused)
      return failure();
    if (some.outcome == Outcome::Accepted && all.outcome == Outcome::Accepted &&
        some.count != all.count)
      return kernel.emitOpError("expects to initialise all of '")
             << initialised << "' where a segment of '"
             << promise.getTensor().getValue() << "' ends before it begins";
  }
  return success();
}

std::optional<GlobalMemory>
VariantRuns::takeEnds(LaunchTrial &trial, tile::RequireAttr promise,
                      ArrayRef<int64_t> ends) const {
  auto plan = variant->getParentOfType<PlanOp>();
  for (auto arg : plan.getTensors().getAsRange<tile::TensorArgAttr>())
    for (auto [symbol, size] : llvm::enumerate(trial.sizes))
      if (arg.getName() == promise.getTensor() &&
          arg.getShape().getResult(0) ==
              getAffineSymbolExpr(symbol, plan.getContext()) + 1)
        size = static_cast<int64_t>(ends.size()) - 1;
  GlobalMemory memory = makeMemory(trial, /*bySome=*/false);
  if (memory.getWork() > maxWorkOfBroken)
    return std::nullopt;
  memory.setSegments(promise.getTensor(), ends);
  memory.begin();
  return memory;
}

Outcome VariantRuns::executeBroken(size_t launch, const LaunchTrial &trial,
                                   GlobalMemory &memory, bool byAll) {
  auto [op, kernel] = launches[launch];
  memory.startLaunch(kernel);
  kernels[launch].startTrial();
  Outcome outcome = Outcome::Accepted;
  for (int64_t block : byAll ? llvm::to_vector(llvm::seq(trial.numBlocks(op)))
                             : trial.someBlocks(op))
    if (outcome == Outcome::Accepted)
      outcome = kernels[launch].run(trial.of(op, kernel, block), memory,
                                    maxWorkOfBroken);
  work += memory.getWork();
  return outcome;
}

VariantRuns::Initialised
VariantRuns::initialise(size_t launch, StringRef tensor, LaunchTrial trial,
                        tile::RequireAttr promise, ArrayRef<int64_t> ends) {
  std::optional<GlobalMemory> memory = takeEnds(trial, promise, ends);
  if (!memory)
    return {Outcome::TooLong};
  bool byAll = ends.size() == 2;
  Outcome outcome = executeBroken(launch, trial, *memory, byAll);
  return {outcome, memory->numWritten(tensor),
          outcome == Outcome::Accepted && byAll &&
              succeeded(memory->checkWritten(variant, tensor))};
}

} // namespace selvedge::verify
