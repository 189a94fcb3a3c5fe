// What loops carry: buffers and lanes told by the predicate of one iteration are not those of the next.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-padding))' -split-input-file -verify-diagnostics

// both copied in the iteration that reads them
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @product args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %r = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0) -> (tensor<16x16xf32, #ij>) : i32 {
    %k = sm.range %t : tensor<16xi32, #ck>
    %p = arith.cmpi slt, %k, %Ks : tensor<16xi32, #ck>
    sm.copy %a[%k, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
    sm.copy %b[%k, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%p : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
    %sum = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
    scf.yield %sum : tensor<16x16xf32, #ij>
  }
  sm.return
}

// -----

// the copy follows the product: its lanes are told by the predicate of another iteration
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @product args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %k0 = sm.range %zero : tensor<16xi32, #ck>
  %p0 = arith.cmpi slt, %k0, %Ks : tensor<16xi32, #ck>
  sm.copy %a[%k0, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p0 : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
  sm.copy %b[%k0, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%p0 : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
  %r = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0) -> (tensor<16x16xf32, #ij>) : i32 {
    // expected-error @below {{expects a buffer that every path has written in this iteration}}
    %sum = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
    %k = sm.range %t : tensor<16xi32, #ck>
    %p = arith.cmpi slt, %k, %Ks : tensor<16xi32, #ck>
    sm.copy %a[%k, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
    sm.copy %b[%k, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%p : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
    scf.yield %sum : tensor<16x16xf32, #ij>
  }
  sm.return
}

// -----

// copied before the loop, with a predicate that no iteration changes
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @product args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %k0 = sm.range %zero : tensor<16xi32, #ck>
  %p0 = arith.cmpi slt, %k0, %Ks : tensor<16xi32, #ck>
  sm.copy %a[%k0, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p0 : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
  sm.copy %b[%k0, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%p0 : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
  %r = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0) -> (tensor<16x16xf32, #ij>) : i32 {
    %sum = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
    scf.yield %sum : tensor<16x16xf32, #ij>
  }
  sm.return
}

// -----

// a copy of other lanes in each operand
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @product args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %k0 = sm.range %zero : tensor<16xi32, #ck>
  // expected-note @below {{lanes are absent where this is false}}
  %p0 = arith.cmpi slt, %k0, %Ks : tensor<16xi32, #ck>
  sm.copy %a[%k0, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p0 : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
  %r = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0) -> (tensor<16x16xf32, #ij>) : i32 {
    %k = sm.range %t : tensor<16xi32, #ck>
    %p = arith.cmpi slt, %k, %Ks : tensor<16xi32, #ck>
    sm.copy %b[%k, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%p : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
    // expected-error @below {{expects zero in one operand and zero, or data of other rows}}
    %sum = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
    scf.yield %sum : tensor<16x16xf32, #ij>
  }
  sm.return
}

// -----

// only one of two buffers is ever written
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @product args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %r = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0) -> (tensor<16x16xf32, #ij>) : i32 {
    %k = sm.range %t : tensor<16xi32, #ck>
    %p = arith.cmpi slt, %k, %Ks : tensor<16xi32, #ck>
    sm.copy %a[%k, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p : tensor<16xi1, #ck>) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
    // expected-error @below {{expects a buffer that every path has written in this iteration}}
    %sum = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
    scf.yield %sum : tensor<16x16xf32, #ij>
  }
  sm.return
}

// -----

// the load of one iteration stored by the next, under the predicate of the next
#i = #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 0] warps[]>>
sm.kernel @carried args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"y">] warps 1 {
^bb0(%N: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %Ns = sm.splat %N : i32 -> tensor<16xi32, #i>
  %init = sm.splat %f0 : f32 -> tensor<16xf32, #i>
  // expected-error @below {{expects no lanes that are absent by a predicate of one iteration to be carried to the next}}
  %r = scf.for %t = %zero to %N step %step iter_args(%last = %init) -> (tensor<16xf32, #i>) : i32 {
    %i = sm.range %t : tensor<16xi32, #i>
    // expected-note @below {{lanes are absent where this is false}}
    %p = arith.cmpi slt, %i, %Ns : tensor<16xi32, #i>
    %v = sm.load %x[%i : tensor<16xi32, #i>] where(%p : tensor<16xi1, #i>) vector 1 : !tile.tensor<1, f32> -> tensor<16xf32, #i>
    sm.store %last, %y[%i : tensor<16xi32, #i>] where(%p : tensor<16xi1, #i>) vector 1 : tensor<16xf32, #i>, !tile.tensor<1, f32>
    scf.yield %v : tensor<16xf32, #i>
  }
  sm.return
}

// -----

// as many steps as a number says that is zero where it is not loaded
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @bound args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %k = sm.range %zero : tensor<16xi32, #ck>
  %acc = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %p = arith.cmpi slt, %zero, %K : i32
  sm.copy %a[%k, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p : i1) to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
  sm.copy %b[%k, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
  %s = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
  %rows = sm.reduce max %s over "j" : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  %top = sm.reduce max %rows over "i" : tensor<16xf32, #i> -> f32
  %bound = arith.fptosi %top : f32 to i32
  scf.for %t = %zero to %bound step %step : i32 {
  }
  sm.return
}

// -----

// that is anything there
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wi = #sm.layout<<"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!ab = !sm.buffer<"k" x "i", 16 x 16 x bf16, swizzle 1, stages 1>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @bound args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>, %c: !tile.tensor<2, f32>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !ab
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #wi>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %k = sm.range %zero : tensor<16xi32, #ck>
  %acc = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  // expected-note @below {{lanes are absent where this is false}}
  %p = arith.cmpi slt, %zero, %K : i32
  sm.copy %a[%k, %i : tensor<16xi32, #ck>, tensor<16xi32, #wi>] where(%p : i1) garbage [0] to %as layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"i" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !ab
  sm.copy %b[%k, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
  %s = sm.mma %as, %bs init %acc over "k" : !ab, !bb -> tensor<16x16xf32, #ij>
  %rows = sm.reduce max %s over "j" : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  %top = sm.reduce max %rows over "i" : tensor<16xf32, #i> -> f32
  %bound = arith.fptosi %top : f32 to i32
  // expected-error @below {{expects no loop bound that is garbage at an absent lane}}
  scf.for %t = %zero to %bound step %step : i32 {
  }
  sm.return
}

// -----

// a step that begins at a number which may not exist loads other data; what it stores must not go there
sm.kernel @step args [#sm.dim<"K">, #sm.pointer<"n">, #sm.pointer<"a">, #sm.pointer<"c">] warps 1 {
^bb0(%K: i32, %n: !tile.tensor<1, i32>, %a: !tile.tensor<1, f32>, %c: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  // expected-note @below {{lanes are absent where this is false}}
  %p = arith.cmpi slt, %zero, %K : i32
  %first = sm.load %n[%zero : i32] where(%p : i1) vector 1 : !tile.tensor<1, i32> -> i32
  %v = sm.load %a[%first : i32] vector 1 : !tile.tensor<1, f32> -> f32
  sm.store %v, %c[%first : i32] where(%p : i1) vector 1 : f32, !tile.tensor<1, f32>
  // expected-error @below {{expects a presence that excludes the absent lanes of the indices}}
  sm.store %v, %c[%first : i32] vector 1 : f32, !tile.tensor<1, f32>
  sm.return
}

// -----

// the operand of a product that lags is zero where it is absent, whichever arm of a select was taken
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ik = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#k = #sm.layout<<"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @lagged args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %h1 = arith.constant 1.0 : bf16
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #i>
  %is = sm.broadcast %i : tensor<16xi32, #i> -> tensor<16x16xi32, #ik>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %Kl = sm.splat %K : i32 -> tensor<16xi32, #k>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %none = sm.splat %h0 : bf16 -> tensor<16x16xbf16, #ik>
  %ones = sm.splat %h1 : bf16 -> tensor<16x16xbf16, #ik>
  %r:3 = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0, %p = %none, %at = %zero) -> (tensor<16x16xf32, #ij>, tensor<16x16xbf16, #ik>, i32) : i32 {
    %before = sm.range %at : tensor<16xi32, #ck>
    %were = arith.cmpi slt, %before, %Ks : tensor<16xi32, #ck>
    sm.copy %b[%before, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%were : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
    %sum = sm.mma %p, %bs init %acc over "k" : tensor<16x16xbf16, #ik>, !bb -> tensor<16x16xf32, #ij>
    %now = sm.range %t : tensor<16xi32, #k>
    %are = arith.cmpi slt, %now, %Kl : tensor<16xi32, #k>
    %s = sm.load %a[%i, %now : tensor<16xi32, #i>, tensor<16xi32, #k>] where(%are : tensor<16xi1, #k>) vector 1 : !tile.tensor<2, bf16> -> tensor<16x16xbf16, #ik>
    %nows = sm.broadcast %now : tensor<16xi32, #k> -> tensor<16x16xi32, #ik>
    %sees = arith.cmpi sle, %nows, %is : tensor<16x16xi32, #ik>
    %next = arith.select %sees, %s, %none : tensor<16x16xi1, #ik>, tensor<16x16xbf16, #ik>
    scf.yield %sum, %next, %t : tensor<16x16xf32, #ij>, tensor<16x16xbf16, #ik>, i32
  }
  sm.return
}

// -----

// only in one arm
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ik = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#k = #sm.layout<<"k" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ck = #sm.layout<<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#wj = #sm.layout<<"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!bb = !sm.buffer<"k" x "j", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @lagged args [#sm.dim<"K">, #sm.pointer<"a">, #sm.pointer<"b">] warps 1 {
^bb0(%K: i32, %a: !tile.tensor<2, bf16>, %b: !tile.tensor<2, bf16>):
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %f0 = arith.constant 0.0 : f32
  %h0 = arith.constant 0.0 : bf16
  %h1 = arith.constant 1.0 : bf16
  %bs = sm.alloc : !bb
  %i = sm.range %zero : tensor<16xi32, #i>
  %is = sm.broadcast %i : tensor<16xi32, #i> -> tensor<16x16xi32, #ik>
  %j = sm.range %zero : tensor<16xi32, #wj>
  %Ks = sm.splat %K : i32 -> tensor<16xi32, #ck>
  %Kl = sm.splat %K : i32 -> tensor<16xi32, #k>
  %acc0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %none = sm.splat %h0 : bf16 -> tensor<16x16xbf16, #ik>
  %ones = sm.splat %h1 : bf16 -> tensor<16x16xbf16, #ik>
  %r:3 = scf.for %t = %zero to %K step %step iter_args(%acc = %acc0, %p = %none, %at = %zero) -> (tensor<16x16xf32, #ij>, tensor<16x16xbf16, #ik>, i32) : i32 {
    %before = sm.range %at : tensor<16xi32, #ck>
    %were = arith.cmpi slt, %before, %Ks : tensor<16xi32, #ck>
    sm.copy %b[%before, %j : tensor<16xi32, #ck>, tensor<16xi32, #wj>] where(%were : tensor<16xi1, #ck>) to %bs layout <<"k" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"j" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !bb
    // expected-error @below {{expects zero in one operand and zero, or data of other rows}}
    %sum = sm.mma %p, %bs init %acc over "k" : tensor<16x16xbf16, #ik>, !bb -> tensor<16x16xf32, #ij>
    %now = sm.range %t : tensor<16xi32, #k>
    // expected-note @below {{lanes are absent where this is false}}
    %are = arith.cmpi slt, %now, %Kl : tensor<16xi32, #k>
    %s = sm.load %a[%i, %now : tensor<16xi32, #i>, tensor<16xi32, #k>] where(%are : tensor<16xi1, #k>) vector 1 : !tile.tensor<2, bf16> -> tensor<16x16xbf16, #ik>
    %nows = sm.broadcast %now : tensor<16xi32, #k> -> tensor<16x16xi32, #ik>
    %sees = arith.cmpi sle, %nows, %is : tensor<16x16xi32, #ik>
    %next = arith.select %sees, %s, %ones : tensor<16x16xi1, #ik>, tensor<16x16xbf16, #ik>
    scf.yield %sum, %next, %t : tensor<16x16xf32, #ij>, tensor<16x16xbf16, #ik>, i32
  }
  sm.return
}
