// RUN: selvedge-opt %s -split-input-file -math-to-nvvm | FileCheck %s
// RUN: selvedge-opt %s -emit-ptx=arch=sm_80 -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: selvedge-opt %s -emit-ptx=arch=sm_90a -o /dev/null | FileCheck %s --check-prefix=PTX

// ex2 may flush: a subnormal weight is 0 within any tolerance.
// CHECK-LABEL: llvm.func @exp2
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%{{.*}}) : (f32) -> f32
// PTX-LABEL: .entry exp2
// PTX: ex2.approx.ftz.f32
llvm.func @exp2(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.exp2 %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @exp
// CHECK: %[[T:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[T]])
// PTX-LABEL: .entry exp
// PTX: mul.rn.f32 {{.*}}, 0f3FB8AA3B;
// PTX: ex2.approx.ftz.f32
llvm.func @exp(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.exp %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// Flushing a subnormal argument would make a finite logarithm -inf.
// CHECK-LABEL: llvm.func @log
// CHECK: "llvm.nvvm.lg2.approx.f"
// CHECK: arith.mulf
// PTX-LABEL: .entry log
// PTX: lg2.approx.f32
// PTX: mul.rn.f32 {{.*}}, 0f3F317218;
llvm.func @log(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.log %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @rsqrt
// PTX-LABEL: .entry rsqrt
// PTX: rsqrt.approx.f32
llvm.func @rsqrt(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.rsqrt %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// The hardware's tanh has 11 good bits; small arguments take a polynomial, and
// the comparison is false for NaN.
// CHECK-LABEL: llvm.func @tanh
// CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: %[[D:.*]] = arith.addf %[[E]]
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[D]])
// CHECK: arith.cmpf olt
// CHECK: arith.select
// PTX-LABEL: .entry tanh
// PTX-NOT: tanh.approx
// PTX: copysign.f32
// PTX: setp.lt.f32
llvm.func @tanh(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.tanh %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// Narrow types compute in f32.
// CHECK-LABEL: llvm.func @narrow
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[Y:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[W]])
// CHECK: arith.truncf %[[Y]] : f32 to bf16
// PTX-LABEL: .entry narrow
// PTX: cvt.rn.bf16.f32
llvm.func @narrow(%out: !llvm.ptr<1>, %x: bf16) attributes {nvvm.kernel} {
  %y = math.exp2 %x : bf16
  llvm.store %y, %out : bf16, !llvm.ptr<1>
  llvm.return
}

// A quotient is exact unless the program allows otherwise.
// CHECK-LABEL: llvm.func @quotients
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: "llvm.nvvm.div.full"
// PTX-LABEL: .entry quotients
// PTX: div.rn.f32
// PTX: div.full.f32
llvm.func @quotients(%out: !llvm.ptr<1>, %x: f32, %y: f32) attributes {nvvm.kernel} {
  %exact = arith.divf %x, %y : f32
  llvm.store volatile %exact, %out : f32, !llvm.ptr<1>
  %fast = arith.divf %x, %y fastmath<arcp> : f32
  llvm.store volatile %fast, %out : f32, !llvm.ptr<1>
  llvm.return
}
