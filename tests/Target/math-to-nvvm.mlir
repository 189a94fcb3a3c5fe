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

// The hardware's tanh has 11 good bits.
// CHECK-LABEL: llvm.func @tanh
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[S]])
// CHECK: %[[D:.*]] = arith.addf %[[E]]
// CHECK: %[[Q:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[D]])
// CHECK: math.fma %[[Q]]
// PTX-LABEL: .entry tanh
// PTX-NOT: tanh.approx
// PTX: mul.rn.f32 {{.*}}, 0f4038AA3B;
// PTX: ex2.approx.ftz.f32
// PTX: rcp.approx.ftz.f32
// PTX: fma.rn.f32 {{.*}}, 0fC0000000, 0f3F800000;
llvm.func @tanh(%out: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %y = math.tanh %x : f32
  llvm.store %y, %out : f32, !llvm.ptr<1>
  llvm.return
}

// What is the same for all threads and steps is one factor, computed first: of
// cap * tanh(x * scale / cap) one product with x and one with the result stay.
// CHECK-LABEL: llvm.func @softcap
// CHECK-SAME: %[[X:[^:]*]]: !llvm.ptr<1>, %[[SCALE:[^:]*]]: f32, %[[CAP:[^:]*]]: f32)
// CHECK: %[[MINUS:.*]] = arith.constant -2.000000e+00 : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[MINUS]], %[[CAP]] : f32
// CHECK: %[[LOG:.*]] = arith.constant 2.88539{{.*}} : f32
// CHECK: %[[PART:.*]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%[[LOG]], %[[CAP]])
// CHECK: %[[FACTOR:.*]] = arith.mulf %[[PART]], %[[SCALE]] : f32
// CHECK: %[[V:.*]] = llvm.load
// CHECK: %[[S:.*]] = arith.mulf %[[V]], %[[FACTOR]] : f32
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"(%[[S]])
// CHECK: %[[Q:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: %[[Y:.*]] = math.fma %[[Q]], %[[SCALED]], %[[CAP]] : f32
// CHECK: llvm.store %[[Y]]
// PTX-LABEL: .entry softcap
// PTX: div.full.f32
// PTX: ld.global
// PTX-NOT: div.full.f32
// PTX: ret;
llvm.func @softcap(%x: !llvm.ptr<1>, %scale: f32, %cap: f32) attributes {nvvm.kernel} {
  %v = llvm.load %x : !llvm.ptr<1> -> f32
  %s = arith.mulf %v, %scale : f32
  %d = arith.divf %s, %cap fastmath<afn> : f32
  %t = math.tanh %d : f32
  %y = arith.mulf %cap, %t : f32
  llvm.store %y, %x : f32, !llvm.ptr<1>
  llvm.return
}

// So are constants; but not what may be zero, and no exact quotient.
// CHECK-LABEL: llvm.func @constants
// CHECK-DAG: arith.constant 5.770780e-02 : f32
// CHECK-DAG: arith.constant -1.000000e+02 : f32
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-LABEL: llvm.func @exact
// CHECK: %[[D:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %[[D]]
// CHECK: %[[T:.*]] = math.fma
// CHECK: arith.mulf %[[T]], %{{.*}} : f32
llvm.func @constants(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %v = llvm.load %x : !llvm.ptr<1> -> f32
  %cap = arith.constant 5.000000e+01 : f32
  %d = arith.divf %v, %cap fastmath<afn> : f32
  %t = math.tanh %d : f32
  %y = arith.mulf %t, %cap : f32
  llvm.store %y, %x : f32, !llvm.ptr<1>
  llvm.return
}
llvm.func @exact(%x: !llvm.ptr<1>, %cap: f32) attributes {nvvm.kernel} {
  %v = llvm.load %x : !llvm.ptr<1> -> f32
  %d = arith.divf %v, %cap : f32
  %t = math.tanh %d : f32
  %zero = arith.constant 0.0 : f32
  %y = arith.mulf %t, %zero : f32
  llvm.store %y, %x : f32, !llvm.ptr<1>
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
