// The last steps of a compilation: kernels to PTX, the host program to JSON.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Driver/Session.h"
#include "compiler/Driver/SourceDiagnostics.h"
#include "compiler/Schedule/Plan/Plan.h"
#include "compiler/Target/Lanes/SharedMemory.h"
#include "compiler/Target/PTX/Manifest.h"
#include "compiler/Target/PTX/Translate.h"
#include "compiler/Target/TargetInfo.h"
#include "dialect/Sm/LaunchUses.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

namespace selvedge::driver {

using namespace mlir;

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

/// Whether a plan's launches take no more shared memory than the devices have
/// for which they are.
static bool fitSharedMemory(ModuleOp module, const CompileRequest &request) {
  int64_t most = sharedMemoryLimit(request).value_or(
      targetInfo(request.arch)->smemBytesPerBlock);
  return !module
              .walk([&](sm::LaunchOp launch) {
                int64_t own = launch->getParentOfType<sm::VariantOp>()
                                  .getVersion()
                                  .getShared();
                int64_t limit = own ? std::min(own, most) : most;
                return launch.getSmem() <= static_cast<uint64_t>(limit)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool Session::lowerToLanes(Emit stage) {
  // Of code this long once is enough: as text here, else for LLVM.
  OwningOpRef<ModuleOp> kernels = std::move(module);
  auto build = [&](OpPassManager &pm) {
    buildLanePipeline(pm);
    addLaneCleanUp(pm);
  };
  if (!transform(*kernels, build))
    return false;
  if (!fitSharedMemory(*module, request))
    return internalError("a kernel takes more shared memory than there is");
  return stage != Emit::SmLanes || succeeded(verify(*module)) ||
         internalError("the passes made invalid code of a thread");
}

void Session::noteOrigins() {
  origins.clear();
  module->walk([&](sm::LaunchOp launch) {
    auto kernel = module->lookupSymbol<sm::KernelOp>(launch.getKernel());
    auto variant = launch->getParentOfType<sm::VariantOp>();
    origins[kernel.getSymName().str()] = {
        schedule::planName(kernel),
        variant.getVersion().getKind() == tile::VersionKind::Universal ||
            variant.getVersion().getShared() != 0,
        kernel.hasRoles()};
  });
}

bool Session::writeManifest() {
  PhaseTimer timer(result, "ptx");
  noteOrigins();
  auto plans = module->getOps<sm::PlanOp>();
  if (!llvm::hasSingleElement(plans))
    return internalError("the passes left no single host program");
  // Kernels become code later, and not all of them for a launch.
  OwningOpRef<ModuleOp> host = ModuleOp::create(module->getLoc());
  auto plan = cast<sm::PlanOp>(
      OpBuilder::atBlockEnd(host->getBody()).clone(**plans.begin()));
  for (auto kernel : module->getOps<sm::KernelOp>())
    lanes::setSharedBytes(*host, kernel.getSymName(),
                          lanes::SharedLayout(kernel).getBytes());
  if (!fitSharedMemory(*host, request))
    return internalError("a kernel takes more shared memory than there is");
  return keepManifest(ptx::writeManifest(plan, request.arch, compilerVersion(),
                                         request.masks == MaskMode::Exact));
}

bool Session::keepManifest(llvm::Expected<std::string> text) {
  if (!text)
    return badInput(llvm::toString(text.takeError()));
  result.manifest = std::move(*text);
  return true;
}

Session::Names Session::kernelsOf(size_t variant) {
  Names names;
  visitLaunches([&](size_t of, sm::LaunchOp launch, tile::KernelOp) {
    if (of == variant)
      names.insert(launch.getKernel().str());
  });
  return names;
}

namespace {

/// What becomes of one kernel.
struct KernelCode {
  std::string ptx, error;
  /// Whether that error is of passes, which say why.
  bool isExplained = false;
};

} // namespace

/// A kernel beside the host program, of which its lowering asks what tensors
/// are like.
static OwningOpRef<ModuleOp> extractKernel(ModuleOp module,
                                           sm::KernelOp kernel) {
  OwningOpRef<ModuleOp> part = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(part->getBody());
  for (auto plan : module.getOps<sm::PlanOp>())
    builder.clone(*plan);
  builder.clone(*kernel);
  return part;
}

namespace {

/// How a kernel that may start early waits.
struct LaunchWait {
  bool isDependent = false;
  /// Ahead of all accesses to memory; otherwise ahead of those by some
  /// parameters.
  bool isFirst = true;
  llvm::DenseSet<unsigned> parameters = {};
};

} // namespace

static LaunchWait waitOf(sm::KernelOp kernel, ModuleOp module,
                         SymbolTable &symbols) {
  LaunchWait result;
  SmallVector<sm::LaunchOp> dependent;
  module.walk([&](sm::LaunchOp launch) {
    if (launch.getDependent() && launch.getKernel() == kernel.getSymName())
      dependent.push_back(launch);
  });
  result.isDependent = !dependent.empty();
  if (!result.isDependent)
    return result;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<sm::AwaitLaunchOp>(op))
      break;
    // What has regions may branch.
    result.isFirst &= op.getNumRegions() == 0 && isMemoryEffectFree(&op);
  }
  auto earlier = sm::LaunchUses::before(kernel, symbols),
       own = sm::LaunchUses::of(kernel);
  for (sm::LaunchOp launch : dependent)
    for (auto [i, argument] : llvm::enumerate(launch.getArgs()))
      if (earlier.mayConflict(own, argument))
        result.parameters.insert(i);
  return result;
}

/// Code of the kernel in a module, which it changes.
static KernelCode emitKernel(ModuleOp part, llvm::StringRef arch,
                             llvm::StringRef name, const LaunchWait &wait) {
  PassManager pm(part.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  buildLanePipeline(pm);
  addLaneCleanUp(pm);
  if (failed(pm.run(part)))
    return {"", "a kernel has no code of a thread", /*isExplained=*/true};
  for (auto plan : llvm::make_early_inc_range(part.getOps<sm::PlanOp>()))
    plan.erase();
  if (failed(ptx::lowerToLLVMDialect(part)))
    return {"", "lowering to the LLVM dialect failed"};
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = ptx::translateToLLVM(part, context);
  if (!module)
    return {"", "translation to LLVM IR failed"};
  if (llvm::Error error = ptx::lintFastMath(*module))
    return {"", llvm::toString(std::move(error))};
  llvm::Expected<std::string> text = ptx::emitPtx(*module, arch);
  if (!text)
    return {"", llvm::toString(text.takeError())};
  if (wait.isDependent)
    if (llvm::Error error =
            wait.isFirst ? ptx::checkLaunchWait(*text, name)
                         : ptx::checkLateWait(*text, name, wait.parameters))
      return {"", llvm::toString(std::move(error))};
  return {std::move(*text), ""};
}

bool Session::translateKernels(const std::optional<Names> &names) {
  PhaseTimer timer(result, "ptx");
  SourceDiagnostics diagnostics(context, request.fileName, request.source,
                                result.diagnostics);
  SmallVector<sm::KernelOp> kernels;
  for (auto kernel : module->getOps<sm::KernelOp>())
    if (!names || names->contains(kernel.getSymName().str()))
      kernels.push_back(kernel);
  std::vector<KernelCode> codes(kernels.size());
  SymbolTable symbols(*module);
  SmallVector<LaunchWait> waits =
      llvm::map_to_vector(kernels, [&](sm::KernelOp kernel) {
        return waitOf(kernel, *module, symbols);
      });
  {
    ParallelDiagnosticHandler inOrder(&context);
    parallelFor(&context, 0, kernels.size(), [&](size_t i) {
      inOrder.setOrderIDForThread(i);
      codes[i] = emitKernel(*extractKernel(*module, kernels[i]), request.arch,
                            kernels[i].getSymName(), waits[i]);
      inOrder.eraseOrderIDForThread();
    });
  }
  std::vector<std::string> texts;
  for (KernelCode &code : codes) {
    if (code.isExplained && diagnostics.getNumErrors() != 0) {
      result.status = CompileStatus::BadInput;
      return false;
    }
    if (!code.error.empty())
      return internalError(code.error);
    texts.push_back(std::move(code.ptx));
  }
  result.ptx = ptx::joinPtx(texts);
  return true;
}

} // namespace selvedge::driver
