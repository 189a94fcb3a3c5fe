// The passes of a compilation: kernels have roles if all verifiers agree.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/LostRoles.h"
#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Driver/Session.h"
#include "compiler/Driver/SourceDiagnostics.h"
#include "compiler/Schedule/Loops/FlattenNests.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Schedule/Roles/JoinedLoops.h"
#include "compiler/Target/Lanes/SharedMemory.h"
#include "compiler/Verify/Passes.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace selvedge::driver {

using namespace mlir;

/// What passes did to a module.
struct PassOutcome {
  bool isDone = false;
  /// Ready to print.
  std::string diagnostics;
  unsigned numErrors = 0;
  std::string firstError;
  /// What verifiers could not do.
  std::vector<std::string> remarks;
  /// The pass that failed: often by the program's fault, but never where its
  /// output is invalid IR.
  std::string pass;
  bool invalidIR = false;
  /// Kernels that it is about, by name in a PlanChoice, and their symbols.
  std::vector<std::string> kernels, symbols;

  bool isVerifier() const {
    return llvm::StringRef(pass).starts_with("verify-");
  }
  /// Whether the compiler's own output was found wrong.
  bool isRefused() const { return isVerifier() || invalidIR; }
  std::string why() const { return pass + ": " + firstError; }
  /// Leaves the kernels that the error names, if it names some.
  void keepNamed() {
    std::vector<std::string> named;
    for (auto [kernel, symbol] : llvm::zip_equal(kernels, symbols))
      if (llvm::StringRef(firstError).contains("kernel '" + symbol + "'"))
        named.push_back(kernel);
    if (!named.empty())
      kernels = std::move(named);
  }
  /// Whether kernels have to be planned again before anything else.
  bool isStopped() const {
    return pass == stopAtLostRoles || pass == stopAtTooLarge;
  }
};

namespace {

/// Fills a failure in.
struct FailureWatch : PassInstrumentation {
  FailureWatch(MLIRContext &context, PassOutcome &outcome)
      : context(context), outcome(outcome) {}

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!outcome.pass.empty())
      return;
    outcome.pass = pass->getArgument().str();
    // Others may work on other kernels: the passes run again, one by one.
    if (context.isMultithreadingEnabled())
      return;
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    outcome.invalidIR = failed(mlir::verify(op));
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    // Only its error says which kernel a verifier of modules is about.
    for (auto [name, kernel] : scheduledKernels(module))
      if (isa<ModuleOp>(op) || kernel == op) {
        outcome.kernels.push_back(name);
        outcome.symbols.push_back(kernel.getSymName().str());
      }
  }

  MLIRContext &context;
  PassOutcome &outcome;
};

} // namespace

PassOutcome Session::attempt(ModuleOp source,
                             llvm::function_ref<void(OpPassManager &)> build,
                             const Observe &observe, bool isVerified) {
  while (true) {
    PassOutcome outcome;
    SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                  outcome.diagnostics);
    module = source.clone();
    PassManager pm(&context, ModuleOp::getOperationName());
    pm.addInstrumentation(std::make_unique<FailureWatch>(context, outcome));
    if (observe)
      pm.addInstrumentation(observe());
    pm.enableVerifier(isVerified);
    build(pm);
    outcome.isDone = succeeded(pm.run(*module));
    outcome.numErrors = diagnostics.getNumErrors();
    outcome.firstError = diagnostics.getFirstError();
    outcome.keepNamed();
    outcome.remarks = diagnostics.takeRemarks();
    if (outcome.isDone || outcome.isStopped() ||
        !context.isMultithreadingEnabled())
      return outcome;
    // Which of several failures comes first must not depend on threads.
    context.disableMultithreading();
  }
}

