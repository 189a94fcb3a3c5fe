// A tile that moves to another layout: it prints and parses; threads that hold what they need rename registers, others meet at a barrier; the code writes, waits and reads.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s | selvedge-opt -mlir-print-op-generic | selvedge-opt '-pass-pipeline=builtin.module(sm.kernel(sm-reduce-scratch,verify-sm-padding,verify-sm-async))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: selvedge-opt %t.mlir '-pass-pipeline=builtin.module(sm-to-lanes)' | FileCheck %s --check-prefix=LANES
!a = tensor<32x4xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 0]>, <"j" regs[: 2] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[: 2]>>>
!b = tensor<32x4xf32, #sm.layout<<"i" regs[: 4] by[: 1] lanes[: 0, 0, 4, 8, 16] warps[: 0]>, <"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0]>>>
// The registers of a thread in another order.
!r = tensor<32x4xf32, #sm.layout<<"i" regs[: 2, 2] by[: 2, 1] lanes[: 0, 0, 4, 8, 16] warps[: 0]>, <"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0]>>>
!g = !tile.tensor<2, f32>
// CHECK: %[[SCRATCH:.*]] = sm.alloc : <"tile" x "element", 1 x 128 x f32, swizzle 0, stages 1>
// CHECK: scf.for
// CHECK: sm.relayout %{{.*}} through %[[SCRATCH]] : !sm.buffer
// CHECK-NEXT: sm.barrier
// CHECK: sm.relayout %{{.*}} : tensor
// LANES: llvm.store {{.*}} !llvm.ptr<3>
// LANES: llvm.store {{.*}} !llvm.ptr<3>
// LANES: barrier.cta.sync
// LANES: %[[FIRST:.*]] = llvm.load {{.*}} !llvm.ptr<3>
// LANES: %[[SECOND:.*]] = llvm.load {{.*}} !llvm.ptr<3>
// LANES: %[[THIRD:.*]] = llvm.load {{.*}} !llvm.ptr<3>
// LANES: %[[LAST:.*]] = llvm.load {{.*}} !llvm.ptr<3>
// LANES: barrier.cta.sync
// LANES: llvm.bitcast %[[FIRST]]
// LANES: llvm.bitcast %[[THIRD]]
// LANES: llvm.bitcast %[[SECOND]]
// LANES: llvm.bitcast %[[LAST]]
sm.kernel @k args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"y">] warps 2 {
^bb0(%n: i32, %x: !g, %y: !g):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ia = sm.range %c0 : tensor<32xi32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 0]>>>
  %ja = sm.range %c0 : tensor<4xi32, #sm.layout<<"j" regs[: 2] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[: 2]>>>
  %ir = sm.range %c0 : tensor<32xi32, #sm.layout<<"i" regs[: 2, 2] by[: 2, 1] lanes[: 0, 0, 4, 8, 16] warps[: 0]>>>
  %jr = sm.range %c0 : tensor<4xi32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0]>>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %a = sm.load %x[%ia, %ja : tensor<32xi32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 0]>>>, tensor<4xi32, #sm.layout<<"j" regs[: 2] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[: 2]>>>] vector 1 : <2, f32> -> !a
    %b = sm.relayout %a : !a -> !b
    %r = sm.relayout %b : !b -> !r
    sm.store %r, %y[%ir, %jr : tensor<32xi32, #sm.layout<<"i" regs[: 2, 2] by[: 2, 1] lanes[: 0, 0, 4, 8, 16] warps[: 0]>>>, tensor<4xi32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0]>>>] vector 1 : !r, !g
  }
  sm.return
}
