// Verifiers of the sm dialect: each program breaks one constraint.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects the last variant to have no condition, but got 'when' ["x"]}}
sm.plan "p" dims [] tensors [] scalars [] requires [] params {} {
  sm.variant <program> when ["x"] align 16 {
  }
}

// -----

// expected-error @below {{expects a power of two of warps, but got 3}}
sm.kernel @k args [] warps 3 {
  sm.return
}

// -----

// expected-error @below {{expects 1 block arguments, but got 0}}
sm.kernel @k args [#sm.dim<"N">] warps 4 {
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = sm.alloc : <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 2>
  %1 = arith.constant 0 : i32
  // expected-error @below {{expects one stage of}}
  %2 = sm.slot %0[%1] : <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 2> -> <"j" x "d", 32 x 64 x bf16, swizzle 7, stages 1>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16xf32, #sm.layout<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  // expected-error @below {{expects the result to lay out axis "j" as the source does}}
  %2 = sm.broadcast %1 : tensor<16xf32, #sm.layout<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 4] by[: 1] lanes[: 4, 8, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  // expected-error @below {{expects the source's layout without axis "j"}}
  %2 = sm.reduce max %1 over "j" : tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16xf32, #sm.layout<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %2 = sm.alloc : <"i" x "d", 16 x 24 x bf16, swizzle 0, stages 1>
  %3 = sm.alloc : <"j" x "d", 16 x 24 x bf16, swizzle 0, stages 1>
  // expected-error @below {{expects axes of a multiple of 16, but got 24}}
  %4 = sm.mma %2, %3 init %1 over "d" : !sm.buffer<"i" x "d", 16 x 24 x bf16, swizzle 0, stages 1>, !sm.buffer<"j" x "d", 16 x 24 x bf16, swizzle 0, stages 1> -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 4 {
  // expected-error @below {{expects single threads of 1 to 4 warps of one warpgroup, but got 2 from 3}}
  sm.role "a" first 0 warpgroups 1 registers 24 single warps 2 from 3 {
  ^bb0(%wg: i32):
  }
  sm.return
}

// -----

sm.kernel @k args [] warps 4 {
  sm.role "a" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
  }
  // expected-error @below {{expects single threads of warps that role "a" does not have}}
  sm.role "b" first 0 warpgroups 1 registers 24 single warps 2 from 0 {
  ^bb0(%wg: i32):
  }
  sm.return
}

// -----

sm.kernel @k args [] warps 4 {
  sm.role "a" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
  }
  // expected-error @below {{expects the 24 registers of role "a", but got 32}}
  sm.role "b" first 0 warpgroups 1 registers 32 single warps 1 from 1 {
  ^bb0(%wg: i32):
  }
  sm.return
}

// -----

sm.kernel @k args [] warps 8 {
  sm.role "a" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
  }
  sm.role "b" first 1 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
  }
  // expected-error @below {{expects to follow the roles of its warpgroup, but got 'sm.role' in between}}
  sm.role "c" first 0 warpgroups 1 registers 24 single warps 1 from 1 {
  ^bb0(%wg: i32):
  }
  sm.return
}

// -----

!whole = tensor<64x32xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 4] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!part = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @columns args [] warps 4 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !whole
  %2 = sm.columns %1 over "j" from 16 : !whole -> !part
  // expected-error @below {{along axis "j" from index 24 on, but got}}
  %3 = sm.columns %1 over "j" from 24 : !whole -> !part
  sm.return
}

// -----

sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : <"j" x "d", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
  %1 = arith.constant 0 : i32
  // expected-error @below {{expects one panel of one stage of}}
  %2 = sm.panel %0[%1] : <"j" x "d", 64 x 128 x bf16, swizzle 7, stages 1, panel 64> -> <"j" x "d", 64 x 32 x bf16, swizzle 7, stages 1, panel 64>
  sm.return
}

// -----

!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : <"i" x "j", 64 x 16 x bf16, swizzle 7, stages 1>
  // expected-error @below {{expects the elements of one stage of a buffer, but got}}
  %1 = sm.read %0 : <"i" x "j", 64 x 16 x bf16, swizzle 7, stages 1> -> !c
  sm.return
}

// -----

// A vector has its columns alone.
!v = tensor<32xf32, #sm.layout<<"j" regs[: 2, 4] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : <"" x "i", 1 x 32 x f32, swizzle 0, stages 1>
  // expected-error @below {{expects the elements of one stage of a buffer, but got}}
  %1 = sm.read %0 : <"" x "i", 1 x 32 x f32, swizzle 0, stages 1> -> !v
  sm.return
}