bool Session::refuse(const PassOutcome &outcome) {
  bool isUnreached =
      llvm::StringRef(outcome.firstError).contains(verify::unreachedError);
  if ((outcome.isRefused() && !isUnreached) || outcome.numErrors == 0)
    return internalError("pass '" + outcome.pass +
                         (outcome.isVerifier()
                              ? "' refused the compiler's own output"
                              : "' failed"));
  result.status = CompileStatus::BadInput;
  return false;
}

bool Session::conclude(const PassOutcome &outcome) {
  result.diagnostics += outcome.diagnostics;
  return outcome.isDone || refuse(outcome);
}

bool Session::transform(ModuleOp source,
                        llvm::function_ref<void(OpPassManager &)> build) {
  return conclude(attempt(source, build, nullptr, /*isVerified=*/false));
}

bool Session::keepColumns(const std::string &why) {
  if (!parsed)
    return false;
  module = std::move(parsed);
  unbound = nullptr;
  plans.keepsColumns = why;
  plans.withoutRoles.clear();
  plans.withoutReads.clear();
  plans.withoutJoins.clear();
  reasons.clear();
  plans.withoutLazySoftmax.clear();
  result.remarks = {"columns of accumulators stay together: " + why};
  result.diagnostics = frontendDiagnostics;
  return true;
}

PassOutcome Session::attemptProgramPasses(Emit stage, const Observe &observe) {
  auto transform = [&](llvm::function_ref<void(OpPassManager &)> build) {
    OwningOpRef<ModuleOp> source = std::move(module);
    PassOutcome outcome = attempt(*source, build, observe);
    if (outcome.isDone)
      result.diagnostics += outcome.diagnostics;
    return std::pair(std::move(source), std::move(outcome));
  };
  if (PassOutcome outcome = transform([&](OpPassManager &pm) {
                              buildFoldPipeline(pm, proofs);
                            }).second;
      !outcome.isDone)
    return outcome;
  auto splitColumns = [&](OpPassManager &pm) {
    buildColumnsPipeline(pm, proofs);
  };
  if (plans.keepsColumns.empty()) {
    auto [source, outcome] = transform(splitColumns);
    bool isSplit = !outcome.isDone;
    module->walk([&](tile::KernelOp kernel) {
      for (const tile::Decision &decision : tile::decisionsOf(kernel.getLoc()))
        isSplit |= decision.what == schedule::columnsDecision;
    });
    if (isSplit)
      parsed = std::move(source);
    if (!outcome.isDone)
      return outcome;
  }
  written = module->clone();
  if (PassOutcome outcome = transform([&](OpPassManager &pm) {
                              buildPackPipeline(pm, plans, proofs);
                            }).second;
      !outcome.isDone)
    return outcome;
  // Nobody has written what these do.
  for (auto program : module->getOps<tile::ProgramOp>())
    if (program.isForSomeDims())
      written->push_back(program->clone());
  return transform([&](OpPassManager &pm) {
           buildProgramPipeline(pm, stage, request.arch, plans, request.masks,
                                proofs);
         })
      .second;
}

