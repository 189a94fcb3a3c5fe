// Passes to the code of one thread, of all targets.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_PASSES_TD
#define SELVEDGE_COMPILER_TARGET_LANES_PASSES_TD

include "mlir/Pass/PassBase.td"

def SmToLanes : Pass<"sm-to-lanes", "::mlir::ModuleOp"> {
  let summary = "Lower sm.async kernels to the code of one thread (form lanes)";
  let description = [{
    Each register tile becomes its thread's registers, each operation the instructions on them: `cp.async`, `ldmatrix`, `mma.sync`, shuffles, predicated global accesses.
    Loops stay `scf`, scalar arithmetic stays `arith`; memory and tensor-core instructions are `llvm` operations and NVVM intrinsics. Shared memory is laid out here
    and its size written to the `sm.launch` of each kernel.

    Before: `%s = sm.mma %q, %k init %z over "D" : ... -> tensor<64x64xf32, #sm.dist<...>>`
    After: `llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"(...)`, `llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(...)`, ...
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
