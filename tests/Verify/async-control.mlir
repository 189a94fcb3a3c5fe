// Branches, nested loops and staged operands: what the order of accesses depends on.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -split-input-file -verify-diagnostics -o /dev/null

// Copies under conditions that the trip count decides.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @guarded args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
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
  %any = arith.cmpi slt, %c0, %n : i32
  scf.if %any {
    %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
    sm.await %first
  }
  %r:2 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0) -> (!c, i32) : i32 {
    sm.barrier
    %next = arith.subi %c1, %stage : i32
    %ahead = arith.addi %j, %c16 : i32
    %more = arith.cmpi slt, %ahead, %n : i32
    scf.if %more {
      %to = sm.slot %ring[%next] : !ring -> !slot
      %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
      sm.await %issued
    }
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next : !c, i32
  }
  sm.return
}

// -----

// The condition of the copy is off by one iteration: the last iteration reads what was not copied.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @guarded_wrong args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
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
  %any = arith.cmpi slt, %c0, %n : i32
  scf.if %any {
    %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
    sm.await %first
  }
  %r:2 = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero, %stage = %c0) -> (!c, i32) : i32 {
    sm.barrier
    %next = arith.subi %c1, %stage : i32
    %after = arith.constant 32 : i32
    %ahead = arith.addi %j, %c16 : i32
    %last = arith.addi %j, %after : i32
    %more = arith.cmpi slt, %last, %n : i32
    scf.if %more {
      %to = sm.slot %ring[%next] : !ring -> !slot
      %issued = sm.copy_async %x[%ahead, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
      sm.await %issued
    }
    %from = sm.slot %ring[%stage] : !ring -> !slot
    // expected-error @+1 {{expects stage 1 of buffer "k" x "j" to be written before it is read, found no write (warp 0, iteration 2 of 2)}}
    %sum = sm.mma %a, %from init %acc over "k" : !a, !slot -> !c
    scf.yield %sum, %next : !c, i32
  }
  sm.return
}

// -----

// A staged operand between two barriers, in a loop.
!x = !tile.tensor<2, bf16>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
!slotA = !sm.buffer<"i" x "k", 16 x 16 x bf16, swizzle 1, stages 1>
!b = tensor<16x16xbf16, #sm.layout<<"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 0, 1, 2, 4] warps[: 8, 0]>>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @staged args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %buffer = sm.alloc : !slotA
  %b = sm.splat %h0 : bf16 -> !b
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero) -> (!c) : i32 {
    sm.barrier
    sm.stage %a to %buffer : !a, !slotA
    sm.barrier
    %sum = sm.mma %buffer, %b init %acc over "k" : !slotA, !b -> !c
    scf.yield %sum : !c
  }
  sm.return
}

// -----

// No barrier after the stage.
!x = !tile.tensor<2, bf16>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
!slotA = !sm.buffer<"i" x "k", 16 x 16 x bf16, swizzle 1, stages 1>
!b = tensor<16x16xbf16, #sm.layout<<"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 0, 1, 2, 4] warps[: 8, 0]>>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @staged_read args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %buffer = sm.alloc : !slotA
  %b = sm.splat %h0 : bf16 -> !b
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero) -> (!c) : i32 {
    sm.barrier
    // expected-note @+1 {{in conflict with 'sm.stage' (warp 1, iteration 1 of 1)}}
    sm.stage %a to %buffer : !a, !slotA
    // expected-error @+1 {{expects a barrier between the writes of all warps to stage 0 of buffer "i" x "k" and this read}}
    %sum = sm.mma %buffer, %b init %acc over "k" : !slotA, !b -> !c
    scf.yield %sum : !c
  }
  sm.return
}

// -----

// No barrier before the stage: the last iteration's reads may not be over.
!x = !tile.tensor<2, bf16>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
!slotA = !sm.buffer<"i" x "k", 16 x 16 x bf16, swizzle 1, stages 1>
!b = tensor<16x16xbf16, #sm.layout<<"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 0, 1, 2, 4] warps[: 8, 0]>>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @staged_again args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %buffer = sm.alloc : !slotA
  %b = sm.splat %h0 : bf16 -> !b
  %r = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %zero) -> (!c) : i32 {
    // expected-note @+1 {{in conflict with 'sm.stage' (warp 1, iteration 2 of 2)}}
    sm.stage %a to %buffer : !a, !slotA
    sm.barrier
    // expected-error @+1 {{expects a barrier after the last operation on stage 0 of buffer "i" x "k", found none that orders it before this one (warp 0, iteration 1 of 2)}}
    %sum = sm.mma %buffer, %b init %acc over "k" : !slotA, !b -> !c
    scf.yield %sum : !c
  }
  sm.return
}

// -----

