// Verifiers of the sm dialect: each program breaks one constraint.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects the last variant to have no condition, but got 'when' ["x"]}}
sm.plan "p" dims [] tensors [] scalars [] requires [] params {} {
  sm.variant "aligned" when ["x"] align 16 {
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
  %1 = sm.splat %0 : f32 -> tensor<16xf32, #sm.dist<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  // expected-error @below {{expects the result to distribute axis "j" as the source does}}
  %2 = sm.broadcast %1 : tensor<16xf32, #sm.dist<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 4] by[: 1] lanes[: 4, 8, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  // expected-error @below {{expects the source's distribution without axis "j"}}
  %2 = sm.reduce max %1 over "j" : tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16xf32, #sm.dist<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %2 = sm.alloc : <"i" x "d", 16 x 24 x bf16, swizzle 0, stages 1>
  %3 = sm.alloc : <"j" x "d", 16 x 24 x bf16, swizzle 0, stages 1>
  // expected-error @below {{expects axes of a multiple of 16, but got 24}}
  %4 = sm.mma %2, %3 init %1 over "d" : !sm.buffer<"i" x "d", 16 x 24 x bf16, swizzle 0, stages 1>, !sm.buffer<"j" x "d", 16 x 24 x bf16, swizzle 0, stages 1> -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}

// -----

// a predicate of a row, which a reduction over columns does not consume
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %true = arith.constant true
  %2 = sm.splat %true : i1 -> tensor<16xi1, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>
  // expected-error @below {{expects every 'presence' to have the axis "j" and only axes of one operand}}
  %3 = sm.reduce max %1 over "j" where(%2 : tensor<16xi1, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>) : tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>> -> tensor<16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>>
  sm.return
}

// -----

// a predicate over half of the contracted axis
sm.kernel @k args [] warps 1 {
  %0 = arith.constant 0.0 : f32
  %1 = sm.splat %0 : f32 -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %true = arith.constant true
  %2 = sm.splat %true : i1 -> tensor<16xi1, #sm.dist<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  %3 = sm.alloc : <"i" x "d", 16 x 32 x bf16, swizzle 0, stages 1>
  %4 = sm.alloc : <"j" x "d", 16 x 32 x bf16, swizzle 0, stages 1>
  // expected-error @below {{expects every 'presence' to have the axis "d" and only axes of one operand}}
  %5 = sm.mma %3, %4 init %1 over "d" where(%2 : tensor<16xi1, #sm.dist<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>) : !sm.buffer<"i" x "d", 16 x 32 x bf16, swizzle 0, stages 1>, !sm.buffer<"j" x "d", 16 x 32 x bf16, swizzle 0, stages 1> -> tensor<16x16xf32, #sm.dist<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>>
  sm.return
}
