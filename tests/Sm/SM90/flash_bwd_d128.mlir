// Attention backward, main kernel, full, D = 128, in form roles: 128 keys per thread block, queries in steps of 64, dQ one step late.
// Rows of accumulators are keys, so that weights and their gradients are the operands of dV and dK as they stand. LSE and Delta enter the scores as further columns of
// the products; dQ is added to memory in the order of fragments. Beside it stand a kernel that prepares those columns and one that reads the fragments.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async{nonempty=true}))' -o /dev/null
// RUN: selvedge-opt %s --sm-roles-to-lanes --canonicalize --cse --emit-ptx=arch=sm_90a -o /dev/null | FileCheck %s
// CHECK: .visible .entry flash_bwd(
// CHECK-DAG: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
// CHECK-DAG: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
!rowi = tensor<64xi32, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!rowb = tensor<64xi1, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!row = tensor<64xf32, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!st = tensor<64x64xf32, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"i" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!pt = tensor<64x64xbf16, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"i" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!dv = tensor<64x128xf32, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"v" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!dvh = tensor<64x128xbf16, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"v" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!dk = tensor<64x128xf32, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!dkh = tensor<64x128xbf16, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!dq = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"d" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!parti = tensor<8xi32, #sm.layout<<"e" regs[: 2] by[: 1] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!partb = tensor<8xi1, #sm.layout<<"e" regs[: 2] by[: 1] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!partf = tensor<8xf32, #sm.layout<<"e" regs[: 2] by[: 1] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!parth = tensor<8xbf16, #sm.layout<<"e" regs[: 2] by[: 1] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!ones = tensor<64x8xbf16, #sm.layout<<"j" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"e" regs[: 2] by[: 1] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!kring = !sm.buffer<"j" x "d", 64 x 128 x bf16, swizzle 7, stages 2, panel 64>
!kslot = !sm.buffer<"j" x "d", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!kpanel = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!vring = !sm.buffer<"j" x "v", 64 x 128 x bf16, swizzle 7, stages 2, panel 64>
!vslot = !sm.buffer<"j" x "v", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!qring = !sm.buffer<"i" x "d", 64 x 128 x bf16, swizzle 7, stages 2, panel 64>
!qslot = !sm.buffer<"i" x "d", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!doring = !sm.buffer<"i" x "v", 64 x 128 x bf16, swizzle 7, stages 2, panel 64>
!doslot = !sm.buffer<"i" x "v", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!dsring = !sm.buffer<"i" x "j", 64 x 64 x bf16, swizzle 7, stages 4, panel 64>
!dsslot = !sm.buffer<"i" x "j", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!dqring = !sm.buffer<"thread" x "register", 128 x 32 x f32, swizzle 0, stages 2, panel 4>
!dqslot = !sm.buffer<"thread" x "register", 128 x 32 x f32, swizzle 0, stages 1, panel 4>
!statring = !sm.buffer<"i" x "e", 64 x 8 x bf16, swizzle 0, stages 2>
!statslot = !sm.buffer<"i" x "e", 64 x 8 x bf16, swizzle 0, stages 1>
!map = !sm.tensor_map<4, bf16>
!once = !sm.mbarrier<arrivals 1, stages 1>
!full = !sm.mbarrier<arrivals 1, stages 2>
!warps = !sm.mbarrier<arrivals 8, stages 2>
!group = !sm.mbarrier<arrivals 4, stages 2>

