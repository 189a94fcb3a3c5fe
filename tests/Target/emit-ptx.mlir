// Kernels in upstream dialects become PTX in which NaN propagates.
// RUN: selvedge-opt %s -emit-ptx=arch=sm_80 -o /dev/null | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: selvedge-opt %s -emit-ptx=arch=sm_90a -o /dev/null | FileCheck %s --check-prefixes=CHECK,SM90

// CHECK: .version 8.1
// SM80: .target sm_80
// SM90: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 smem[]

// What belongs to the host or to an earlier form is left out.
func.func private @host(i32)

// CHECK-LABEL: .entry propagates_nan(
// CHECK: max.NaN.f32
// CHECK: min.NaN.f32
// CHECK: sqrt.rn.f32
llvm.func @propagates_nan(%out: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
  %max = arith.maximumf %x, %y : f32
  %min = arith.minimumf %max, %y : f32
  %root = math.sqrt %min : f32
  llvm.store %root, %out : f32, !llvm.ptr<1>
  llvm.return
}

// Multiplication and addition fuse only where the program says so.
// CHECK-LABEL: .entry contraction(
// CHECK: fma.rn.f32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
llvm.func @contraction(%out: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
  %p = arith.mulf %x, %y fastmath<contract> : f32
  %fused = arith.addf %p, %y fastmath<contract> : f32
  llvm.store volatile %fused, %out : f32, !llvm.ptr<1>
  %q = arith.mulf %x, %x : f32
  %plain = arith.addf %q, %y : f32
  llvm.store volatile %plain, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: .entry control_flow(
// CHECK: setp.ge.s32
// CHECK: @%p{{.*}} bra
llvm.func @control_flow(%out: !llvm.ptr<1>, %n: i32, %x: f32) attributes {nvvm.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> f32 : i32 {
    %isOdd = arith.trunci %i : i32 to i1
    %next = scf.if %isOdd -> f32 {
      %t = arith.addf %acc, %x : f32
      scf.yield %t : f32
    } else {
      %t = arith.mulf %acc, %x : f32
      scf.yield %t : f32
    }
    scf.yield %next : f32
  }
  llvm.store %sum, %out : f32, !llvm.ptr<1>
  llvm.return
}

// Narrowing saturates by modifier, so a NaN stays a NaN.
// CHECK-LABEL: .entry saturate(
// CHECK: cvt.rn.satfinite.bf16x2.f32
llvm.func @saturate(%out: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
  %pair = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn.satfinite"(%x, %y) : (f32, f32) -> vector<2xbf16>
  llvm.store %pair, %out : vector<2xbf16>, !llvm.ptr<1>
  llvm.return
}

// Copies, barriers and named sizes of a real kernel.
// CHECK-LABEL: .entry copies(
// CHECK: .maxntid 128
// CHECK: cp.async.cg.shared.global [smem], [%{{.*}}], 16, %{{.*}};
// CHECK: cp.async.commit_group
// CHECK: cp.async.wait_group 0
// CHECK: bar{{(rier)?}}.sync
llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @copies(%in: !llvm.ptr<1>, %bytes: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
  %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
  nvvm.cp.async.shared.global %smem, %in, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  llvm.return
}
