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
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <set>

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

/// Copies PTX with the number behind each `label` changed.
static std::string renumbered(llvm::StringRef ptx, llvm::StringRef label,
                              llvm::function_ref<int64_t(int64_t)> numberOf) {
  std::string text;
  for (size_t at; (at = ptx.find(label)) != llvm::StringRef::npos;) {
    int64_t number = 0;
    text += ptx.take_front(at + label.size());
    ptx = ptx.drop_front(at + label.size());
    if (!ptx.consumeInteger(10, number))
      text += std::to_string(numberOf(number));
  }
  text += ptx;
  return text;
}

std::string joinPtx(llvm::ArrayRef<std::string> parts) {
  // What comes before kernels, and before each what it uses first.
  constexpr llvm::StringLiteral mark = "\t// .globl", entry = ".visible .entry";
  // Numbered through by LLVM: blocks by function, ours (`${:uid}`) one by one.
  constexpr llvm::StringLiteral block = "$L__BB", wait = "WAIT_";
  std::string text;
  std::set<std::string> declared;
  int64_t numWaits = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    llvm::StringRef rest = part;
    size_t first = rest.find(mark);
    if (i == 0)
      text = rest.take_front(first);
    rest = rest.drop_front(first);
    llvm::StringRef head = rest.take_front(rest.find('\n') + 1);
    rest = rest.drop_front(head.size());
    text += head;
    llvm::StringRef shared = rest.take_front(rest.find(entry));
    rest = rest.drop_front(shared.size());
    if (declared.insert(shared.str()).second)
      text += shared;
    int64_t before = numWaits;
    text += renumbered(renumbered(rest, block, [i = i](int64_t) { return i; }),
                       wait, [&](int64_t number) {
                         numWaits = std::max(numWaits, before + number + 1);
                         return before + number;
                       });
  }
  return text;
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
