// The passes of a compilation: kernels have roles if all verifiers agree.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Driver/Session.h"
#include "compiler/Driver/SourceDiagnostics.h"
#include "compiler/Schedule/Plan.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Decisions.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace selvedge::driver {

using namespace mlir;

namespace {

/// The kernels of the module, by name in a PlanChoice, that have products and
/// are no version for any strides.
std::map<std::string, sm::KernelOp> scheduledKernels(ModuleOp module) {
  std::map<std::string, sm::KernelOp> kernels;
  for (auto plan : module.getOps<sm::PlanOp>())
    for (auto variant : plan.getBody().getOps<sm::VariantOp>())
      for (auto launch : variant.getBody().getOps<sm::LaunchOp>()) {
        auto kernel = module.lookupSymbol<sm::KernelOp>(launch.getKernel());
        if (!kernel || variant.getName() == "universal")
          continue;
        bool multiplies = kernel
                              .walk([](Operation *op) {
                                return isa<sm::MmaOp, sm::RoleOp>(op)
                                           ? WalkResult::interrupt()
                                           : WalkResult::advance();
                              })
                              .wasInterrupted();
        if (multiplies)
          kernels[schedule::planName(plan, variant, kernel)] = kernel;
      }
  return kernels;
}

} // namespace

/// What went wrong in a pass: often the program's fault, but never where the
/// output is invalid IR.
struct PassFailure {
  std::string pass;
  bool invalidIR = false;
  /// Kernels of which it is, by name in a PlanChoice.
  std::vector<std::string> kernels;

  bool isVerifier() const {
    return llvm::StringRef(pass).starts_with("verify-");
  }
};

namespace {

/// Fills a failure in.
struct FailureWatch : PassInstrumentation {
  FailureWatch(MLIRContext &context, PassFailure &failure)
      : context(context), failure(failure) {}

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!failure.pass.empty())
      return;
    failure.pass = pass->getArgument().str();
    ScopedDiagnosticHandler silence(&context, [](Diagnostic &) {});
    failure.invalidIR = failed(verify(op));
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    // A verifier of modules does not say which kernel it is about.
    for (auto [name, kernel] : scheduledKernels(module))
      if (isa<ModuleOp>(op) || kernel == op)
        failure.kernels.push_back(name);
  }

  MLIRContext &context;
  PassFailure &failure;
};

} // namespace

bool Session::runPipeline(llvm::function_ref<void(OpPassManager &)> build,
                          const Observe &observe, PassFailure &failure,
                          bool isVerified) {
  PassManager pm(&context, ModuleOp::getOperationName());
  pm.addInstrumentation(std::make_unique<FailureWatch>(context, failure));
  if (observe)
    pm.addInstrumentation(observe());
  pm.enableVerifier(isVerified);
  build(pm);
  return succeeded(pm.run(*module));
}

bool Session::refuse(const PassFailure &failure, unsigned numErrors) {
  if (failure.invalidIR || failure.isVerifier() || numErrors == 0)
    return internalError("pass '" + failure.pass +
                         (failure.isVerifier()
                              ? "' refused the compiler's own output"
                              : "' failed"));
  result.status = CompileStatus::BadInput;
  return false;
}

bool Session::runProgramPasses(Emit stage, const Observe &observe) {
  if (unbound || stage == Emit::Tile)
    return true;
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  PassFailure failure;
  auto build = [&](OpPassManager &pm) {
    buildProgramPipeline(pm, stage, request.arch, request.masks);
  };
  if (!runPipeline(build, observe, failure))
    return refuse(failure, diagnostics.getNumErrors());
  unbound = std::move(module);
  programDiagnostics = result.diagnostics;
  for (const std::string &name : plans.choice.withoutRoles)
    keepFromRoles(name, plans.origin);
  SmallVector<std::pair<std::string, std::string>> tooLarge;
  TargetInfo target = *targetInfo(request.arch);
  unbound->walk([&](tile::KernelOp kernel) {
    FailureOr<schedule::AxisRoles> roles = schedule::assignRoles(kernel);
    if (failed(roles))
      return;
    if (std::string excess =
            schedule::excessForWarpgroups(kernel, *roles, target);
        !excess.empty())
      tooLarge.emplace_back(schedule::planName(kernel), excess);
  });
  for (const auto &[name, excess] : tooLarge)
    keepFromRoles(name, "no plan fits: " + excess);
  return true;
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
  result.remarks.push_back("kernel '" + name +
                           "' runs without warp roles: " + why);
  return true;
}

/// Kernels for which warpgroups were planned and that have no roles are planned
/// again; false where there are none.
bool Session::replanWithoutRoles() {
  bool isAny = false;
  for (auto [name, kernel] : scheduledKernels(*module)) {
    if (!kernel.getBody().getOps<sm::RoleOp>().empty())
      continue;
    for (const tile::Decision &decision : tile::decisionsOf(kernel.getLoc()))
      if (decision.what == "roles")
        isAny |= keepFromRoles(name, decision.why);
  }
  return isAny;
}

bool Session::runKernelPasses(Emit stage, const Observe &observe) {
  if (stage == Emit::Tile)
    return true;
  bool hasRoles = targetInfo(request.arch)->hasWarpgroups;
  plans.isStrict = request.isStrict;
  while (true) {
    module = unbound->clone();
    PassFailure failure;
    std::string text;
    SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                  text);
    auto build = [&](OpPassManager &pm) {
      buildKernelPipeline(pm, stage, request.arch, plans, request.masks);
    };
    bool isDone = runPipeline(build, observe, failure);
    if (isDone && hasRoles && stage > Emit::SmSeq && replanWithoutRoles())
      continue;
    if (!isDone && hasRoles && !request.isStrict &&
        (failure.isVerifier() || failure.invalidIR)) {
      bool isKept = false;
      for (const std::string &name : failure.kernels)
        isKept |= keepFromRoles(name, failure.pass + ": " +
                                          diagnostics.getFirstError());
      if (isKept)
        continue;
    }
    result.diagnostics += text;
    return isDone || refuse(failure, diagnostics.getNumErrors());
  }
}

bool Session::runPasses(Emit stage, const Observe &observe) {
  PhaseTimer timer(result, "passes");
  if (!runProgramPasses(stage, observe) || !runKernelPasses(stage, observe))
    return false;
  if (stage < Emit::SmLanes)
    return true;
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  PassFailure failure;
  // Of code this long once is enough: as text here, else for LLVM.
  if (!runPipeline(buildLanePipeline, nullptr, failure, /*isVerified=*/false))
    return refuse(failure, diagnostics.getNumErrors());
  return stage != Emit::SmLanes || succeeded(verify(*module)) ||
         internalError("the passes made invalid code of a thread");
}

} // namespace selvedge::driver
