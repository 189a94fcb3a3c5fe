// Registers of a product in flight that loops hand on.
// SPDX-License-Identifier: MIT
// RUN: not selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -split-input-file -o /dev/null 2>&1 | FileCheck %s

// What one step leaves in flight, the next one reads.
!c = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = tensor<64x64xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!bslot = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!map = !sm.tensor_map<2, bf16>
!one = !sm.mbarrier<arrivals 1, stages 1>
sm.kernel @carried args [#sm.tensor_map<"b" box [: 64, 64]>] warps 4 {
^bb0(%mb: !map):
  %c0 = arith.constant 0 : i32
  %b = sm.alloc : !bslot
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %f0 = arith.constant 0.0 : f32
    %h0 = arith.constant 0.0 : bf16
    %zero = sm.splat %f0 : f32 -> !c
    %a = sm.splat %h0 : bf16 -> !a
    %leader = sm.leader
    scf.if %leader {
      sm.expect %one[%c0] bytes 8192 : !one
      sm.tma_load %mb[%c0, %c0] to %b signal %one[%c0] : !map, !bslot, !one
    }
    sm.wait %one[%c0] parity %c0 : !one
    %flight = sm.wgmma %a, %b over "d" : !a, !bslot -> !c
    %c2 = arith.constant 2 : i32
    %c1 = arith.constant 1 : i32
    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %zero) -> (!c) : i32 {
      // The first step may read its sum, the second may not.
      // CHECK: 'arith.addf' op expects the result of sm.wgmma_wait, found registers of a product in flight (warpgroup 0 of "all", warp 0, iteration 2 of 2)
      %read = arith.addf %sum, %zero : !c
      scf.yield %flight : !c
    }
    %done = sm.wgmma_wait 0, %flight : !c
  }
  sm.return
}

// -----

// Round a loop that decides on each step, and out of it.
!c = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = tensor<64x64xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!bslot = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!map = !sm.tensor_map<2, bf16>
!one = !sm.mbarrier<arrivals 1, stages 1>
sm.kernel @handed_on args [#sm.tensor_map<"b" box [: 64, 64]>] warps 4 {
^bb0(%mb: !map):
  %c0 = arith.constant 0 : i32
  %b = sm.alloc : !bslot
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %f0 = arith.constant 0.0 : f32
    %h0 = arith.constant 0.0 : bf16
    %zero = sm.splat %f0 : f32 -> !c
    %a = sm.splat %h0 : bf16 -> !a
    %leader = sm.leader
    scf.if %leader {
      sm.expect %one[%c0] bytes 8192 : !one
      sm.tma_load %mb[%c0, %c0] to %b signal %one[%c0] : !map, !bslot, !one
    }
    sm.wait %one[%c0] parity %c0 : !one
    %flight = sm.wgmma %a, %b over "d" : !a, !bslot -> !c
    %c1 = arith.constant 1 : i32
    %after:2 = scf.while (%i = %c0, %first = %flight) : (i32, !c) -> (i32, !c) {
      %more = arith.cmpi slt, %i, %c1 : i32
      scf.condition(%more) %i, %first : i32, !c
    } do {
    ^bb0(%j: i32, %second: !c):
      %next = arith.addi %j, %c1 : i32
      scf.yield %next, %second : i32, !c
    }
    // CHECK: 'arith.addf' op expects the result of sm.wgmma_wait, found registers of a product in flight (warpgroup 0 of "all", warp 0)
    %read = arith.addf %after#1, %zero : !c
    %done = sm.wgmma_wait 0, %flight : !c
  }
  sm.return
}
