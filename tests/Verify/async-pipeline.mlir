// A pipelined loop over a ring of two is accepted; each mutant of its synchronisation is refused.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -split-input-file -verify-diagnostics -o /dev/null

// One copy ahead in a ring of two.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @pipeline args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The await in the loop removed: what the loop reads may be in flight.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @no_await args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 0)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{expects the last operation on stage 0 of buffer "k" x "j" to be awaited, and then a barrier, found it in flight (warp 1, iteration 1 of 1)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The barrier in the loop removed: another warp may not have begun its part.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @no_barrier args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 0)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{expects a barrier between the writes of all warps to stage 0 of buffer "k" x "j" and this read}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The barrier before the await: it orders nothing that the await completes.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @barrier_first args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 0)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.barrier
    sm.await %token
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{found it in flight (warp 1, iteration 1 of 1)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The loop awaits the token of the prologue in each iteration: stale from the second on.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @wrong_token args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    // expected-error @+1 {{expects a token that has not been awaited, found a stale one (warp 1, iteration 2 of 2)}}
    sm.await %first
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The loop awaits the copy of the iteration before, not the one that it reads.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @lagging_token args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %other = sm.alloc : !slot
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %lag = sm.copy_async %x[%c0, %c0 : i32, i32] to %other layout #layout vector 1 : !x, !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 0)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  sm.await %lag
  sm.barrier
  // expected-error @+1 {{to be awaited, and then a barrier, found it in flight (warp 1)}}
  %s = sm.mma %a, %slot0 init %zero over "k" : !a, !slot -> !c
  sm.await %first
  sm.return
}

// -----

// The copy issued before the barrier: it overwrites what another warp still reads.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @early_copy args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    %next = arith.subi %c1, %stage : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    sm.await %token
    // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1, iteration 2 of 2)}}
    %issued = sm.copy_async %x[%j, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    sm.barrier
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{stage 0 of buffer "k" x "j" to be awaited, and then a barrier, found it in flight (warp 0, iteration 1 of 2)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.return
}

// -----

// The copy goes to the stage that is being read.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @same_stage args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%stage] : !ring -> !slot
    // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1, iteration 1 of 1)}}
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{stage 0 of buffer "k" x "j" to be awaited, and then a barrier, found it in flight (warp 1, iteration 1 of 1)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The read is one stage ahead.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @read_next args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1, iteration 1 of 1)}}
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%next] : !ring -> !slot
    // expected-error @+1 {{stage 1 of buffer "k" x "j" to be awaited, and then a barrier, found it in flight (warp 1, iteration 1 of 1)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// The stage wraps one too late.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @late_wrap args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %c3 = arith.constant 3 : i32
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c3 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    // expected-error @+1 {{expects a stage of 0 to 1, found 2 (warp 0, iteration 2 of 2)}}
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.await %r#2
  sm.barrier
  sm.return
}

// -----

// No await after the loop: with no trips the copy of the prologue is in flight at the end.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @left_in_flight args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-error @+1 {{expects an await before the kernel ends, found none (warp 0)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0, %token = %first) -> (!c, i32, !sm.token) : i32 {
    sm.await %token
    sm.barrier
    %plus = arith.addi %stage, %c1 : i32
    %wraps = arith.cmpi eq, %plus, %c2 : i32
    %next = arith.select %wraps, %c0, %plus : i32
    %ahead = arith.addi %j, %c16 : i32
    %to = sm.slot %ring[%next] : !ring -> !slot
    %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next, %issued : !c, i32, !sm.token
  }
  sm.return
}
