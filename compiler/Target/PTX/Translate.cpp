// LLVM dialect -> LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace selvedge::ptx {

using namespace mlir;

void registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

OwningOpRef<ModuleOp> extractDeviceCode(ModuleOp module) {
  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(device->getBody());
  for (Operation &op : *module.getBody())
    if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      builder.clone(op);
  return device;
}

/// The LLVM dialect cannot say `convergent`. Without it LLVM may move an asm
/// that synchronises threads into a branch.
static void markInlineAsm(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
            call && call->isInlineAsm()) {
          call->setConvergent();
          call->setDoesNotThrow();
        }
}

std::unique_ptr<llvm::Module> translateToLLVM(ModuleOp module,
                                              llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, "selvedge");
  if (result)
    markInlineAsm(*result);
  return result;
}

} // namespace selvedge::ptx
