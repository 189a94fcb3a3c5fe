// Threads give each other registers until those side by side store whole sectors of rows that are aligned, and additions touch rows by sixteen threads. Stores of single elements stay, and so do rows that begin anywhere.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-wide-stores))' | FileCheck %s
!i = tensor<64xi32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!j = tensor<64xi32, #sm.layout<<"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!h = tensor<64x64xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!s = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
// CHECK-LABEL: sm.kernel @stores
// CHECK-SAME: args
// CHECK-NEXT: ^bb0(%[[N:.*]]: i32, %[[O:.*]]: !tile.tensor<2, bf16>, %[[F:.*]]: !tile.tensor<2, f32>):
// CHECK: %[[COLUMNS:.*]] = sm.range %{{.*}} : tensor<64xi32, #sm.layout<<"j" regs[: 4, 4] by[: 1, 16] lanes[: 8, 4, 0, 0, 0] warps[: 0, 0]>>>
// CHECK: %[[WIDE:.*]] = sm.relayout %{{.*}} -> tensor<64x64xbf16, {{.*}}<"j" regs[: 4, 4] by[: 1, 16] lanes[: 8, 4, 0, 0, 0] warps[: 0, 0]>>>
// CHECK-NEXT: sm.store %[[WIDE]], %[[O]][%{{.*}}, %[[COLUMNS]] {{.*}} where({{.*}}) vector 4
// sectors are whole
// CHECK-NEXT: sm.store {{.*}} vector 2 : tensor<64x64xf32
// of one element
// CHECK-NEXT: sm.store {{.*}} vector 1 : tensor<64x64xbf16
// from N on
// CHECK-NEXT: %[[SHIFTED:.*]] = sm.range %[[N]]
// CHECK-NEXT: sm.store {{.*}}[%{{.*}}, %[[SHIFTED]] {{.*}} vector 2 : tensor<64x64xbf16
// CHECK: %[[SUMS:.*]] = sm.relayout %{{.*}} -> tensor<64x64xf32, #sm.layout<<"i" regs[] by[] lanes[: 8, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 2, 8] by[: 2, 1, 8] lanes[: 0, 4, 0, 0, 0] warps[: 0, 0]>>>
// CHECK-NEXT: sm.store %[[SUMS]], {{.*}}tile.adds
sm.kernel @stores args [#sm.dim<"N">, #sm.pointer<"o">, #sm.pointer<"f">] warps 4 {
^bb0(%n: i32, %o: !tile.tensor<2, bf16>, %f: !tile.tensor<2, f32>):
  %c0 = arith.constant 0 : i32
  %h0 = arith.constant 0.0 : bf16
  %f0 = arith.constant 0.0 : f32
  %halves = sm.splat %h0 : bf16 -> !h
  %floats = sm.splat %f0 : f32 -> !s
  %rows = sm.range %c0 : !i
  %ns = sm.splat %n : i32 -> !i
  %present = arith.cmpi slt, %rows, %ns : !i
  %columns = sm.range %c0 : !j
  sm.store %halves, %o[%rows, %columns : !i, !j] where(%present : tensor<64xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>) vector 2 : !h, !tile.tensor<2, bf16>
  sm.store %floats, %f[%rows, %columns : !i, !j] vector 2 : !s, !tile.tensor<2, f32>
  sm.store %halves, %o[%rows, %columns : !i, !j] vector 1 : !h, !tile.tensor<2, bf16>
  %shifted = sm.range %n : !j
  sm.store %halves, %o[%rows, %shifted : !i, !j] vector 2 : !h, !tile.tensor<2, bf16>
  sm.store %floats, %f[%columns, %rows : !j, !i] vector 1 {tile.adds} : !s, !tile.tensor<2, f32>
  sm.return
}
