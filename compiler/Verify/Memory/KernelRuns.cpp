// Executes the thread blocks of a kernel with concrete sizes.
// SPDX-License-Identifier: MIT
#include "compiler/Verify/Memory/KernelRuns.h"

#include "compiler/Verify/Arithmetic/AccessBounds.h"
#include "compiler/Verify/Arithmetic/KernelSeed.h"
#include "compiler/Verify/Arithmetic/PredicateWords.h"
#include "compiler/Verify/Async/SmAsyncRules.h"
#include "compiler/Verify/Memory/NeverSet.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace selvedge::verify {

using namespace mlir;
using namespace selvedge::sm;

KernelRuns::KernelRuns(LaunchOp launch, KernelOp kernel,
                       const ProgramSinks *program)
    : launch(launch), kernel(kernel), skeleton(integers, paths, /*stages=*/1),
      scanner(integers, paths, /*stages=*/1) {
  if (program)
    sinks.emplace(kernel, *program);
}

void KernelRuns::startTrial() {
  if (sinks)
    sinks->startTrial();
}

bool KernelRuns::hasRoles() const { return KernelOp(kernel).hasRoles(); }

/// What an operation takes, compared with a lane of a tile.
static constexpr uint64_t stepWork = 16;

void KernelRuns::start(Skeleton &by, const Trial &trial, GlobalMemory &memory) {
  by.readFrom([this, &memory](Agent &agent, LoadOp load) {
    return read(agent, load, memory);
  });
  integers.startPath();
  by.startPath(trial.samples, /*alternate=*/false, trial.callers,
               trial.hasOptionals, trial.takesOthers);
  by.limitTrips(trial.mostTrips);
  paths = {};
}

uint64_t KernelRuns::scan(const Trial &trial, GlobalMemory &memory,
                          BranchDistance &distance) {
  // Loops that only count may be long.
  constexpr uint64_t mostSteps = 1 << 14;
  start(scanner, trial, memory);
  watch(scanner, &distance);
  SmAsyncRules rules(integers, scanner.getNumbers(), kernel, trial, &memory);
  Agent &agent = rules.getAgents().front();
  scanner.start(agent, kernel.getBody().front());
  uint64_t begin = scanner.numSteps();
  // Numbers of the thread block, and what is present; not what waits for
  // others, which do not follow.
  auto isNumber = [](const Instruction &code) {
    return code.op->getNumResults() > 0 && !code.exchanges &&
           !isa<LoadOp>(code.op) &&
           llvm::all_of(code.op->getResultTypes(),
                        [](Type type) { return type.isInteger(); });
  };
  auto apply = [&](Agent &executes, Instruction &code) {
    return isNumber(code) ? rules.apply(executes, code) : Progress::Advanced;
  };
  bool isThere = false;
  while (!isThere && scanner.step(agent, apply) == Progress::Advanced &&
         scanner.numSteps() - begin < mostSteps)
    // Where data decide, too.
    isThere = agent.frames.back().block == distance.getTarget();
  memory.addWork(stepWork * (scanner.numSteps() - begin));
  watch(scanner, nullptr);
  uint64_t least = distance.takeLeast();
  return isThere ? 0 : std::max<uint64_t>(least, 1);
}

Outcome KernelRuns::run(const Trial &trial, GlobalMemory &memory,
                        uint64_t limit) {
  start(skeleton, trial, memory);
  SmAsyncRules rules(integers, skeleton.getNumbers(), kernel, trial, &memory,
                     sinks ? &*sinks : nullptr);
  MutableArrayRef<Agent> agents = rules.getAgents();
  for (Agent &agent : agents)
    skeleton.start(agent, kernel.getBody().front());
  auto apply = [&](Agent &agent, Instruction &code) {
    return rules.apply(agent, code);
  };
  bool isTooLong = false;
  uint64_t steps = skeleton.numSteps();
  Ending ending = runRoundRobin(agents.size(), [&](unsigned agent) {
    memory.addWork(stepWork * (skeleton.numSteps() -
                               std::exchange(steps, skeleton.numSteps())));
    isTooLong = memory.getWork() > limit;
    return isTooLong ? Progress::Failed : skeleton.step(agents[agent], apply);
  });
  if (isTooLong)
    return Outcome::TooLong;
  LogicalResult result = ending == Ending::Failed     ? failure()
                         : ending == Ending::Deadlock ? rules.reportDeadlock()
                                                      : rules.finish();
  return succeeded(result) ? Outcome::Accepted : Outcome::Refused;
}

Outcome KernelRuns::finishTrial(
    GlobalMemory &memory, int64_t callers,
    llvm::function_ref<void(InFlightDiagnostic &)> describe) {
  std::optional<SinkMatches::Missing> missing;
  if (sinks)
    missing = sinks->findMissing(memory, callers);
  if (!missing)
    return Outcome::Accepted;
  InFlightDiagnostic error =
      missing->op->emitOpError("expects to be executed for all lanes of the "
                               "program's ")
      << missing->sink << ", found none with " << missing->place;
  describe(error);
  return Outcome::Refused;
}

/// What is done where, and only where, a block is executed.
static Operation *firstEffect(Block &block) {
  for (Operation &op : block)
    if (!isa<arith::ArithDialect, scf::SCFDialect>(op.getDialect()))
      return &op;
  return nullptr;
}

