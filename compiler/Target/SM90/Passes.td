// Passes of the SM90 target.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_SM90_PASSES_TD
#define SELVEDGE_COMPILER_TARGET_SM90_PASSES_TD

include "mlir/Pass/PassBase.td"

def SmRolesToLanes : Pass<"sm-roles-to-lanes", "::mlir::ModuleOp"> {
  let summary = "Lower kernels with roles to the code of one thread (form lanes)";
  let description = [{
    Each role becomes a branch on the number of the warpgroup that sets its register budget first. Bulk copies, mbarriers and `wgmma` become inline PTX with the encodings of the PTX
    ISA; everything else is emitted as `sm-to-lanes` does. Kernels without roles are left alone.

    Before: `sm.role "products" first 1 warpgroups 2 registers 240 { ^bb0(%wg: i32): %s = sm.wgmma %q, %k over "D" : ... }`
    After: `scf.if %is_products { llvm.call_intrinsic "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"(240); llvm.inline_asm "... wgmma.mma_async ..." }`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
