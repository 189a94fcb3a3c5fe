// Misuse of single operations of form roles.
// SPDX-License-Identifier: MIT
// RUN: not selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -split-input-file -o /dev/null 2>&1 | FileCheck %s
// -----

// A branch on what one warp sees holds a barrier.
!part = tensor<4xf32, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0, 0]>>>
!partb = tensor<4xi1, #sm.layout<<"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0, 0]>>>
sm.kernel @warps_part args [#sm.scalar<"x">] warps 4 {
^bb0(%x: f32):
  %c1 = arith.constant 1 : i32
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %f0 = arith.constant 0.0 : f32
    %xs = sm.splat %x : f32 -> !part
    %zeros = sm.splat %f0 : f32 -> !part
    %is = arith.cmpf ogt, %xs, %zeros : !part
    %any = sm.any %is : !partb
    scf.if %any {
      // CHECK: 'sm.named_barrier' op expects to go on, found that all agents wait: barrier 1, 64 of 128 threads have arrived
      sm.named_barrier %c1 threads 128
    }
  }
  sm.return
}

// -----

// One thread at a barrier of warps.
sm.kernel @leader_alone args [] warps 4 {
^bb0:
  %c1 = arith.constant 1 : i32
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %leader = sm.leader
    scf.if %leader {
      // CHECK: 'sm.named_barrier' op expects all threads of a warpgroup, found one that executes it alone (warpgroup 0 of "all", warp 0)
      sm.named_barrier %c1 threads 32
    }
  }
  sm.return
}

// -----

// One arrival of the leader is one thread's, not a warp's; without it the warpgroup waits.
!one = !sm.mbarrier<arrivals 1, stages 1>
sm.kernel @leader_arrives args [#sm.dim<"N">] warps 4 {
^bb0(%N: i32):
  %c0 = arith.constant 0 : i32
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %leader = sm.leader
    %more = arith.cmpi sgt, %N, %c0 : i32
    %both = arith.andi %leader, %more : i1
    scf.if %both {
      sm.arrive %one[%c0] : !one
    }
    sm.wait %one[%c0] parity %c0 : !one
    // CHECK: 'scf.if' op expects a branch on sm.leader to be taken where it is true and to have no other arm
    %true = arith.constant true
    %others = arith.xori %leader, %true : i1
    scf.if %others {
      sm.proxy_fence
    }
  }
  sm.return
}

// -----

!one = !sm.mbarrier<arrivals 1, stages 2>
sm.kernel @unknown_stage args [#sm.scalar<"W">] warps 4 {
^bb0(%W: i32):
  %c0 = arith.constant 0 : i32
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 single {
  ^bb0(%wg: i32):
    // CHECK: 'sm.wait' op expects a stage that follows from loop counters
    sm.wait %one[%W] parity %c0 : !one
  }
  sm.return
}

// -----

!one = !sm.mbarrier<arrivals 1, stages 2>
sm.kernel @parity args [] warps 4 {
^bb0:
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 single {
  ^bb0(%wg: i32):
    // CHECK: 'sm.wait' op expects a parity of 0 or 1 that follows from loop counters
    sm.wait %one[%c0] parity %c2 : !one
  }
  sm.return
}

// -----

!one = !sm.mbarrier<arrivals 1, stages 2>
sm.kernel @twice args [] warps 4 {
^bb0:
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  // CHECK: 'sm.init_mbarriers' op expects to initialise an mbarrier once
  sm.init_mbarriers %one : !one
  sm.return
}

// -----

!one = !sm.mbarrier<arrivals 32, stages 1>
sm.kernel @expect_by_warp args [] warps 4 {
^bb0:
  %c0 = arith.constant 0 : i32
  %one = sm.mbarrier : !one
  sm.init_mbarriers %one : !one
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    // CHECK: 'sm.expect' op expects one thread, of a single role or chosen by sm.leader, found a warp (warpgroup 0 of "all", warp {{[0-3]}})
    sm.expect %one[%c0] bytes 16 : !one
  }
  sm.return
}

// -----

sm.kernel @reserved args [] warps 4 {
^bb0:
  %c0 = arith.constant 0 : i32
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    // CHECK: 'sm.named_barrier' op expects barrier 1 to 15, found 0
    sm.named_barrier %c0 threads 128
  }
  sm.return
}

// -----

sm.kernel @block_barrier args [] warps 4 {
^bb0:
  sm.role "all" first 0 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    // CHECK: 'sm.barrier' op waits for the threads of other roles
    sm.barrier
  }
  sm.return
}

// -----

// The second of two thread blocks never starts: its first tile is past the end, and nothing is posted for it.
!mail = !sm.mailbox<stages 1>
!one = !sm.mbarrier<arrivals 1, stages 1>
sm.plan "f" dims ["M"] tensors [] scalars [] requires [] params {} {
  sm.variant <universal> when [] align 0 {
    sm.launch @second_block grid affine_map<()[s0] -> (s0 ceildiv 64)> persistent block 256 smem 0 args [#sm.dim<"M">]
  }
}
sm.kernel @second_block args [#sm.dim<"M">] warps 8 {
^bb0(%M: i32):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = sm.mbarrier : !one
  %mail = sm.mailbox : !mail
  sm.init_mbarriers %one : !one
  %tiles = arith.ceildivsi %M, %c64 : i32
  %id = sm.block_id
  sm.role "post" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
    %isFirst = arith.cmpi eq, %id, %c0 : i32
    scf.if %isFirst {
      sm.post %id to %mail[%c0] : !mail
      sm.arrive %one[%c0] : !one
    }
  }
  sm.role "receive" first 1 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    // CHECK: 'sm.wait' op expects to go on, found that all agents wait: stage 0 of mbarrier 0, in phase 0, with 0 of 1 arrivals
    // CHECK: with M = 127, block 1 of 2
    sm.wait %one[%c0] parity %c0 : !one
    %tile = sm.receive %mail[%c0] : !mail
  }
  sm.return
}

// -----

// Registers of a product that one arm leaves in flight.
!c = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!cb = tensor<64x64xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!a = tensor<64x64xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!bslot = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!map = !sm.tensor_map<2, bf16>
!one = !sm.mbarrier<arrivals 1, stages 1>
sm.kernel @arms args [#sm.tensor_map<"b" box [: 64, 64]>] warps 4 {
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
    %is = arith.cmpf ogt, %zero, %zero : !c
    %any = sm.any %is : !cb
    %chosen = scf.if %any -> !c {
      scf.yield %zero : !c
    } else {
      scf.yield %flight : !c
    }
    // CHECK: 'arith.addf' op expects the result of sm.wgmma_wait, found registers of a product in flight (warpgroup 0 of "all", warp 0)
    %sum = arith.addf %chosen, %zero : !c
    %done = sm.wgmma_wait 0, %flight : !c
  }
  sm.return
}
