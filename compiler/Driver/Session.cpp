// One compilation, step by step.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"

#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Driver/PlanStore.h"
#include "compiler/Driver/SourceDiagnostics.h"
#include "compiler/Frontend/Frontend.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Target/PTX/Manifest.h"
#include "compiler/Target/PTX/Translate.h"
#include "compiler/Target/TargetInfo.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/SchedulePins.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::driver {

using namespace mlir;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, sm::SmDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect>();
  ptx::registerTranslations(registry);
  return registry;
}

Session::Session(const CompileRequest &request, Proofs proofs)
    : request(request), proofs(proofs),
      context(makeRegistry(), MLIRContext::Threading::ENABLED) {
  // A diagnostic points at the source; the IR means nothing to its author.
  context.printOpOnDiagnostic(false);
  // Threads that read the program may load none.
  context.loadAllAvailableDialects();
}

bool Session::badInput(const llvm::Twine &message, const llvm::Twine &hint) {
  result.status = CompileStatus::BadInput;
  llvm::raw_string_ostream os(result.diagnostics);
  os << "error: " << message << "\n";
  if (!hint.isTriviallyEmpty())
    os << "note: " << hint << "\n";
  return false;
}

bool Session::internalError(const llvm::Twine &message) {
  result.status = CompileStatus::InternalError;
  llvm::raw_string_ostream os(result.diagnostics);
  os << "error: internal compiler error: " << message << "\n"
     << "note: this is a defect of selvedge " << compilerVersion()
     << ", not of the program; to reproduce it:\n"
     << "  selvedge compile " << request.fileName
     << (request.masks == MaskMode::Exact ? " --mask exact" : "")
     << (request.isStrict ? " --strict" : "");
  if (!request.op.empty())
    os << " --op " << request.op;
  os << " --arch " << request.arch;
  if (request.sharedMemory != 0)
    os << " --shared-memory " << request.sharedMemory;
  for (const auto &[name, value] : request.bindings)
    os << " --set " << name << "=" << value;
  os << " -o OUT\n";
  return false;
}

bool Session::checkArch() {
  if (targetInfo(request.arch))
    return true;
  std::string known = targetNames("and");
  if (request.arch.empty())
    return badInput("no architecture given", "known are " + known);
  return badInput("unknown architecture '" + request.arch + "'",
                  "known are " + known);
}

bool Session::locatePtxas() {
  ptxas = ptx::findPtxas(request.ptxas);
  if (!ptxas.empty())
    return true;
  if (!request.ptxas.empty())
    return badInput("'" + request.ptxas + "' is not an executable ptxas");
  return badInput("ptxas not found",
                  "install the CUDA toolkit or PyPI's nvidia-cuda-nvcc "
                  "(pip install nvidia-cuda-nvcc), or set SELVEDGE_PTXAS to "
                  "its path");
}

bool Session::parse() {
  PhaseTimer timer(result, "frontend");
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  frontend::Input input{request.fileName, request.source, request.op,
                        &request.bindings, request.importFolders};
  module = frontend::buildModule(context, input, result.diagnostics);
  if (!module) {
    result.status = CompileStatus::BadInput;
    return false;
  }
  if (failed(verify(*module)))
    return internalError("the front end built an invalid program");
  // Versions are made of it.
  if (std::optional<int64_t> limit = sharedMemoryLimit(request))
    for (auto program : module->getOps<tile::ProgramOp>())
      program.setSharedMemory(*limit);
  return true;
}