bool Session::runProgramPasses(Emit stage, const Observe &observe) {
  if (unbound || stage == Emit::Tile)
    return true;
  frontendDiagnostics = result.diagnostics;
  while (true) {
    PassOutcome outcome = attemptProgramPasses(stage, observe);
    if (outcome.isDone)
      break;
    if (request.isStrict ||
        (!keepKernels(outcome) && !keepColumns(outcome.why()) &&
         !keepNests(outcome) && !keepLoops(outcome)))
      return conclude(outcome);
  }
  unbound = std::move(module);
  programDiagnostics = result.diagnostics;
  unbound->walk([&](tile::KernelOp kernel) {
    auto without = plans.withoutTensorCores.find(kernel.getSymName().str());
    if (without != plans.withoutTensorCores.end())
      tile::noteDecision(kernel,
                         {"products", "sums of products, without tensor cores",
                          without->second});
  });
  // Of another session that this one follows.
  std::vector<std::string> before = std::exchange(reasons, {});
  for (auto [name, why] :
       llvm::zip_equal(std::exchange(plans.withoutRoles, {}), before))
    keepFromRoles(name, why);
  for (const std::string &name : plans.choice.withoutRoles)
    keepFromRoles(name, plans.origin);
  SmallVector<std::pair<std::string, std::string>> tooLarge;
  TargetInfo target = *targetInfo(request.arch);
  SmallVector<std::string> pinned;
  unbound->walk([&](tile::KernelOp kernel) {
    if (target.hasWarpgroups && schedule::isPinnedWithoutRoles(kernel, target))
      pinned.push_back(schedule::planName(kernel));
  });
  for (const std::string &name : pinned)
    keepFromRoles(name, "pinned by the schedule");
  // Layouts are made of its attributes.
  context.getOrLoadDialect<sm::SmDialect>();
  unbound->walk([&](tile::KernelOp kernel) {
    schedule::KernelLayouts layouts(kernel, target);
    // What a schedule pins is never left out.
    if (schedule::isPinned(kernel, target))
      return;
    if (std::string excess =
            schedule::excessForWarpgroups(kernel, layouts, target);
        !excess.empty())
      tooLarge.emplace_back(schedule::planName(kernel), excess);
  });
  for (const auto &[name, excess] : tooLarge)
    keepFromRoles(name, "no plan fits: " + excess);
  return checkSchedules(target);
}

bool Session::checkSchedules(const TargetInfo &target) {
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  bool isFine = true;
  unbound->walk([&](tile::KernelOp kernel) {
    if (!schedule::isPinned(kernel, target))
      return;
    schedule::KernelLayouts layouts(kernel, target);
    isFine &= succeeded(schedule::rankPlans(kernel, layouts, target));
  });
  if (!isFine)
    result.status = CompileStatus::BadInput;
  return isFine;
}

bool Session::keepFromTensorCores(const std::string &why) {
  size_t before = plans.withoutTensorCores.size();
  std::vector<std::string> remarks;
  // What it says of every plan has been said.
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
  unbound->walk([&](tile::KernelOp kernel) {
    schedule::KernelLayouts layouts(kernel, *targetInfo(request.arch));
    if (layouts.hasDot() &&
        !schedule::isPinned(kernel, *targetInfo(request.arch)) &&
        failed(
            schedule::rankPlans(kernel, layouts, *targetInfo(request.arch))) &&
        plans.withoutTensorCores.emplace(kernel.getSymName(), why).second)
      remarks.push_back("kernel '" + kernel.getSymName().str() +
                        "' multiplies without tensor cores: " + why);
  });
  if (plans.withoutTensorCores.size() == before)
    return false;
  takeWritten(std::move(remarks));
  return true;
}

void Session::takeWritten(std::vector<std::string> remarks) {
  // Versions for some dims are the passes'.
  module = std::move(written);
  for (auto program :
       llvm::make_early_inc_range(module->getOps<tile::ProgramOp>()))
    if (program.isForSomeDims())
      program.erase();
  unbound = nullptr;
  // What they may have depends on what is compiled.
  plans.withoutRoles.clear();
  plans.withoutReads.clear();
  plans.withoutJoins.clear();
  reasons.clear();
  result.remarks = std::move(remarks);
  result.diagnostics = frontendDiagnostics;
}

bool Session::keepNests(const PassOutcome &outcome) {
  if (!outcome.isRefused() || !plans.keepsNests.empty() || !written ||
      !schedule::hasShortNest(*written))
    return false;
  plans.keepsNests = outcome.why();
  plans.withoutLazySoftmax.clear();
  refusals.clear();
  takeWritten({"the blocks of a list's entries have a loop of their own: " +
               plans.keepsNests});
  return true;
}

bool Session::keepLoops(const PassOutcome &outcome) {
  if (!outcome.isRefused() || !plans.keepsLoops.empty() || !written)
    return false;
  plans.keepsLoops = outcome.why();
  plans.withoutLazySoftmax.clear();
  refusals.clear();
  takeWritten({"loops stay whole, each step with all of its masks: " +
               plans.keepsLoops});
  return true;
}

