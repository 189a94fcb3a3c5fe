// Passes between the target's operations and the LLVM dialect.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_TARGET_PTX_PASSES_TD
#define SELVEDGE_COMPILER_TARGET_PTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def MathToNVVM : Pass<"math-to-nvvm"> {
  let summary = "Replace scalar math functions by NVPTX approximations that keep NaN and Inf";
  let description = [{
    Handles `exp`, `exp2`, `log`, `log2`, `rsqrt` and `tanh` on f32 (f16 and bf16 through f32), and `arith.divf` that carries `arcp` or `afn`. Functions
    that PTX has exactly (`absf`, `ceil`, `copysign`, `floor`, `fma`, `roundeven`, `sqrt`, `trunc` and the integer ones) stay for the upstream conversion. Any other
    function or type is an error here, because the NVPTX back end would abort on it.

    | function | PTX | error |
    |---|---|---|
    | exp2(x) | `ex2.approx.ftz` | 2 ulp; subnormal results are 0 |
    | exp(x) | `ex2.approx.ftz(x * log2(e))` | 2 ulp + abs(x) * 2^-24 relative |
    | log2(x) | `lg2.approx` | 2^-22 absolute in (0.5, 2), else 2^-22 relative |
    | log(x) | `lg2.approx(x) * ln(2)` | as log2, + 1 ulp |
    | rsqrt(x) | `rsqrt.approx` | 2^-22.9 relative |
    | tanh(x) | `1 - 2 / (exp(2 x) + 1)` | 2^-21 absolute |
    | x / y {arcp or afn} | `div.full` | 2 ulp |

    `log`, `log2` and `rsqrt` are not `.ftz`: a subnormal argument would give Inf where the function is finite. `tanh.approx` is not used, its error is 2^-11.

    Before: `%y = math.exp2 %x : f32`
    After: `%y = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def ExpandIntegerDivision : Pass<"expand-integer-division"> {
  let summary = "Expand rounding integer divisions into truncating ones";
  let description = [{
    Upstream's `arith-expand` would also turn `arith.maximumf` into compare and select; PTX has `max.NaN.f32` for it.

    Before: `%q = arith.floordivsi %a, %b : i32`
    After: `arith.divsi`, `arith.muli`, `arith.cmpi`, `arith.select`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def UnrollLoads : Pass<"unroll-loads"> {
  let summary = "Have the loads of several iterations on their way at once";
  let description = [{
    A loop over single elements that does nothing but compute and load waits for memory in each iteration: partial results are combined so. Sixteen
    iterations become one, and eight of what is left, in the order that they had. ptxas then puts their loads side by side. Iterations that compute or load too much for that become one by eight, or stay.

    Before: `scf.for %s = %c0 to %n step %c1 iter_args(%m = %x) { load; combine }`
    After: `scf.for %s = %c0 to %a step %c16 iter_args(%m = %x) { load; combine; load; combine; ... }`, `scf.for %s = %a to %b step %c8 ...`, `scf.for %s = %b to %n step %c1 ...`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