// A ring that goes on over the iterations of an outer loop; the trips of the inner one depend on data.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!lens = !tile.tensor<1, i32>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @nested args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"lens">] warps 4 {
^bb0(%n: i32, %x: !x, %lens: !lens):
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
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %t = %first) -> (i32, !sm.token) : i32 {
    %end = sm.load %lens[%i : i32] vector 1 : !lens -> i32
    %q:2 = scf.for %j = %c0 to %end step %c16 iter_args(%stage = %s, %token = %t) -> (i32, !sm.token) : i32 {
      sm.await %token
      sm.barrier
      %next = arith.subi %c1, %stage : i32
      %to = sm.slot %ring[%next] : !ring -> !slot
      %issued = sm.copy_async %x[%j, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
      %from = sm.slot %ring[%stage] : !ring -> !slot
      %sum = sm.mma %a, %from init %zero over "k" : !a, !slot -> !c
      scf.yield %next, %issued : i32, !sm.token
    }
    scf.yield %q#0, %q#1 : i32, !sm.token
  }
  sm.await %r#1
  sm.return
}

// -----

// The outer loop keeps the token of the prologue: stale once the inner loop has run.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!lens = !tile.tensor<1, i32>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @nested_stale args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"lens">] warps 4 {
^bb0(%n: i32, %x: !x, %lens: !lens):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1)}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %t = %first) -> (i32, !sm.token) : i32 {
    %end = sm.load %lens[%i : i32] vector 1 : !lens -> i32
    %q:2 = scf.for %j = %c0 to %end step %c16 iter_args(%stage = %s, %token = %t) -> (i32, !sm.token) : i32 {
      sm.await %token
      sm.barrier
      %next = arith.subi %c1, %stage : i32
      %to = sm.slot %ring[%next] : !ring -> !slot
      %issued = sm.copy_async %x[%j, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
      %from = sm.slot %ring[%stage] : !ring -> !slot
      %sum = sm.mma %a, %from init %zero over "k" : !a, !slot -> !c
      scf.yield %next, %issued : i32, !sm.token
    }
    scf.yield %q#0, %t : i32, !sm.token
  }
  // expected-error @+1 {{found a stale one (warp 1)}}
  sm.await %r#1
  sm.return
}

// -----

// A stage that no loop counter decides.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @data_stage args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %ring = sm.alloc : !ring
  // expected-error @+1 {{expects a stage that follows from loop counters}}
  %slot = sm.slot %ring[%n] : !ring -> !slot
  sm.return
}

// -----

// A ring where one stage is meant.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
sm.kernel @whole_ring args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %ring = sm.alloc : !ring
  // expected-error @+1 {{expects one stage of a buffer from sm.alloc}}
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %ring layout #layout vector 1 : !x, !ring
  sm.await %first
  sm.return
}

// -----

// An operation that may touch shared memory in a way unknown here.
!x = !tile.tensor<2, bf16>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @no_rule args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %slot = sm.alloc : !slot
  // expected-error @+1 {{has no rule in this verifier}}
  %copy = builtin.unrealized_conversion_cast %slot : !slot to !slot
  sm.return
}

// -----

// A loop whose trip count is known runs as often as it says; the last copy of a pipeline that copies one too few is missed.
!x = !tile.tensor<2, bf16>
!ring = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 2>
!slot = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
#layout = #sm.layout<<"k" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[: 0, 0]>, <"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[: 0, 0]>>
!a = tensor<16x16xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!c = tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 0, 0]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @constant args [#sm.dim<"N">, #sm.pointer<"x">] warps 4 {
^bb0(%n: i32, %x: !x):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %a = sm.splat %h0 : bf16 -> !a
  %zero = sm.splat %f0 : f32 -> !c
  %end = arith.constant 160 : i32
  %last = arith.constant 128 : i32
  %ring = sm.alloc : !ring
  %slot0 = sm.slot %ring[%c0] : !ring -> !slot
  %first = sm.copy_async %x[%c0, %c0 : i32, i32] to %slot0 layout #layout vector 1 : !x, !slot
  %r:2 = scf.for %j = %c0 to %end step %c16 iter_args(%stage = %c0, %token = %first) -> (i32, !sm.token) : i32 {
    // expected-error @+1 {{found a stale one (warp 1, iteration 10 of 10)}}
    sm.await %token
    sm.barrier
    %next = arith.subi %c1, %stage : i32
    %more = arith.cmpi slt, %j, %last : i32
    %issued = scf.if %more -> !sm.token {
      %to = sm.slot %ring[%next] : !ring -> !slot
      // expected-note @+1 {{in conflict with 'sm.copy_async' (warp 1, iteration 8 of 10)}}
      %copied = sm.copy_async %x[%j, %c0 : i32, i32] to %to layout #layout vector 1 : !x, !slot
      scf.yield %copied : !sm.token
    } else {
      scf.yield %token : !sm.token
    }
    %from = sm.slot %ring[%stage] : !ring -> !slot
    %sum = sm.mma %a, %from init %zero over "k" : !a, !slot -> !c
    scf.yield %next, %issued : i32, !sm.token
  }
  sm.return
}