bool Session::keepKernels(const PassOutcome &outcome) {
  if (outcome.pass != "verify-tile-packs" || !plans.keepsKernels.empty())
    return false;
  plans.keepsKernels = outcome.why();
  takeWritten({"rows are not packed, and parts are always joined: " +
               plans.keepsKernels});
  return true;
}

schedule::Unplanned Session::failuresOf(tile::ProgramOp version,
                                        const PassOutcome &outcome) {
  schedule::Unplanned failures;
  if (outcome.pass == "tile-bind-blocks")
    failures = schedule::findUnplanned(version, *targetInfo(request.arch));
  // What a verifier says names kernels.
  for (auto kernel : version.getBody().getOps<tile::KernelOp>())
    if (outcome.isRefused() &&
        llvm::is_contained(outcome.kernels, schedule::planName(kernel)))
      failures.emplace(kernel.getSymName(), outcome.why());
  return failures;
}

bool Session::dropSingleParts(const PassOutcome &outcome) {
  if (request.isStrict)
    return false;
  // What is refused before kernels are scheduled names none.
  bool namesNone = outcome.isRefused() && outcome.kernels.empty(),
       isAny = false;
  for (auto version : llvm::to_vector(unbound->getOps<tile::ProgramOp>())) {
    if (version.getKind() != tile::VersionKind::Single ||
        (!namesNone && failuresOf(version, outcome).empty()))
      continue;
    result.remarks.push_back("a single part is joined, too: " + outcome.why());
    version.erase();
    isAny = true;
  }
  return isAny;
}

bool Session::keepFromRoles(const std::string &name, const std::string &why) {
  bool isKept = false;
  unbound->walk([&](tile::KernelOp kernel) {
    if (schedule::planName(kernel) != name || schedule::isKeptFromRoles(kernel))
      return;
    schedule::keepFromRoles(kernel, why);
    isKept = true;
  });
  if (!isKept)
    return false;
  plans.withoutRoles.push_back(name);
  reasons.push_back(why);
  result.remarks.push_back("kernel '" + name +
                           "' runs without warp roles: " + why);
  return true;
}

/// Whether the kernel of that name is such a one.
static bool isKernel(ModuleOp module, StringRef name,
                     llvm::function_ref<bool(sm::KernelOp)> isSuch) {
  return llvm::any_of(module.getOps<sm::KernelOp>(), [&](sm::KernelOp kernel) {
    return schedule::planName(kernel) == name && isSuch(kernel);
  });
}

bool Session::keepFromJoins(const std::string &name, const std::string &why) {
  if (!isKernel(*module, name, schedule::hasJoinedLoops))
    return false;
  plans.withoutJoins.push_back(name);
  result.remarks.push_back("kernel '" + name +
                           "' keeps masked loops apart: " + why);
  return true;
}

