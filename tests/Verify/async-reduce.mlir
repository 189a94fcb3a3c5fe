// What a reduction exchanges across warps is ordered like any buffer, and an await leaves no more copies than it may.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -split-input-file -verify-diagnostics -o /dev/null

!t = tensor<128xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
!parts = !sm.buffer<"register" x "thread", 1 x 128 x f32, swizzle 0, stages 1>
sm.kernel @sums args [#sm.dim<"N">] warps 4 {
^bb0(%n: i32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %t = sm.splat %f0 : f32 -> !t
  %parts = sm.alloc : !parts
  scf.for %j = %c0 to %n step %c1 : i32 {
    %sum = sm.reduce add %t over "j" through %parts : !parts : !t -> f32
    sm.barrier
  }
  sm.return
}

// -----

// Nobody waits until all have read the parts of the round before.
!t = tensor<128xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
!parts = !sm.buffer<"register" x "thread", 1 x 128 x f32, swizzle 0, stages 1>
sm.kernel @overtaken args [#sm.dim<"N">] warps 4 {
^bb0(%n: i32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %t = sm.splat %f0 : f32 -> !t
  %parts = sm.alloc : !parts
  scf.for %j = %c0 to %n step %c1 : i32 {
    // expected-error @+2 {{expects a barrier after the last operation on stage 0 of buffer "register" x "thread"}}
    // expected-note @+1 {{in conflict with 'sm.reduce'}}
    %sum = sm.reduce add %t over "j" through %parts : !parts : !t -> f32
  }
  sm.return
}

// -----

!t = tensor<128xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32, 64]>>>
sm.kernel @nowhere args [] warps 4 {
  %f0 = arith.constant 0.0 : f32
  %t = sm.splat %f0 : f32 -> !t
  // expected-error @+1 {{expects a buffer for the parts of its warps}}
  %sum = sm.reduce add %t over "j" : !t -> f32
  sm.return
}

// -----

// Of two copies the second may be left.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
sm.kernel @one_left args [#sm.pointer<"x">] warps 4 {
^bb0(%x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = sm.alloc : !ring
  %s0 = sm.slot %ring[%c0] : !ring -> !slot
  %s1 = sm.slot %ring[%c1] : !ring -> !slot
  %t0 = sm.copy_async %x[%c0, %c0 : i32, i32] to %s0 layout #layout vector 1 : !x, !slot
  %t1 = sm.copy_async %x[%c0, %c0 : i32, i32] to %s1 layout #layout vector 1 : !x, !slot
  sm.await %t0 pending 1
  sm.await %t1
  sm.return
}

// -----

!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
sm.kernel @both_left args [#sm.pointer<"x">] warps 4 {
^bb0(%x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = sm.alloc : !ring
  %s0 = sm.slot %ring[%c0] : !ring -> !slot
  %s1 = sm.slot %ring[%c1] : !ring -> !slot
  %t0 = sm.copy_async %x[%c0, %c0 : i32, i32] to %s0 layout #layout vector 1 : !x, !slot
  %t1 = sm.copy_async %x[%c0, %c0 : i32, i32] to %s1 layout #layout vector 1 : !x, !slot
  // expected-error @+1 {{expects to wait for its copy, found that it may be one of the 2 that are left}}
  sm.await %t0 pending 2
  sm.await %t1
  sm.return
}