bool Session::choosePlans() {
  std::string text = request.plan;
  if (!request.plan.empty()) {
    plans.origin = "chosen by the request";
  } else if (!request.planFolder.empty()) {
    PlanStore store(request, *module);
    if (std::optional<StoredPlan> stored = store.find()) {
      text = stored->plan;
      plans.origin = stored->origin;
    }
    result.planFile = store.path();
  }
  std::optional<schedule::PlanChoice> choice = schedule::parseChoice(text);
  if (!choice)
    return badInput("'" + text + "' is no choice of plans",
                    "an example is main:BM128-BN64-w8;rings=2");
  plans.choice = std::move(*choice);
  result.plan = schedule::printChoice(plans.choice);
  for (auto program : module->getOps<tile::ProgramOp>()) {
    std::map<std::string, int64_t> pins =
        tile::pinsOf(program, "", request.arch);
    plans.pinnedRings = pins[tile::ringsPin.str()];
    plans.pinnedStages = pins[tile::stagesPin.str()];
  }
  return true;
}

void Session::restart(const schedule::PlanChoice &choice,
                      const std::string &origin) {
  plans.choice = choice;
  plans.origin = origin;
  result.status = CompileStatus::Ok;
  result.diagnostics = programDiagnostics;
  result.ptx.clear();
  result.cubin.clear();
  log = {};
  result.plan = schedule::printChoice(choice);
  // Other plans may take less.
  for (auto program :
       llvm::make_early_inc_range(unbound->getOps<tile::ProgramOp>()))
    if (program.isForSmallDevices())
      program.erase();
  plans.withoutSmallDevices.clear();
  triedWithoutTensorCores.clear();
  for (const std::string &name : choice.withoutRoles)
    keepFromRoles(name, origin);
}

void Session::follow(const Session &other) {
  plans = other.plans;
  isSearching = other.isSearching;
  reasons = other.reasons;
  ptxas = other.ptxas;
}

std::optional<Proof> Session::getProof() {
  if (proofs != Proofs::Made)
    return std::nullopt;
  return Proof(printWhole());
}

void Session::takeCode(Code code) {
  CompileResult &other = code.result;
  result.status = other.status;
  result.diagnostics += other.diagnostics;
  result.manifest = std::move(other.manifest);
  result.ptx = std::move(other.ptx);
  result.cubin = std::move(other.cubin);
  log = std::move(code.log);
  for (const auto &[name, milliseconds] : other.phases)
    if (name != "frontend")
      addPhase(result, name, milliseconds);
}

bool Session::assemble() {
  PhaseTimer timer(result, "cubin");
  ptx::PtxasResult assembled = ptx::assemble(result.ptx, request.arch, ptxas);
  log = std::move(assembled.log);
  for (ptx::KernelResources &kernel : log.kernels)
    if (auto origin = origins.find(kernel.name); origin != origins.end())
      std::tie(kernel.plan, kernel.isUniversal, kernel.hasRoles) =
          origin->second;
  switch (assembled.status) {
  case ptx::PtxasStatus::CannotRun:
    return badInput(assembled.message);
  case ptx::PtxasStatus::Refused:
    if (!request.plan.empty() && !log.remarks.empty())
      return badInput("the plan '" + request.plan +
                          "' cannot be used: " + assembled.message,
                      "without --plan the compiler takes one that ptxas "
                      "accepts");
    return internalError(assembled.message);
  case ptx::PtxasStatus::Ok:
    result.cubin = std::move(assembled.cubin);
    return true;
  }
  llvm_unreachable("all outcomes are handled");
}

bool Session::writeSignature() {
  auto programs = module->getOps<tile::ProgramOp>();
  if (programs.empty())
    return internalError("the front end built no program");
  return keepManifest(
      ptx::writeSignature(*programs.begin(), compilerVersion()));
}

std::string Session::printModule() {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (request.printLocations)
    flags.enableDebugInfo();
  module->print(os, flags);
  return text + "\n";
}

std::string Session::printWhole() {
  std::string text;
  llvm::raw_string_ostream os(text);
  // What a custom form leaves out counts, too.
  module->print(os, OpPrintingFlags().enableDebugInfo().printGenericOpForm());
  return text;
}

std::string Session::printLLVM() {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvmModule->print(os, nullptr);
  return text;
}

} // namespace selvedge::driver
