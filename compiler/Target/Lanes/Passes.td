// Passes to the code of one thread, of all targets.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_LANES_PASSES_TD
#define SELVEDGE_COMPILER_TARGET_LANES_PASSES_TD

include "mlir/Pass/PassBase.td"

def SmByteFloats : Pass<"sm-byte-floats", "::selvedge::sm::KernelOp"> {
  let summary = "Make bytes of floats of 8 bits, and integer arithmetic of their conversions";
  let description = [{
    `f8E4M3FN` and `f8E5M2` become `i8` in tensors, shared memory and register tiles. What widens or narrows them becomes shifts, masks and one f32 operation, the same on all targets: PTX has instructions for it
    from sm_89 on, and bits must not depend on the target. Narrowing rounds to nearest even and saturates, Inf as well; NaN is 0x7f. That is what `cvt.rn.satfinite.{e4m3x2,e5m2x2}.f32` does.

    Before: `%y = arith.extf %x : tensor<64xf8E5M2, #sm.layout<...>> to tensor<64xf32, #sm.layout<...>>`
    After: `%a = arith.extsi %x`, `%b = arith.shli %a, %eight`, `%c = arith.trunci %b`, `%d = arith.bitcast %c : ... to tensor<64xf16, ...>`, `%y = arith.extf %d`: an e5m2 is the upper byte of an f16.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SmToLanes : Pass<"sm-to-lanes", "::mlir::ModuleOp"> {
  let summary = "Lower sm.async kernels to the code of one thread (form lanes)";
  let description = [{
    Each register tile becomes its thread's registers, each operation the instructions on them: `cp.async`, `ldmatrix`, `mma.sync`, shuffles, predicated global accesses.
    Loops stay `scf`, scalar arithmetic stays `arith`; memory and tensor-core instructions are `llvm` operations and NVVM intrinsics. Shared memory is laid out here
    and its size written to the `sm.launch` of each kernel.

    Before: `%s = sm.mma %q, %k init %z over "D" : ... -> tensor<64x64xf32, #sm.layout<...>>`
    After: `llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"(...)`, `llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(...)`, ...
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
