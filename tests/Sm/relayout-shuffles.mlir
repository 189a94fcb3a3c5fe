// A tile whose warps keep what they hold changes its layout by shuffles: no shared memory, no barrier; lanes choose what they offer and what they take.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(sm-reduce-scratch,verify-sm-padding,verify-sm-async))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: selvedge-opt %t.mlir '-pass-pipeline=builtin.module(sm-to-lanes)' | FileCheck %s --check-prefix=LANES
!a = tensor<128xf16, #sm.layout<<"i" regs[: 2] by[: 1] lanes[: 2, 4, 8, 16, 32] warps[: 64]>>>
// The first bit of the lane and the register change places.
!b = tensor<128xf16, #sm.layout<<"i" regs[: 2] by[: 2] lanes[: 1, 4, 8, 16, 32] warps[: 64]>>>
// Lanes in another order.
!c = tensor<128xf16, #sm.layout<<"i" regs[: 2] by[: 2] lanes[: 1, 8, 4, 16, 32] warps[: 64]>>>
!ia = tensor<128xi32, #sm.layout<<"i" regs[: 2] by[: 1] lanes[: 2, 4, 8, 16, 32] warps[: 64]>>>
!ic = tensor<128xi32, #sm.layout<<"i" regs[: 2] by[: 2] lanes[: 1, 8, 4, 16, 32] warps[: 64]>>>
!g = !tile.tensor<1, f16>
// CHECK-NOT: sm.alloc
// CHECK: sm.relayout %{{[a-z0-9_]*}} : tensor
// CHECK-NOT: sm.barrier
// CHECK: sm.relayout %{{[a-z0-9_]*}} : tensor
// LANES: %[[WARP:.*]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// LANES-NOT: barrier
// LANES: arith.select
// LANES: arith.extui
// LANES-COUNT-1: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
// LANES: arith.select
// LANES: arith.select
// LANES-COUNT-2: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// LANES-NOT: shfl
// LANES-NOT: barrier
sm.kernel @k args [#sm.pointer<"x">, #sm.pointer<"y">] warps 2 {
^bb0(%x: !g, %y: !g):
  %c0 = arith.constant 0 : i32
  %ia = sm.range %c0 : !ia
  %ic = sm.range %c0 : !ic
  %a = sm.load %x[%ia : !ia] vector 1 : !g -> !a
  %b = sm.relayout %a : !a -> !b
  %c = sm.relayout %b : !b -> !c
  sm.store %c, %y[%ic : !ic] vector 1 : !c, !g
  sm.return
}