// -----

!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @k args [] warps 4 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !c
  %2 = sm.alloc : <"t" x "r", 128 x 16 x f32, swizzle 0, stages 1, panel 4>
  // expected-error @below {{expects one stage of 128 x 8 elements in panels of 16 bytes without swizzle, but got}}
  sm.stage_fragment %1 to %2 : !c, <"t" x "r", 128 x 16 x f32, swizzle 0, stages 1, panel 4>
  sm.return
}

// -----

sm.kernel @k args [#sm.pointer<"x">] warps 4 {
^bb0(%x: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %0 = sm.alloc : <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>
  %1 = sm.mbarrier : <arrivals 1, stages 1>
  // expected-error @below {{expects a tensor of 'bf16' with 2 dimensions, but got}}
  sm.bulk_load %x[%c0, %c0] to %0 signal %1[%c0] : <2, f32>, <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>, <arrivals 1, stages 1>
  sm.return
}

// -----

sm.kernel @k args [#sm.pointer<"x">] warps 4 {
^bb0(%x: !tile.tensor<2, bf16>):
  %c0 = arith.constant 0 : i32
  %0 = sm.alloc : <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 2>
  %1 = sm.mbarrier : <arrivals 1, stages 1>
  // expected-error @below {{expects one stage of a multiple of 16 bytes without swizzle, but got}}
  sm.bulk_load %x[%c0, %c0] to %0 signal %1[%c0] : <2, bf16>, <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 2>, <arrivals 1, stages 1>
  sm.return
}

// -----

sm.kernel @k args [#sm.pointer<"x">] warps 4 {
^bb0(%x: !tile.tensor<1, bf16>):
  %c0 = arith.constant 0 : i32
  %0 = sm.alloc : <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>
  // expected-error @below {{expects to add f32 elements, but got max of 'bf16'}}
  sm.bulk_reduce max %0 to %x[%c0] : <"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>, <1, bf16>
  sm.return
}

// -----

!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!b = !sm.buffer<"j" x "d", 16 x 64 x bf16, swizzle 7, stages 1, panel 64>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : !a
  %1 = sm.alloc : !b
  // expected-error @below {{expects two operands for each of the 1 axes of 'plus', but got 3}}
  %2 = sm.wgmma %0, %1 over "d" plus (%0, %1, %1 : !a, !b, !b) over ["d"] : !a, !b -> !c
  sm.return
}

// -----

// rows that the threads hold in another order than the buffer has them
!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64, interleaved true>
!b = !sm.buffer<"j" x "d", 16 x 64 x bf16, swizzle 7, stages 1, panel 64>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : !a
  %1 = sm.alloc : !b
  // expected-error @below {{expects interleaved rows of the result and of the buffer that has them, or of neither}}
  %2 = sm.wgmma %0, %1 over "d" : !a, !b -> !c
  sm.return
}

// -----

// the same the other way round
!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 2, 4, 1] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!b = !sm.buffer<"j" x "d", 16 x 64 x bf16, swizzle 7, stages 1, panel 64>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : !a
  %1 = sm.alloc : !b
  // expected-error @below {{expects interleaved rows of the result and of the buffer that has them, or of neither}}
  %2 = sm.wgmma %0, %1 over "d" : !a, !b -> !c
  sm.return
}

// -----

// columns have no such order
!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!b = !sm.buffer<"j" x "d", 16 x 64 x bf16, swizzle 7, stages 1, panel 64, interleaved true>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : !a
  %1 = sm.alloc : !b
  // expected-error @below {{expects interleaved rows of the result and of the buffer that has them, or of neither}}
  %2 = sm.wgmma %0, %1 over "d" : !a, !b -> !c
  sm.return
}

// -----

!c = tensor<64x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = !sm.buffer<"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>
!b = !sm.buffer<"j" x "e", 16 x 8 x bf16, swizzle 0, stages 1>
sm.kernel @k args [] warps 4 {
  %0 = sm.alloc : !a
  %1 = sm.alloc : !b
  // expected-error @below {{expects a contracted extent that is a multiple of 16, but got 8}}
  %2 = sm.wgmma %0, %1 over "e" : !a, !b -> !c
  sm.return
}

// -----

