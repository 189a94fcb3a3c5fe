// One compilation, step by step.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Session.h"

#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Driver/PlanStore.h"
#include "compiler/Driver/SourceDiagnostics.h"
#include "compiler/Frontend/Frontend.h"
#include "compiler/Schedule/Plan.h"
#include "compiler/Target/PTX/Manifest.h"
#include "compiler/Target/PTX/Translate.h"
#include "compiler/Target/TargetInfo.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
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
     << (request.masks == MaskMode::Exact ? " --mask exact" : "");
  if (!request.op.empty())
    os << " --op " << request.op;
  os << " --arch " << request.arch;
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
  for (const std::string &name : choice.withoutRoles)
    keepFromRoles(name, origin);
}

void Session::follow(const Session &other) {
  plans = other.plans;
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

bool Session::lowerToLLVM() {
  PhaseTimer timer(result, "ptx");
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  OwningOpRef<ModuleOp> device = ptx::extractDeviceCode(*module);
  if (failed(ptx::lowerToLLVMDialect(*device)))
    return internalError("lowering to the LLVM dialect failed");
  llvmModule = ptx::translateToLLVM(*device, llvmContext);
  if (!llvmModule)
    return internalError("translation to LLVM IR failed");
  if (llvm::Error error = ptx::lintFastMath(*llvmModule))
    return internalError(llvm::toString(std::move(error)));
  return true;
}

/// PTX of a module of device code.
static llvm::Expected<std::string> emitPart(ModuleOp part,
                                            llvm::StringRef arch) {
  llvm::LLVMContext context;
  PassManager pm(part.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  addLaneCleanUp(pm);
  if (failed(pm.run(part)))
    return llvm::createStringError("cleaning up the code of a thread failed");
  if (failed(ptx::lowerToLLVMDialect(part)))
    return llvm::createStringError("lowering to the LLVM dialect failed");
  std::unique_ptr<llvm::Module> module = ptx::translateToLLVM(part, context);
  if (!module)
    return llvm::createStringError("translation to LLVM IR failed");
  if (llvm::Error error = ptx::lintFastMath(*module))
    return error;
  return ptx::emitPtx(*module, arch);
}

bool Session::lowerKernels() {
  PhaseTimer timer(result, "ptx");
  return lowerToLanes(Emit::Ptx) && writeManifest();
}

Session::Names Session::kernelsOf(size_t variant) {
  Names names;
  visitLaunches([&](size_t of, sm::LaunchOp launch, tile::KernelOp) {
    if (of == variant)
      names.insert(launch.getKernel().str());
  });
  return names;
}

bool Session::translateKernels(const std::optional<Names> &names) {
  PhaseTimer timer(result, "ptx");
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  std::vector<OwningOpRef<ModuleOp>> kernels =
      ptx::splitDeviceCode(*module, [&](llvm::StringRef name) {
        return !names || names->contains(name.str());
      });
  std::vector<std::string> texts(kernels.size()), errors(kernels.size());
  // No dialect may be loaded by several threads.
  context.loadAllAvailableDialects();
  parallelFor(&context, 0, kernels.size(), [&](size_t i) {
    llvm::Expected<std::string> text = emitPart(*kernels[i], request.arch);
    if (text)
      texts[i] = std::move(*text);
    else
      errors[i] = llvm::toString(text.takeError());
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return internalError(error);
  result.ptx = ptx::joinPtx(texts);
  return true;
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
    return internalError(assembled.message);
  case ptx::PtxasStatus::Ok:
    result.cubin = std::move(assembled.cubin);
    return true;
  }
  llvm_unreachable("all outcomes are handled");
}

bool Session::keepManifest(llvm::Expected<std::string> text) {
  if (!text)
    return badInput(llvm::toString(text.takeError()));
  result.manifest = std::move(*text);
  return true;
}

bool Session::writeManifest() {
  auto plans = module->getOps<sm::PlanOp>();
  if (!llvm::hasSingleElement(plans))
    return internalError("the passes left no single host program");
  return keepManifest(ptx::writeManifest(*plans.begin(), request.arch,
                                         compilerVersion(),
                                         request.masks == MaskMode::Exact));
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
