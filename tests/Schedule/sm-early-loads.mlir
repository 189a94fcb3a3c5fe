// What a step reads from a tensor that the kernel does not write moves to its beginning, with its indices. Other loads stay: vectors, what the step wrote before, and places
// that follow from a product.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-early-loads))' | FileCheck %s
!i = tensor<64xi32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!j = tensor<64xi32, #sm.layout<<"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!s = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!q = !sm.buffer<"i" x "D", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!k = !sm.buffer<"j" x "D", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
// CHECK-LABEL: sm.kernel @steps
// CHECK-SAME: args
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[X:.*]]: !tile.tensor<2, f32>, %[[Y:.*]]: !tile.tensor<2, f32>, %[[AT:.*]]: !tile.tensor<1, i32>):
// CHECK: scf.for %[[J:.*]] = %{{.*}} to
// CHECK-NEXT: %[[COLUMNS:.*]] = sm.range %[[J]]
// CHECK-NEXT: %[[EARLY:.*]] = sm.load %[[X]][%{{.*}}, %[[COLUMNS]]
// CHECK-NEXT: sm.wgmma
// CHECK-NEXT: sm.wgmma_wait
// CHECK-NEXT: sm.load %[[AT]]
// CHECK-NEXT: sm.load %[[Y]]
// CHECK: sm.store
// CHECK: %[[PLACE:.*]] = sm.reduce
// CHECK: sm.load %[[X]][%[[PLACE]]
sm.kernel @steps args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"y">, #sm.pointer<"at">] warps 4 {
^bb0(%n: i32, %x: !tile.tensor<2, f32>, %y: !tile.tensor<2, f32>, %at: !tile.tensor<1, i32>):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %q = sm.alloc : <"i" x "D", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
  %k = sm.alloc : <"j" x "D", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
  %rows = sm.range %c0 : !i
  scf.for %j = %c0 to %n step %c64 : i32 {
    %started = sm.wgmma %q, %k over "D" : !q, !k -> !s
    %scores = sm.wgmma_wait 0, %started : !s
    %columns = sm.range %j : !j
    %bias = sm.load %x[%rows, %columns : !i, !j] vector 2 : <2, f32> -> !s
    %numbers = sm.load %at[%columns : !j] vector 2 : <1, i32> -> !j
    %old = sm.load %y[%rows, %columns : !i, !j] vector 2 : <2, f32> -> !s
    %biased = arith.addf %scores, %bias : !s
    %sum = arith.addf %biased, %old : !s
    sm.store %sum, %y[%rows, %columns : !i, !j] vector 2 : !s, !tile.tensor<2, f32>
    %largest = sm.reduce max %columns over "j" : !j -> i32
    %place = sm.reduce max %rows over "i" : !i -> i32
    %one = sm.load %x[%largest, %place : i32, i32] vector 1 : <2, f32> -> f32
    sm.store %one, %y[%c0, %c0 : i32, i32] vector 1 : f32, !tile.tensor<2, f32>
  }
  sm.return
}
