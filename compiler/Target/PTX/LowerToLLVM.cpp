// The passes from arith, math, scf and cf to the LLVM dialect.
// SPDX-License-Identifier: MIT
#include "compiler/Target/PTX/Passes.h"
#include "compiler/Target/PTX/Translate.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace selvedge::ptx {

#define GEN_PASS_DEF_EXPANDINTEGERDIVISION
#include "compiler/Target/PTX/Passes.h.inc"

using namespace mlir;

namespace {

struct ExpandIntegerDivision
    : impl::ExpandIntegerDivisionBase<ExpandIntegerDivision> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

void addLowerToLLVMPasses(OpPassManager &pm) {
  pm.addPass(createUnrollLoads());
  pm.addPass(createExpandIntegerDivision());
  pm.addPass(createMathToNVVM());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult lowerToLLVMDialect(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  addLowerToLLVMPasses(pm);
  // Of code this long once is enough.
  pm.enableVerifier(false);
  return success(succeeded(pm.run(module)) && succeeded(verify(module)));
}

void registerPipelines() {
  PassPipelineRegistration<>(
      "selvedge-lower-to-llvm",
      "Lower kernels from arith, math, scf and cf to the LLVM dialect",
      [](OpPassManager &pm) { addLowerToLLVMPasses(pm); });
}

} // namespace selvedge::ptx