SmallVector<Block *> KernelRuns::unreachedBlocks(bool all) {
  SmallVector<Block *> found;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Block *block) {
    if (hasReached(block))
      return WalkResult::advance();
    if (isNeverExecuted(block))
      return WalkResult::skip();
    // Those inside of one that only decides.
    if (!firstEffect(*block))
      return WalkResult::advance();
    found.push_back(block);
    return all ? WalkResult::skip() : WalkResult::interrupt();
  });
  return found;
}

Operation *KernelRuns::findUnreached() {
  SmallVector<Block *> found = unreachedBlocks(/*all=*/false);
  return found.empty() ? nullptr : firstEffect(*found.front());
}

void KernelRuns::prove(Effort by) {
  if (std::exchange(effort, by) == by)
    return;
  llvm::DenseMap<Block *, bool> proved;
  for (auto [block, isNever] : never)
    if (isNever)
      proved[block] = true;
  never = std::move(proved);
}

void KernelRuns::watch(Skeleton &by, BranchDistance *distance) {
  if (!distance)
    return by.watch(nullptr);
  by.watch([this, distance](const Agent &agent, Operation *owner) {
    distance->observe(agent, integers, owner);
  });
}

bool KernelRuns::startForced() {
  Skeleton::Blocks blocks;
  for (Block *block : unreachedBlocks(/*all=*/true))
    // The ways that lead there, too: up to the kernel, of which no size may
    // have been small enough to be executed.
    for (; !hasReached(block); block = block->getParentOp()->getBlock()) {
      blocks.insert(block);
      if (isa<KernelOp>(block->getParentOp()))
        break;
    }
  refused = blocks;
  skeleton.force(std::move(blocks));
  return !refused.empty();
}

void KernelRuns::endForced(bool isAccepted) {
  if (isAccepted)
    refused.clear();
  skeleton.force({});
}

AccessBounds KernelRuns::makeBounds() {
  auto plan = launch->getParentOfType<PlanOp>();
  auto seed = [launch = launch, kernel = kernel](IndexValues &values,
                                                 ArrayRef<Polynomial> dims) {
    seedLaunch(launch, kernel, values, dims);
  };
  AccessBounds made(plan.getDims(), plan.getTensors(), seed);
  // What a broken promise executes is inside of its tensors: that is proved of
  // kernels without roles.
  if (!hasRoles())
    made.assumePromises(plan.getPromises());
  return made;
}

AccessBounds &KernelRuns::bounds() {
  if (!known)
    known.emplace(makeBounds());
  return *known;
}

std::vector<std::vector<AccessBounds>> &KernelRuns::boundsBySize() {
  if (!bySize) {
    bySize.emplace();
    for (ArrayRef<DimSize> sizes :
         fewSizesOf(launch->getParentOfType<VariantOp>())) {
      std::vector<AccessBounds> &each = bySize->emplace_back();
      for (DimSize size : sizes)
        each.emplace_back(makeBounds()).assumeSize(size);
    }
  }
  return *bySize;
}

bool KernelRuns::isNeverExecuted(Block *block) {
  // What other roles send may be any number.
  if (!isa<scf::ForOp, scf::IfOp>(block->getParentOp()))
    return false;
  auto [found, isNew] = never.try_emplace(block, false);
  if (!isNew)
    return found->second;
  if (effort != Effort::BySizes)
    return found->second = isNeverExecuted(block, bounds(), effort);
  auto isNever = [&](AccessBounds &bounds) {
    return isNeverExecuted(block, bounds, Effort::Thorough);
  };
  // Sizes of any one dim are enough.
  return found->second =
             llvm::any_of(boundsBySize(), [&](std::vector<AccessBounds> &each) {
               return llvm::all_of(each, isNever);
             });
}

bool KernelRuns::isNeverExecuted(Block *block, AccessBounds &bounds,
                                 Effort effort) {
  bool isThorough = effort == Effort::Thorough;
  Operation *owner = block->getParentOp();
  auto branch = dyn_cast<scf::IfOp>(owner);
  auto isSame = [&](scf::IfOp outer) {
    return isThorough && bounds.isSameForAllTiles(outer);
  };
  if (branch && block == branch.thenBlock() && isNeverSet(branch, isSame))
    return true;
  if (!branch)
    return bounds.isEmpty(cast<scf::ForOp>(owner), effort) ||
           bounds.isEmptyOfWords(cast<scf::ForOp>(owner), isThorough);
  bool arm = block == branch.thenBlock();
  return bounds.isNeverTaken(branch, arm, isThorough) ||
         bounds.isNeverTakenBySteps(branch, arm) ||
         bounds.isNeverTakenOfWords(branch, arm, isThorough) ||
         (isThorough && bounds.isNeverTakenInside(branch, arm));
}

std::optional<int64_t> KernelRuns::read(Agent &agent, LoadOp load,
                                        const GlobalMemory &memory) {
  auto known = [&](Value value) -> std::optional<int64_t> {
    Tracked tracked = agent.values.lookup(value);
    return tracked.kind == Tracked::Kind::Integer ? integers.known(tracked.id)
                                                  : std::nullopt;
  };
  for (Value p : load.getPresence())
    if (known(p) == 0)
      return 0;
  SmallVector<int64_t> indices;
  for (Value index : load.getIndices()) {
    std::optional<int64_t> number = known(index);
    if (!number)
      return std::nullopt;
    indices.push_back(*number);
  }
  return memory.elementOf(tensorName(load.getTensor()), indices);
}

} // namespace selvedge::verify