sm.plan "flash_bwd" dims ["B", "M", "H", "N"] tensors [
    #tile.tensor_arg<name = "q", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 128)>,
    #tile.tensor_arg<name = "k", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128)>,
    #tile.tensor_arg<name = "v", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128)>,
    #tile.tensor_arg<name = "go", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 128)>,
    #tile.tensor_arg<name = "lse", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s2, (s1 ceildiv 64) * 64, 8)>,
    #tile.tensor_arg<name = "delta", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s2, (s1 ceildiv 64) * 64, 8)>,
    #tile.tensor_arg<name = "gq", role = inout, elementType = f32, shape = ()[s0, s1, s2, s3] -> (s0, s2, s1 ceildiv 64, 2, 4096)>,
    #tile.tensor_arg<name = "gk", role = out, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128), init = 0.0 : f32>,
    #tile.tensor_arg<name = "gv", role = out, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "scale", type = f32, value = 0.0883883461 : f32>] requires [] params {} {
  sm.variant <program> bulk when [] align 0 {
    sm.launch @flash_bwd grid affine_map<()[s0, s1, s2, s3] -> (s3 ceildiv 128, s2, s0)> block 384 smem 0 args [
        #sm.dim<"B">, #sm.dim<"M">, #sm.dim<"H">, #sm.dim<"N">,
        #sm.tensor_map<"q" box [: 1, 64, 1, 64]>, #sm.tensor_map<"k" box [: 1, 64, 1, 64]>, #sm.tensor_map<"v" box [: 1, 64, 1, 64]>,
        #sm.tensor_map<"go" box [: 1, 64, 1, 64]>, #sm.tensor_map<"gk" box [: 1, 64, 1, 64]>, #sm.tensor_map<"gv" box [: 1, 64, 1, 64]>,
        #sm.pointer<"lse">, #sm.stride<"lse", 0>, #sm.stride<"lse", 1>, #sm.stride<"lse", 2>, #sm.stride<"lse", 3>,
        #sm.pointer<"delta">, #sm.stride<"delta", 0>, #sm.stride<"delta", 1>, #sm.stride<"delta", 2>, #sm.stride<"delta", 3>,
        #sm.pointer<"gq">, #sm.stride<"gq", 0>, #sm.stride<"gq", 1>, #sm.stride<"gq", 2>, #sm.stride<"gq", 3>, #sm.stride<"gq", 4>,
        #sm.scalar<"scale">]
  }
}

sm.kernel @flash_bwd args [#sm.dim<"B">, #sm.dim<"M">, #sm.dim<"H">, #sm.dim<"N">,
    #sm.tensor_map<"q" box [: 1, 64, 1, 64]>, #sm.tensor_map<"k" box [: 1, 64, 1, 64]>, #sm.tensor_map<"v" box [: 1, 64, 1, 64]>,
    #sm.tensor_map<"go" box [: 1, 64, 1, 64]>, #sm.tensor_map<"gk" box [: 1, 64, 1, 64]>, #sm.tensor_map<"gv" box [: 1, 64, 1, 64]>,
    #sm.pointer<"lse">, #sm.pointer<"delta">, #sm.pointer<"gq">, #sm.scalar<"scale">] warps 12 {
^bb0(%B: i32, %M: i32, %H: i32, %N: i32, %mq: !map, %mk: !map, %mv: !map, %mdo: !map, %mdk: !map, %mdv: !map,
     %lse: !tile.tensor<4, bf16>, %delta: !tile.tensor<4, bf16>, %gq: !tile.tensor<5, f32>, %scale: f32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %log2e = arith.constant 1.44269502 : f32

  %ks = sm.alloc : !kring
  %vs = sm.alloc : !vring
  %qs = sm.alloc : !qring
  %dos = sm.alloc : !doring
  %dss = sm.alloc : !dsring
  %dqs = sm.alloc : !dqring
  %lses = sm.alloc : !statring
  %deltas = sm.alloc : !statring
  %kfull = sm.mbarrier : !once
  %vfull = sm.mbarrier : !once
  %qfull = sm.mbarrier : !full
  %dofull = sm.mbarrier : !full
  %qempty = sm.mbarrier : !warps
  %doempty = sm.mbarrier : !warps
  %dsfull = sm.mbarrier : !warps
  %dsempty = sm.mbarrier : !warps
  %dqfull = sm.mbarrier : !group
  %dqempty = sm.mbarrier : !full
  sm.init_mbarriers %kfull, %vfull, %qfull, %dofull, %qempty, %doempty, %dsfull, %dsempty, %dqfull, %dqempty
      : !once, !once, !full, !full, !warps, !warps, !warps, !warps, !group, !full

  %cta = sm.block_id
  %ntiles = arith.ceildivsi %N, %c128 : i32
  %n = arith.remui %cta, %ntiles : i32
  %bh = arith.divui %cta, %ntiles : i32
  %h = arith.remui %bh, %H : i32
  %b = arith.divui %bh, %H : i32
  %key0 = arith.muli %n, %c128 : i32
  %steps = arith.ceildivsi %M, %c64 : i32

  sm.role "load" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
    sm.expect %kfull[%c0] bytes 32768 : !once
    scf.for %w = %c0 to %c2 step %c1 : i32 {
      %off = arith.muli %w, %c64 : i32
      %row = arith.addi %key0, %off : i32
      %slot = sm.slot %ks[%w] : !kring -> !kslot
      sm.tma_load %mk[%b, %row, %h, %c0] to %slot signal %kfull[%c0] : !map, !kslot, !once
    }
    %end:2 = scf.for %j = %c0 to %steps step %c1 iter_args(%s = %c0, %p = %c1) -> (i32, i32) : i32 {
      %row = arith.muli %j, %c64 : i32
      sm.wait %qempty[%s] parity %p : !warps
      sm.expect %qfull[%s] bytes 18432 : !full
      %q = sm.slot %qs[%s] : !qring -> !qslot
      sm.tma_load %mq[%b, %row, %h, %c0] to %q signal %qfull[%s] : !map, !qslot, !full
      %l = sm.slot %lses[%s] : !statring -> !statslot
      sm.bulk_load %lse[%b, %h, %row, %c0] to %l signal %qfull[%s] : <4, bf16>, !statslot, !full
      %d = sm.slot %deltas[%s] : !statring -> !statslot
      sm.bulk_load %delta[%b, %h, %row, %c0] to %d signal %qfull[%s] : <4, bf16>, !statslot, !full
      %isFirst = arith.cmpi eq, %j, %c0 : i32
      scf.if %isFirst {
        sm.expect %vfull[%c0] bytes 32768 : !once
        scf.for %w = %c0 to %c2 step %c1 : i32 {
          %off = arith.muli %w, %c64 : i32
          %vrow = arith.addi %key0, %off : i32
          %slot = sm.slot %vs[%w] : !vring -> !vslot
          sm.tma_load %mv[%b, %vrow, %h, %c0] to %slot signal %vfull[%c0] : !map, !vslot, !once
        }
      }
      sm.wait %doempty[%s] parity %p : !warps
      sm.expect %dofull[%s] bytes 16384 : !full
      %do = sm.slot %dos[%s] : !doring -> !doslot
      sm.tma_load %mdo[%b, %row, %h, %c0] to %do signal %dofull[%s] : !map, !doslot, !full
      %s1 = arith.xori %s, %c1 : i32
      %p1 = arith.xori %p, %s : i32
      scf.yield %s1, %p1 : i32, i32
    }
  }

  // Each adds what one warpgroup has of dQ.
  sm.role "add" first 0 warpgroups 1 registers 24 single warps 2 from 1 {
  ^bb0(%w: i32):
    %slot = sm.slot %dqs[%w] : !dqring -> !dqslot
    %end = scf.for %j = %c0 to %steps step %c1 iter_args(%p = %c0) -> (i32) : i32 {
      sm.wait %dqfull[%w] parity %p : !group
      sm.proxy_fence
      sm.bulk_reduce add %slot to %gq[%b, %h, %j, %w, %c0] : !dqslot, <5, f32>
      sm.tma_drain
      sm.arrive %dqempty[%w] : !full
      %p1 = arith.xori %p, %c1 : i32
      scf.yield %p1 : i32
    }
  }

  // Two warpgroups, 64 keys each.
  sm.role "differentiate" first 1 warpgroups 2 registers 240 {
  ^bb0(%wg: i32):
    // Each sum of three parts: high, middle and low bits of LSE or Delta.
    %parts = sm.range %c0 : !parti
    %c3_part = sm.splat %c3 : i32 -> !parti
    %isPart = arith.cmpi slt, %parts, %c3_part : !parti
    %one_part = sm.splat %one : f32 -> !partf
    %zero_part = sm.splat %zero : f32 -> !partf
    %weights = arith.select %isPart, %one_part, %zero_part : !partb, !partf
    %weightsh = sm.convert %weights clamp : !partf -> !parth
    %sum = sm.broadcast %weightsh : !parth -> !ones

    // Absent keys have the weight 1 and the score gradient -Delta, both finite: their products with zero rows of K are zero.
    %rowInTile = arith.muli %wg, %c64 : i32
    %row0 = arith.addi %key0, %rowInTile : i32
    %rows = sm.range %row0 : !rowi
    %N_row = sm.splat %N : i32 -> !rowi
    %inRows = arith.cmpi slt, %rows, %N_row : !rowi
    %c = arith.mulf %scale, %log2e : f32
    %c_row = sm.splat %c : f32 -> !row
    %zero_row = sm.splat %zero : f32 -> !row
    %factor = arith.select %inRows, %c_row, %zero_row : !rowb, !row
    %factor_s = sm.broadcast %factor : !row -> !st

    %k = sm.slot %ks[%wg] : !kring -> !kslot
    %v = sm.slot %vs[%wg] : !vring -> !vslot
    %klow = sm.slot %ks[%c0] : !kring -> !kslot
    %khigh = sm.slot %ks[%c1] : !kring -> !kslot
    %klowpanel = sm.panel %klow[%wg] : !kslot -> !kpanel
    %khighpanel = sm.panel %khigh[%wg] : !kslot -> !kpanel
    %dqslot = sm.slot %dqs[%wg] : !dqring -> !dqslot

    // The first step: no dQ yet, and the sums start.
    sm.wait %kfull[%c0] parity %c0 : !once
    sm.wait %qfull[%c0] parity %c0 : !full
    %q0 = sm.slot %qs[%c0] : !qring -> !qslot
    %l0 = sm.slot %lses[%c0] : !statring -> !statslot
    %sflight0 = sm.wgmma %sum, %l0 over "e" plus (%k, %q0 : !kslot, !qslot) over ["d"] : !ones, !statslot -> !st
    sm.wait %vfull[%c0] parity %c0 : !once
    sm.wait %dofull[%c0] parity %c0 : !full
    %do0 = sm.slot %dos[%c0] : !doring -> !doslot
    %d0 = sm.slot %deltas[%c0] : !statring -> !statslot
    %dpflight0 = sm.wgmma %sum, %d0 over "e" plus (%v, %do0 : !vslot, !doslot) over ["v"] : !ones, !statslot -> !st
    %S0 = sm.wgmma_wait 1, %sflight0 : !st
    %x0 = arith.mulf %S0, %factor_s : !st
    %P0 = math.exp2 %x0 : !st
    %DP0 = sm.wgmma_wait 0, %dpflight0 : !st
    %DS0 = arith.mulf %P0, %DP0 : !st
    %ph0 = sm.convert %P0 clamp : !st -> !pt
    %dsh0 = sm.convert %DS0 clamp : !st -> !pt
    %ds0 = sm.slot %dss[%wg] : !dsring -> !dsslot
    sm.stage %dsh0 to %ds0 : !pt, !dsslot
    sm.warp_sync
    sm.arrive %dsfull[%c0] per_warp : !warps
    %dvflight0 = sm.wgmma %ph0, %do0 over "i" : !pt, !doslot -> !dv
    %dkflight0 = sm.wgmma %dsh0, %q0 over "i" : !pt, !qslot -> !dk
    %dv0 = sm.wgmma_wait 1, %dvflight0 : !dv
    sm.arrive %doempty[%c0] per_warp : !warps
    %dk0 = sm.wgmma_wait 0, %dkflight0 : !dk
    sm.arrive %qempty[%c0] per_warp : !warps

    // A buffer of score gradients has the stage of its queries; its parity is the other one.
    %loop:4 = scf.for %j = %c1 to %steps step %c1 iter_args(%dvs = %dv0, %dks = %dk0, %s = %c1, %p = %c0) -> (!dv, !dk, i32, i32) : i32 {
      sm.wait %qfull[%s] parity %p : !full
      %q = sm.slot %qs[%s] : !qring -> !qslot
      %l = sm.slot %lses[%s] : !statring -> !statslot
      %sflight = sm.wgmma %sum, %l over "e" plus (%k, %q : !kslot, !qslot) over ["d"] : !ones, !statslot -> !st
      sm.wait %dofull[%s] parity %p : !full
      %do = sm.slot %dos[%s] : !doring -> !doslot
      %d = sm.slot %deltas[%s] : !statring -> !statslot
      %dpflight = sm.wgmma %sum, %d over "e" plus (%v, %do : !vslot, !doslot) over ["v"] : !ones, !statslot -> !st
      %S = sm.wgmma_wait 1, %sflight : !st
      %x = arith.mulf %S, %factor_s : !st
      %P = math.exp2 %x : !st
      %DP = sm.wgmma_wait 0, %dpflight : !st

      // The readers of the score gradients fence, where nothing is in flight.
      %before = arith.xori %s, %c1 : i32
      %otherParity = arith.xori %p, %c1 : i32
      %beforeParity = arith.xori %otherParity, %s : i32
      sm.wait %dsfull[%before] parity %beforeParity : !warps
      sm.proxy_fence
      %DS = arith.mulf %P, %DP : !st
      %ph = sm.convert %P clamp : !st -> !pt
      %dsh = sm.convert %DS clamp : !st -> !pt
      sm.wait %dsempty[%s] parity %otherParity : !warps
      %s2 = arith.muli %s, %c2 : i32
      %mine = arith.addi %s2, %wg : i32
      %ds = sm.slot %dss[%mine] : !dsring -> !dsslot
      sm.stage %dsh to %ds : !pt, !dsslot
      sm.warp_sync
      sm.arrive %dsfull[%s] per_warp : !warps

      %dvflight = sm.wgmma %ph, %do init %dvs : !dv over "i" : !pt, !doslot -> !dv
      %low = arith.muli %before, %c2 : i32
      %high = arith.addi %low, %c1 : i32
      %dslow = sm.slot %dss[%low] : !dsring -> !dsslot
      %dshigh = sm.slot %dss[%high] : !dsring -> !dsslot
      %dqflight = sm.wgmma %dslow, %klowpanel over "j" plus (%dshigh, %khighpanel : !dsslot, !kpanel) over ["j"] : !dsslot, !kpanel -> !dq
      %dkflight = sm.wgmma %dsh, %q init %dks : !dk over "i" : !pt, !qslot -> !dk
      %dv1 = sm.wgmma_wait 1, %dvflight : !dv
      %dq = sm.wgmma_wait 1, %dqflight : !dq
      sm.arrive %doempty[%s] per_warp : !warps
      sm.arrive %dsempty[%before] per_warp : !warps
      sm.wait %dqempty[%wg] parity %s : !full
      sm.stage_fragment %dq to %dqslot : !dq, !dqslot
      sm.warp_sync
      sm.arrive %dqfull[%wg] per_warp : !group
      %dk1 = sm.wgmma_wait 0, %dkflight : !dk
      sm.arrive %qempty[%s] per_warp : !warps
      %p1 = arith.xori %p, %s : i32
      scf.yield %dv1, %dk1, %before, %p1 : !dv, !dk, i32, i32
    }

    // dQ of the last step.
    %before = arith.xori %loop#2, %c1 : i32
    %otherParity = arith.xori %loop#3, %c1 : i32
    %beforeParity = arith.xori %otherParity, %loop#2 : i32
    sm.wait %dsfull[%before] parity %beforeParity : !warps
    sm.proxy_fence
    %low = arith.muli %before, %c2 : i32
    %high = arith.addi %low, %c1 : i32
    %dslow = sm.slot %dss[%low] : !dsring -> !dsslot
    %dshigh = sm.slot %dss[%high] : !dsring -> !dsslot
    %dqflight = sm.wgmma %dslow, %klowpanel over "j" plus (%dshigh, %khighpanel : !dsslot, !kpanel) over ["j"] : !dsslot, !kpanel -> !dq
    %dvh = sm.convert %loop#0 clamp : !dv -> !dvh
    %dq = sm.wgmma_wait 0, %dqflight : !dq
    sm.arrive %dsempty[%before] per_warp : !warps
    sm.wait %dqempty[%wg] parity %loop#2 : !full
    sm.stage_fragment %dq to %dqslot : !dq, !dqslot
    sm.warp_sync
    sm.arrive %dqfull[%wg] per_warp : !group

    // Nobody reads K and V any more: dK and dV leave through their slots.
    sm.wait %dsempty[%before] parity %beforeParity : !warps
    %scale_dk = sm.splat %scale : f32 -> !dk
    %dks = arith.mulf %loop#1, %scale_dk : !dk
    %dkh = sm.convert %dks clamp : !dk -> !dkh
    sm.stage %dvh to %v : !dvh, !vslot
    sm.stage %dkh to %k : !dkh, !kslot
    sm.proxy_fence
    %group = arith.addi %wg, %c1 : i32
    sm.named_barrier %group threads 128
    %leader = sm.leader
    scf.if %leader {
      sm.tma_store %v to %mdv[%b, %row0, %h, %c0] : !vslot, !map
      sm.tma_store %k to %mdk[%b, %row0, %h, %c0] : !kslot, !map
    }
    sm.tma_drain written
  }
  sm.return
}
