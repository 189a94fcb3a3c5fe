// Launches that are chosen one by one: those of two variants go together in each way, and what does not is refused.
// SPDX-License-Identifier: MIT
// DEFINE: %{verify} = selvedge-opt '-pass-pipeline=builtin.module(verify-sm-outputs,verify-sm-alignment)' -o /dev/null
// RUN: %{verify} %s
//
// A kernel that leaves an element of the temp to its own second kernel, which does without: each variant is right, not both together.
// RUN: sed -e 's/%%last = arith.constant 0/%%last = arith.constant 1/' %s > %t.less.mlir
// RUN: not %{verify} %t.less.mlir 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: 'sm.load' op expects launches before this one to write what it reads or adds to, found none that writes t[
// LESS: error: launches some kernels of this variant and some of variant 'universal', which do not go together
// Chosen as a whole they are.
// RUN: sed -e '/sm.launch/ s/ when .*//' %t.less.mlir | %{verify}
//
// Launches that do not correspond.
// RUN: sed -e '/sm.launch @write_universal/ s/ when .*//' %s | not %{verify} 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: 'sm.plan' op expects 'when' of all launches or of none
// RUN: sed -e '/sm.kernel @read_universal/ s/@f::@read/@f::@other/' %s | not %{verify} 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 'sm.launch' op expects a kernel made of the same one as 'read_aligned', in whose place it may be launched
// RUN: sed -e '/sm.launch @read_universal/p' %s | not %{verify} 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: {{as many launches as the first variant|once}}
//
// Conditions that the variant does not have.
// RUN: sed -e '/sm.launch @write_aligned/ s/when \["x"\]/when ["z"]/' %s | not %{verify} 2>&1 | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: 'sm.launch' op expects conditions of its variant, ["x", "y"], but got "z"
// RUN: sed -e '/sm.launch @write_aligned/ s/when \["x"\]/when ["y"]/' %s | not %{verify} 2>&1 | FileCheck %s --check-prefix=GUARD
// GUARD: 'sm.load' op accesses "x" by 16 bytes, so it expects a launch with that tensor in 'when', but found ["y"]