sm.kernel @k args [#sm.pointer<"n">, #sm.dim<"N">] warps 4 {
^bb0(%n: !tile.tensor<1, i32>, %N: i32):
  // expected-error @below {{operand #0 must be an i32 in global memory that is 0 between launches, but got '!tile.tensor<1, i32>'}}
  %0 = "sm.next_tile"(%n) : (!tile.tensor<1, i32>) -> i32
  sm.return
}

// -----

// A wait that not every thread executes.
sm.kernel @k args [] warps 1 {
  %true = arith.constant true
  scf.if %true {
    // expected-error @below {{'sm.await_launch' op expects parent op to be one of 'sm.kernel, sm.role'}}
    sm.await_launch
  }
  sm.return
}

// -----

// a predicate of a row, which a reduction over columns does not consume
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %true = arith.constant true
  %2 = sm.splat %true : i1 -> tensor<16xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>
  // expected-error @below {{expects every 'presence' to have the axis "j" and only axes of one operand}}
  %3 = sm.reduce max %1 over "j" where(%2 : tensor<16xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>) : tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>
  sm.return
}

// -----

// a predicate over half of the contracted axis
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %true = arith.constant true
  %2 = sm.splat %true : i1 -> tensor<16xi1, #sm.layout<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %3 = sm.alloc : <"i" x "d", 16 x 32 x bf16, swizzle 0, stages 1>
  %4 = sm.alloc : <"j" x "d", 16 x 32 x bf16, swizzle 0, stages 1>
  // expected-error @below {{expects every 'presence' to have the axis "d" and only axes of one operand}}
  %5 = sm.mma %3, %4 init %1 over "d" where(%2 : tensor<16xi1, #sm.layout<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>) : !sm.buffer<"i" x "d", 16 x 32 x bf16, swizzle 0, stages 1>, !sm.buffer<"j" x "d", 16 x 32 x bf16, swizzle 0, stages 1> -> tensor<16x16xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = sm.alloc : <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 2>
  %1 = arith.constant 0 : i32
  %2 = arith.constant true
  %3 = sm.splat %2 : i1 -> tensor<16xi1, #sm.layout<<"i" regs[: 16] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[]>>>
  // expected-error @below {{expects every 'presence' to have axes of the buffer only}}
  %4 = sm.slot %0[%1] where(%3 : tensor<16xi1, #sm.layout<<"i" regs[: 16] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[]>>>) : <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 2> -> <"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1>
  sm.return
}

// -----

!t = tensor<32xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
!p = tensor<32xi1, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !t
  %2 = arith.constant true
  %3 = sm.splat %2 : i1 -> !p
  // expected-error @below {{expects every 'presence' to have the axis "j" and only axes of one operand}}
  sm.contributes %1 over "j" where(%3 : !p) : !t
  sm.return
}

// -----

!t = tensor<64xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[: 32]>>>
sm.kernel @k args [] warps 2 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !t
  %2 = sm.alloc : <"r" x "t", 1 x 32 x f32, swizzle 0, stages 1>
  // expected-error @below {{expects a buffer like '!sm.buffer<"register" x "thread", 1 x 64 x f32}}
  %3 = sm.reduce add %1 over "j" through %2 : !sm.buffer<"r" x "t", 1 x 32 x f32, swizzle 0, stages 1> : !t -> f32
  sm.return
}

// -----

!t = tensor<32x64xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>, <"j" regs[: 64] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[]>>>
!f = tensor<32x1xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>, <"j" regs[] by[] lanes[: 0, 0, 0, 0, 0] warps[]>>>
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !t
  %2 = sm.fold add %1 over "j" : !t -> !f
  // expected-error @below {{expects the result of an sm.fold that adds results of math.exp2}}
  sm.after %2 : !f
  sm.return
}

// -----

!t = tensor<32xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
!u = tensor<32xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !t
  // expected-error @below {{expects a result with the source's axes, sizes and element type}}
  %2 = sm.relayout %1 : !t -> !u
  sm.return
}

// -----

!t = tensor<32xf32, #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
!u = tensor<32xf32, #sm.layout<<"i" regs[] by[] lanes[: 16, 8, 4, 2, 1] warps[]>>>
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> !t
  %2 = sm.alloc : <"r" x "t", 1 x 16 x f32, swizzle 0, stages 1>
  // expected-error @below {{expects a buffer like '!sm.buffer<"tile" x "element", 1 x 32 x f32}}
  %3 = sm.relayout %1 through %2 : !sm.buffer<"r" x "t", 1 x 16 x f32, swizzle 0, stages 1> : !t -> !u
  sm.return
}
