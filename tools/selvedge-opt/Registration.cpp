// The dialects and passes of selvedge-opt. Kept apart: these headers take long.
// SPDX-License-Identifier: MIT
#include "tools/selvedge-opt/Registration.h"

#include "compiler/Safety/Passes.h"
#include "compiler/Schedule/Passes.h"
#include "compiler/Target/Lanes/Passes.h"
#include "compiler/Target/PTX/Passes.h"
#include "compiler/Target/PTX/Translate.h"
#include "compiler/Target/SM90/Passes.h"
#include "compiler/Verify/Passes.h"
#include "dialect/Sm/Sm.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace selvedge::opt {

using namespace mlir;

void registerDialects(DialectRegistry &registry) {
  registry.insert<tile::TileDialect, sm::SmDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, math::MathDialect,
                  scf::SCFDialect>();
  ptx::registerTranslations(registry);
}

void registerPasses() {
  safety::registerSafetyPasses();
  verify::registerVerifyPasses();
  schedule::registerSchedulePasses();
  lanes::registerLanesPasses();
  sm90::registerSM90Passes();
  ptx::registerPtxPasses();
  ptx::registerPipelines();
  for (auto create :
       {createCanonicalizerPass, createCSEPass, createSCFToControlFlowPass,
        createArithToLLVMConversionPass, createConvertMathToLLVMPass,
        createConvertControlFlowToLLVMPass, createConvertNVVMToLLVMPass,
        createReconcileUnrealizedCastsPass})
    registerPass(create);
}

} // namespace selvedge::opt