!row = tensor<32x4xf32, #sm.layout<<"r" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>, <"c" regs[: 4] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[]>>>
!rows = tensor<32xi32, #sm.layout<<"r" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
!cols = tensor<4xi32, #sm.layout<<"c" regs[: 4] by[: 1] lanes[: 0, 0, 0, 0, 0] warps[]>>>
!rin = tensor<32xi1, #sm.layout<<"r" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>>
#rows = affine_map<()[s0] -> (s0 ceildiv 32)>
sm.plan "f" dims ["N"] tensors [#tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0, 4)>, #tile.tensor_arg<name = "t", role = temp, elementType = f32, shape = ()[s0] -> (s0, 4)>, #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0, 4), init = 0.000000e+00 : f32>] scalars [] requires [] params {} {
  sm.variant <program> when ["x", "y"] align 16 {
    sm.launch @write_aligned grid #rows block 32 smem 0 args [#sm.dim<"N">, #sm.pointer<"x">, #sm.stride<"x", 0>, #sm.stride<"x", 1>, #sm.pointer<"t">, #sm.stride<"t", 0>, #sm.stride<"t", 1>] when ["x"]
    sm.launch @read_aligned grid #rows block 32 smem 0 args [#sm.dim<"N">, #sm.pointer<"t">, #sm.stride<"t", 0>, #sm.stride<"t", 1>, #sm.pointer<"y">, #sm.stride<"y", 0>, #sm.stride<"y", 1>] when ["y"]
  }
  sm.variant <universal> when [] align 0 {
    sm.launch @write_universal grid #rows block 32 smem 0 args [#sm.dim<"N">, #sm.pointer<"x">, #sm.stride<"x", 0>, #sm.stride<"x", 1>, #sm.pointer<"t">, #sm.stride<"t", 0>, #sm.stride<"t", 1>] when []
    sm.launch @read_universal grid #rows block 32 smem 0 args [#sm.dim<"N">, #sm.pointer<"t">, #sm.stride<"t", 0>, #sm.stride<"t", 1>, #sm.pointer<"y">, #sm.stride<"y", 0>, #sm.stride<"y", 1>] when []
  }
}
sm.kernel @write_aligned args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"t">] warps 1 of <@f::@write, <program>> {
^bb0(%N: i32, %x: !tile.tensor<2, f32>, %t: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %block = sm.block_id
  %first = arith.muli %block, %c32 : i32
  %r = sm.range %first : !rows
  %c = sm.range %c0 : !cols
  %n = sm.splat %N : i32 -> !rows
  %in = arith.cmpi slt, %r, %n : !rows
  %v = sm.load %x[%r, %c : !rows, !cols] where(%in : !rin) vector 4 : !tile.tensor<2, f32> -> !row
  sm.store %v, %t[%r, %c : !rows, !cols] where(%in : !rin) vector 1 : !row, !tile.tensor<2, f32>
  sm.return
}
sm.kernel @read_aligned args [#sm.dim<"N">, #sm.pointer<"t">, #sm.pointer<"y">] warps 1 of <@f::@read, <program>> {
^bb0(%N: i32, %t: !tile.tensor<2, f32>, %y: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %block = sm.block_id
  %first = arith.muli %block, %c32 : i32
  %r = sm.range %first : !rows
  %c = sm.range %c0 : !cols
  %n = sm.splat %N : i32 -> !rows
  %in = arith.cmpi slt, %r, %n : !rows
  %v = sm.load %t[%r, %c : !rows, !cols] where(%in : !rin) vector 1 : !tile.tensor<2, f32> -> !row
  sm.store %v, %y[%r, %c : !rows, !cols] where(%in : !rin) vector 4 : !row, !tile.tensor<2, f32>
  sm.return
}
sm.kernel @write_universal args [#sm.dim<"N">, #sm.pointer<"x">, #sm.pointer<"t">] warps 1 of <@f::@write, <universal>> {
^bb0(%N: i32, %x: !tile.tensor<2, f32>, %t: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %last = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %block = sm.block_id
  %first = arith.muli %block, %c32 : i32
  %r = sm.range %first : !rows
  %c = sm.range %c0 : !cols
  %less = arith.subi %N, %last : i32
  %n = sm.splat %less : i32 -> !rows
  %in = arith.cmpi slt, %r, %n : !rows
  %v = sm.load %x[%r, %c : !rows, !cols] where(%in : !rin) vector 1 : !tile.tensor<2, f32> -> !row
  sm.store %v, %t[%r, %c : !rows, !cols] where(%in : !rin) vector 1 : !row, !tile.tensor<2, f32>
  sm.return
}
sm.kernel @read_universal args [#sm.dim<"N">, #sm.pointer<"t">, #sm.pointer<"y">] warps 1 of <@f::@read, <universal>> {
^bb0(%N: i32, %t: !tile.tensor<2, f32>, %y: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %last = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %block = sm.block_id
  %first = arith.muli %block, %c32 : i32
  %r = sm.range %first : !rows
  %c = sm.range %c0 : !cols
  %less = arith.subi %N, %last : i32
  %n = sm.splat %less : i32 -> !rows
  %in = arith.cmpi slt, %r, %n : !rows
  %all = sm.splat %N : i32 -> !rows
  %exists = arith.cmpi slt, %r, %all : !rows
  %v = sm.load %t[%r, %c : !rows, !cols] where(%in : !rin) vector 1 : !tile.tensor<2, f32> -> !row
  sm.store %v, %y[%r, %c : !rows, !cols] where(%exists : !rin) vector 1 : !row, !tile.tensor<2, f32>
  sm.return
}
