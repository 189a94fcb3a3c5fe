// LLVM IR -> PTX.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <mutex>

// `llvm/Support/TargetSelect.h` would name every target that LLVM was built
// with; a static link carries only this one.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace selvedge::ptx {

using namespace llvm;

/// PTX 8.1 is the first with `cvt.satfinite` to bf16 and f16; a higher version
/// would only shut out older drivers.
static constexpr const char *kFeatures = "+ptx81";

static void initializeBackEnd() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

namespace {

/// Collects the back end's errors; LLVM's default handler would exit.
struct CollectErrors : DiagnosticHandler {
  explicit CollectErrors(std::string &text) : text(text) {}

  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream os(text);
    DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    os << "\n";
    return true;
  }

  std::string &text;
};

/// The back end's fixed list of passes without straight-line strength
/// reduction. LLVM 22's asks ScalarEvolution for the difference of every pair
/// of candidates: 4.5 of 4.7 s to PTX for attention at D = 128. What it saves,
/// about 2 % of the instructions and a few registers, belongs into the
/// lowering.
class BackEndPasses : public legacy::PassManager {
public:
  void add(Pass *pass) override {
    if (pass->getPassName() == "Straight line strength reduction")
      delete pass;
    else
      legacy::PassManager::add(pass);
  }
};

/// Whether the warps of a kernel have different register budgets.
bool hasRoles(Function &function) {
  return any_of(instructions(function), [](Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && (call->getIntrinsicID() ==
                        Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32 ||
                    call->getIntrinsicID() ==
                        Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32);
  });
}

/// Whether the loop has products, on tensor cores of either kind.
bool hasProducts(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) {
    return any_of(*block, [](const Instruction &instruction) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call)
        return false;
      if (auto *code = dyn_cast<InlineAsm>(call->getCalledOperand()))
        return code->getAsmString().contains("wgmma.mma_async");
      const Function *callee = call->getCalledFunction();
      return callee && callee->getName().starts_with("llvm.nvvm.mma.");
    });
  });
}

/// Forbids to take anything out of loops around loops of products, which run
/// for long. What one of several inner loops or a branch needs would take
/// registers in all of them, masks of a rare partial step bit by bit.
void keepInOuterLoops(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  for (Loop *loop : loops.getLoopsInPreorder())
    if (any_of(*loop, [](Loop *inner) { return hasProducts(*inner); }))
      addStringMetadataToLoop(loop, "llvm.licm.disable", 1);
}

/// Takes addresses that no step changes out of loops. ptxas does so too, but
/// for some loops of a kernel only: of attention at D = 128 it leaves a quarter
/// of the instructions behind, and of equal loops not always the same. With
/// roles they take registers of products that overlap from step to step.
void hoistInvariants(Module &module) {
  legacy::FunctionPassManager passes(&module);
  passes.add(createLICMPass());
  passes.doInitialization();
  for (Function &function : module)
    if (!function.isDeclaration() &&
        (!hasRoles(function) || function.hasFnAttribute(finishesSteps))) {
      keepInOuterLoops(function);
      passes.run(function);
    }
  passes.doFinalization();
}

} // namespace

Expected<std::string> emitPtx(Module &module, StringRef arch) {
  if (!targetInfo(arch))
    return createStringError("unknown architecture '" + arch + "'");
  initializeBackEnd();
  Triple triple("nvptx64-nvidia-cuda");
  std::string text;
  const Target *target = TargetRegistry::lookupTarget(triple, text);
  if (!target)
    return createStringError(text);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, arch, kFeatures, TargetOptions(), Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());

  raw_string_ostream errors(text);
  if (verifyModule(module, &errors))
    return createStringError("invalid LLVM IR: " + text);

  // Beyond that only the code generator runs: LLVM's optimisation pipelines
  // hoist descriptor arithmetic and sink code past waits.
  hoistInvariants(module);
  SmallString<0> ptx;
  raw_svector_ostream os(ptx);
  BackEndPasses passes;
  // Verified above.
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true))
    return createStringError("the NVPTX back end cannot write PTX");
  LLVMContext &context = module.getContext();
  auto previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<CollectErrors>(text));
  passes.run(module);
  context.setDiagnosticHandler(std::move(previous));
  if (!text.empty())
    return createStringError("the NVPTX back end refused the kernel: " + text);
  return std::string(ptx);
}

} // namespace selvedge::ptx
