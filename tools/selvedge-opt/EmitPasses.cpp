// emit-llvm and emit-ptx: print what a module of kernels becomes.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Translate.h"
#include "tools/selvedge-opt/Registration.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::opt {

using namespace mlir;

namespace {

/// Lowers a copy of the module as the driver does and prints it to standard
/// output. The module is left as it is: use `-o /dev/null`.
template <typename Derived>
struct EmitPass : PassWrapper<Derived, OperationPass<ModuleOp>> {
  void runOnOperation() override {
    ModuleOp module = this->getOperation();
    OwningOpRef<ModuleOp> device = ptx::extractDeviceCode(module);
    if (failed(ptx::lowerToLLVMDialect(*device)))
      return this->signalPassFailure();
    llvm::LLVMContext context;
    auto llvmModule = ptx::translateToLLVM(*device, context);
    if (!llvmModule)
      return this->signalPassFailure();
    llvm::Error error = ptx::lintFastMath(*llvmModule);
    if (!error)
      error = static_cast<Derived *>(this)->print(*llvmModule);
    if (error) {
      emitError(module.getLoc(), llvm::toString(std::move(error)));
      this->signalPassFailure();
    }
  }
};

struct EmitLLVM : EmitPass<EmitLLVM> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitLLVM)
  StringRef getArgument() const override { return "emit-llvm"; }
  StringRef getDescription() const override {
    return "Print the module's device code as LLVM IR";
  }
  llvm::Error print(llvm::Module &module) {
    module.print(llvm::outs(), nullptr);
    return llvm::Error::success();
  }
};

struct EmitPtx : EmitPass<EmitPtx> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitPtx)
  EmitPtx() = default;
  EmitPtx(const EmitPtx &other) : EmitPass<EmitPtx>(other) {
    arch = other.arch;
  }
  StringRef getArgument() const override { return "emit-ptx"; }
  StringRef getDescription() const override {
    return "Print the module's device code as PTX";
  }
  llvm::Error print(llvm::Module &module) {
    llvm::Expected<std::string> text = ptx::emitPtx(module, arch);
    if (!text)
      return text.takeError();
    llvm::outs() << *text;
    return llvm::Error::success();
  }
  Option<std::string> arch{*this, "arch", llvm::cl::desc("Architecture"),
                           llvm::cl::init("sm_80")};
};

} // namespace

void registerEmitPasses() {
  PassRegistration<EmitLLVM>();
  PassRegistration<EmitPtx>();
}

} // namespace selvedge::opt