bool Session::keepFromReads(const std::string &name, const std::string &why) {
  bool reads = isKernel(*module, name, [](sm::KernelOp kernel) {
    return kernel.walk([](sm::ReadOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
  if (!reads)
    return false;
  plans.withoutReads.push_back(name);
  result.remarks.push_back("kernel '" + name +
                           "' loads what its steps read lane by lane: " + why);
  return true;
}

bool Session::keepFromLazySoftmax(const std::string &name,
                                  const std::string &why) {
  if (llvm::is_contained(plans.withoutLazySoftmax, name))
    return false;
  plans.withoutLazySoftmax.push_back(name);
  result.remarks.push_back("kernel '" + name +
                           "' takes each step's maximum: " + why);
  return true;
}

void Session::notePlannedRoles() {
  plans.mayHaveRoles.clear();
  if (targetInfo(request.arch)->hasWarpgroups)
    unbound->walk([&](tile::KernelOp kernel) {
      if (!schedule::isKeptFromRoles(kernel))
        plans.mayHaveRoles.push_back(schedule::planName(kernel));
    });
}

bool Session::replanWithoutRoles() {
  bool isAny = false;
  for (const LostRoles &lost : findLostRoles(*module, plans.mayHaveRoles))
    isAny |= keepFromRoles(lost.kernel, lost.why);
  return isAny;
}

void Session::visitLaunches(
    llvm::function_ref<void(size_t, sm::LaunchOp, tile::KernelOp)> visit) {
  llvm::StringMap<tile::KernelOp> sources;
  unbound->walk([&](tile::KernelOp kernel) {
    sources[schedule::planName(kernel)] = kernel;
  });
  for (auto plan : module->getOps<sm::PlanOp>())
    for (auto [i, variant] :
         llvm::enumerate(plan.getBody().getOps<sm::VariantOp>()))
      for (auto launch : variant.getBody().getOps<sm::LaunchOp>()) {
        auto kernel = module->lookupSymbol<sm::KernelOp>(launch.getKernel());
        visit(i, launch,
              kernel ? sources.lookup(schedule::planName(kernel)) : nullptr);
      }
}

/// `a tile of 64 x 512 (i x DV)`.
static std::string wordsOf(sm::AllocOp alloc) {
  sm::BufferType type = alloc.getType();
  return ("a tile of " + Twine(type.getRows()) + " x " + Twine(type.getCols()) +
          " (" + type.getRowAxis().getValue() + " x " +
          type.getColAxis().getValue() + ")")
      .str();
}

/// The plan that tile-bind-blocks takes; none where there is none.
static std::optional<schedule::KernelPlan>
boundPlan(tile::KernelOp kernel, const schedule::PlanChoice &choice,
          const TargetInfo &target) {
  schedule::KernelLayouts layouts(kernel, target);
  FailureOr<schedule::RankedPlans> ranked =
      schedule::rankPlans(kernel, layouts, target);
  if (failed(ranked))
    return std::nullopt;
  auto chosen = choice.tiles.find(schedule::planName(kernel));
  for (const schedule::KernelPlan &plan : ranked->plans)
    if (chosen != choice.tiles.end() &&
        schedule::planKey(kernel, plan) == chosen->second)
      return plan;
  return ranked->plans.front();
}

std::vector<Session::TooLarge> Session::findTooLarge() {
  TargetInfo target = *targetInfo(request.arch);
  // Variants may be made of one kernel: first what all take, then the rest.
  llvm::MapVector<tile::KernelOp, std::string> reasons;
  visitLaunches([&](size_t, sm::LaunchOp launch, tile::KernelOp source) {
    auto kernel = module->lookupSymbol<sm::KernelOp>(launch.getKernel());
    lanes::SharedLayout layout(kernel);
    int64_t limit = source ? source.getProgram().getSharedMemory().value_or(
                                 target.smemBytesPerBlock)
                           : layout.getBytes();
    if (layout.getBytes() <= limit)
      return;
    std::string why = std::to_string(layout.getBytes()) + " of " +
                      std::to_string(limit) +
                      " bytes of shared memory once lowered";
    if (sm::AllocOp largest = layout.getLargest())
      why += ", most of all " + wordsOf(largest);
    reasons.insert({source, why});
  });
  std::vector<TooLarge> found;
  for (auto &[kernel, why] : reasons)
    if (std::optional<schedule::KernelPlan> plan =
            boundPlan(kernel, plans.choice, target))
      found.push_back({kernel, schedule::planKey(kernel, *plan), why});
  return found;
}

bool Session::dropTooLarge() {
  std::vector<TooLarge> found = findTooLarge();
  for (const auto &[op, plan, why] : found) {
    auto kernel = cast<tile::KernelOp>(op);
    schedule::dropPlan(kernel, plan, why);
    result.remarks.push_back("kernel '" + schedule::planName(kernel) +
                             "' does not take plan " + plan +
                             ": it would take " + why);
  }
  return !found.empty();
}

bool Session::replan(const PassOutcome &outcome) {
  if (outcome.pass == stopAtLostRoles)
    return replanWithoutRoles();
  if (outcome.pass != stopAtTooLarge)
    return false;
  // A program that can have no version for some devices is known from now on.
  if (!dropTooLarge())
    addForSmallDevices();
  return true;
}

bool Session::dropRefused(const PassOutcome &outcome) {
  constexpr unsigned mostAttempts = 3;
  TargetInfo target = *targetInfo(request.arch);
  bool isAny = false;
  unbound->walk([&](tile::KernelOp kernel) {
    std::string name = schedule::planName(kernel);
    if (!llvm::is_contained(outcome.kernels, name) ||
        schedule::isPinned(kernel, target) || ++refusals[name] > mostAttempts)
      return;
    std::string why = outcome.why();
    // Who binds blocks says where no plan is left.
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    std::optional<schedule::KernelPlan> refused =
        boundPlan(kernel, plans.choice, target);
    if (!refused)
      return;
    schedule::dropPlan(kernel, schedule::planKey(kernel, *refused), why);
    // What is wrong with shared operands is so in blocks of any size.
    std::optional<schedule::KernelPlan> next = refused;
    while (refused->sharesOperands && next && next->sharesOperands) {
      next = boundPlan(kernel, plans.choice, target);
      if (next && next->sharesOperands)
        schedule::dropPlan(kernel, schedule::planKey(kernel, *next), why);
    }
    result.remarks.push_back("kernel '" + name + "' does not take plan " +
                             schedule::planKey(kernel, *refused) + ": " + why);
    isAny = true;
  });
  return isAny;
}

bool Session::isForAllDevices() {
  TargetInfo target = *targetInfo(request.arch);
  return request.sharedMemory == 0 &&
         target.leastSmemBytesPerBlock < target.smemBytesPerBlock;
}

bool Session::takesMoreThanLeast() {
  int64_t least = targetInfo(request.arch)->leastSmemBytesPerBlock;
  return isForAllDevices() &&
         llvm::any_of(module->getOps<sm::KernelOp>(), [&](sm::KernelOp kernel) {
           return lanes::SharedLayout(kernel).getBytes() > least;
         });
}

std::vector<Operation *> Session::findForSmallDevices() {
  TargetInfo target = *targetInfo(request.arch);
  if (!isForAllDevices() || isSearching)
    return {};
  llvm::SetVector<Operation *> programs;
  visitLaunches([&](size_t, sm::LaunchOp launch, tile::KernelOp source) {
    auto kernel = module->lookupSymbol<sm::KernelOp>(launch.getKernel());
    if (!source ||
        lanes::SharedLayout(kernel).getBytes() <= target.leastSmemBytesPerBlock)
      return;
    tile::ProgramOp program = source.getProgram();
    if (!program.isForSmallDevices() &&
        !schedule::versionForLeast(program, target) &&
        !llvm::is_contained(plans.withoutSmallDevices,
                            schedule::nameForLeast(program, target)))
      programs.insert(program);
  });
  return {programs.begin(), programs.end()};
}

bool Session::addForSmallDevices() {
  TargetInfo target = *targetInfo(request.arch);
  bool isAny = false;
  for (Operation *op : findForSmallDevices()) {
    auto program = cast<tile::ProgramOp>(op);
    schedule::Unplanned unplanned;
    if (schedule::addVersionForLeast(program, program, target, unplanned) ||
        addWithoutTensorCores(program, unplanned))
      isAny = true;
    else
      keepFromSmallDevices(schedule::nameForLeast(program, target), unplanned);
  }
  return isAny;
}

bool Session::addWithoutTensorCores(tile::ProgramOp program,
                                    schedule::Unplanned &unplanned) {
  // The others only save what this one reads.
  if (!program.isBase())
    return false;
  ChosenPlans own = plans;
  own.withoutTensorCores.insert(unplanned.begin(), unplanned.end());
  OwningOpRef<ModuleOp> kept = std::move(module),
                        source = ModuleOp::create(program.getLoc());
  for (auto origin : written->getOps<tile::ProgramOp>())
    if (origin.isBase() && origin.getSymName() == program.getSymName())
      source->push_back(origin->clone());
  PassOutcome outcome = attempt(
      *source, [&](OpPassManager &pm) { buildPackPipeline(pm, own, proofs); },
      nullptr);
  if (outcome.isDone) {
    source = std::move(module);
    for (auto packed :
         llvm::make_early_inc_range(source->getOps<tile::ProgramOp>()))
      if (!packed.isBase())
        packed.erase();
    outcome = attempt(
        *source,
        [&](OpPassManager &pm) {
          buildProgramPipeline(pm, Emit::SmFinal, request.arch, plans,
                               request.masks, proofs);
        },
        nullptr);
  }
  OwningOpRef<ModuleOp> lowered = std::exchange(module, std::move(kept));
  if (!outcome.isDone)
    return false;
  schedule::Unplanned left;
  for (auto other : lowered->getOps<tile::ProgramOp>()) {
    if (!other.isBase())
      continue;
    tile::ProgramOp version = schedule::addVersionForLeast(
        program, other, *targetInfo(request.arch), left);
    if (!version)
      break;
    for (auto kernel : version.getBody().getOps<tile::KernelOp>())
      if (auto why = unplanned.find(kernel.getSymName().str());
          why != unplanned.end()) {
        tile::noteDecision(kernel, {"products",
                                    "sums of products, without tensor cores",
                                    why->second});
        result.remarks.push_back(
            "kernel '" + schedule::planName(kernel) +
            "' multiplies without tensor cores: " + why->second);
      }
    return true;
  }
  return false;
}

void Session::prepareForSmallDevices() {
  TargetInfo target = *targetInfo(request.arch);
  if (!isForAllDevices() || isSearching)
    return;
  auto mayTakeMore = [&](tile::KernelOp kernel) {
    // Who binds blocks says why there is no plan.
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    std::optional<schedule::KernelPlan> plan =
        boundPlan(kernel, plans.choice, target);
    return plan && plan->smemBytes > target.leastSmemBytesPerBlock;
  };
  bool isForeseen = llvm::any_of(
      unbound->getOps<tile::ProgramOp>(), [&](tile::ProgramOp program) {
        return !program.isForSmallDevices() &&
               !schedule::versionForLeast(program, target) &&
               llvm::any_of(program.getBody().getOps<tile::KernelOp>(),
                            mayTakeMore);
      });
  if (!isForeseen)
    return;
  auto build = [&](OpPassManager &pm) {
    buildKernelPipeline(pm, Emit::SmAsync, request.arch, plans, request.masks,
                        Proofs::Elsewhere,
                        [&](ModuleOp) { return !findTooLarge().empty(); });
  };
  PassOutcome outcome;
  do {
    notePlannedRoles();
    outcome = attempt(*unbound, build, nullptr, /*isVerified=*/false);
  } while (replan(outcome));
  if (outcome.isDone)
    addForSmallDevices();
}

void Session::keepFromSmallDevices(const std::string &name,
                                   const schedule::Unplanned &unplanned) {
  plans.withoutSmallDevices.push_back(name);
  std::string remark =
      "no version '" + name + "' for devices with " +
      std::to_string(targetInfo(request.arch)->leastSmemBytesPerBlock) +
      " bytes of shared memory per thread block";
  for (const auto &[kernel, why] : unplanned)
    remark += ": kernel '" + kernel + "' " + why;
  result.remarks.push_back(remark);
}

bool Session::dropForSmallDevices(const PassOutcome &outcome) {
  if (request.isStrict && outcome.isRefused())
    return false;
  bool isAny = false;
  for (auto version : llvm::to_vector(unbound->getOps<tile::ProgramOp>())) {
    if (!version.isForSmallDevices())
      continue;
    schedule::Unplanned unplanned = failuresOf(version, outcome);
    if (unplanned.empty())
      continue;
    isAny = true;
    std::string name = version.getSymName().str(),
                base = version.getBaseName().str();
    bool isBase = version.getKind() == tile::VersionKind::Program;
    version.erase();
    // Once: what multiplies without tensor cores has small tiles.
    auto program = isBase ? unbound->lookupSymbol<tile::ProgramOp>(base)
                          : tile::ProgramOp();
    if (outcome.isRefused() || !program ||
        !triedWithoutTensorCores.insert(name).second ||
        !addWithoutTensorCores(program, unplanned))
      keepFromSmallDevices(name, unplanned);
  }
  return isAny;
}

bool Session::runKernelPasses(Emit stage, const Observe &observe) {
  if (stage == Emit::Tile)
    return true;
  bool hasRoles = targetInfo(request.arch)->hasWarpgroups;
  plans.isStrict = request.isStrict;
  auto build = [&](OpPassManager &pm) {
    buildKernelPipeline(
        pm, stage, request.arch, plans, request.masks, proofs,
        [&](ModuleOp) {
          return !findTooLarge().empty() || !findForSmallDevices().empty();
        },
        *written);
  };
  prepareForSmallDevices();
  while (true) {
    notePlannedRoles();
    PassOutcome outcome = attempt(*unbound, build, observe);
    if (replan(outcome) || (!outcome.isDone && dropSingleParts(outcome)))
      continue;
    if (!outcome.isDone && hasRoles && !request.isStrict &&
        outcome.isRefused()) {
      bool isKept = false;
      for (const std::string &name : outcome.kernels)
        isKept |= keepFromReads(name, outcome.why()) ||
                  keepFromJoins(name, outcome.why()) ||
                  keepFromRoles(name, outcome.why());
      if (isKept)
        continue;
    }
    if (!outcome.isDone && !request.isStrict && stage > Emit::SmSeq &&
        outcome.isRefused()) {
      bool isNew = false;
      for (const std::string &name : outcome.kernels)
        isNew |= keepFromLazySoftmax(name, outcome.why());
      if (isNew)
        continue;
    }
    if (!outcome.isDone && dropForSmallDevices(outcome))
      continue;
    if (!outcome.isDone &&
        (outcome.pass == "tile-bind-blocks" || !request.isStrict) &&
        keepColumns(outcome.why())) {
      if (!runProgramPasses(stage, observe))
        return false;
      continue;
    }
    if (!outcome.isDone && outcome.pass == "tile-bind-blocks" &&
        keepFromTensorCores(outcome.firstError)) {
      if (!runProgramPasses(stage, observe))
        return false;
      continue;
    }
    if (!outcome.isDone && !request.isStrict && stage > Emit::SmSeq &&
        outcome.isRefused() && dropRefused(outcome))
      continue;
    if (!outcome.isDone &&
        (keepNests(outcome) || (!request.isStrict && keepLoops(outcome)))) {
      if (!runProgramPasses(stage, observe))
        return false;
      continue;
    }
    llvm::append_range(result.remarks, outcome.remarks);
    return conclude(outcome);
  }
}

bool Session::runPasses(Emit stage, const Observe &observe) {
  PhaseTimer timer(result, hasGuess ? "proofs" : "passes");
  // Who watches may look at all of the program.
  if (observe)
    context.disableMultithreading();
  bool hasThreads = context.isMultithreadingEnabled();
  bool isDone = runProgramPasses(stage, observe) &&
                runKernelPasses(stage, observe) &&
                (stage < Emit::SmLanes || lowerToLanes(stage));
  // Passes that failed have run again without threads. What comes next has
  // some: without locks the context must not be used by two.
  if (hasThreads)
    context.enableMultithreading();
  return isDone;
}

} // namespace selvedge::driver
