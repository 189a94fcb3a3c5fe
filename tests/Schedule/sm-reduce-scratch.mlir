// Reductions across warps get a buffer, outside of loops, and a barrier where it is used again; others nothing. What only proofs read is dropped.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-reduce-scratch,verify-sm-async))' | FileCheck %s
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-drop-presence))' | FileCheck %s --check-prefix=DROP
!row = tensor<32xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 0, 0]>>>
!t = tensor<128xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
!i = tensor<128xi32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
!p = tensor<128xi1, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
// CHECK-LABEL: sm.kernel @sums
// CHECK: %[[FIRST:.*]] = sm.alloc : <"register" x "thread", 1 x 128 x f32, swizzle 0, stages 1>
// CHECK: sm.reduce  add %{{.*}} over "j" where({{.*}}) through %[[FIRST]]
// CHECK-NOT: sm.barrier
// CHECK: sm.reduce  add %{{.*}} over "j" :
// CHECK: %[[SECOND:.*]] = sm.alloc
// CHECK: scf.for
// CHECK: sm.reduce  max %{{.*}} over "j" through %[[SECOND]]
// CHECK-NEXT: sm.barrier
// Two of a round meet at each other's barrier.
// CHECK: scf.for
// CHECK: sm.reduce  max
// CHECK-NOT: sm.barrier
// CHECK: sm.reduce  min
// CHECK-NOT: sm.barrier
// CHECK: sm.return
// DROP-LABEL: sm.kernel @sums
// DROP-NOT: arith.cmpi
// DROP: sm.reduce  add %{{.*}} over "j" :
// DROP-NOT: sm.contributes
sm.kernel @sums args [#sm.dim<"N">, #sm.pointer<"y">] warps 4 {
^bb0(%n: i32, %y: !tile.tensor<1, f32>):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %t = sm.splat %f0 : f32 -> !t
  %row = sm.splat %f0 : f32 -> !row
  %range = sm.range %c0 : !i
  %bound = sm.splat %n : i32 -> !i
  %p = arith.cmpi slt, %range, %bound : !i
  sm.contributes %t over "j" where(%p : !p) : !t
  %a = sm.reduce add %t over "j" where(%p : !p) : !t -> f32
  %b = sm.reduce add %row over "j" : !row -> f32
  sm.store %a, %y[%c0 : i32] vector 1 : f32, !tile.tensor<1, f32>
  sm.store %b, %y[%c1 : i32] vector 1 : f32, !tile.tensor<1, f32>
  scf.for %j = %c0 to %n step %c1 : i32 {
    %m = sm.reduce max %t over "j" : !t -> f32
  }
  scf.for %j = %c0 to %n step %c1 : i32 {
    %max = sm.reduce max %t over "j" : !t -> f32
    %min = sm.reduce min %t over "j" : !t -> f32
  }
  sm.return
}
