// A ring of two buffers with one guard, arrived at by each thread; what the data exclude is released unread; products add up in flight.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-async))' -o /dev/null
!c = tensor<64x64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!cb = tensor<64x64xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 8] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!aring = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 2, panel 64>
!aslot = !sm.buffer<"i" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!bring = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 2, panel 64>
!bslot = !sm.buffer<"j" x "d", 64 x 64 x bf16, swizzle 7, stages 1, panel 64>
!map = !sm.tensor_map<2, bf16>
!full = !sm.mbarrier<arrivals 1, stages 2>
!empty = !sm.mbarrier<arrivals 128, stages 2>
sm.kernel @passes args [#sm.dim<"N">, #sm.tensor_map<"a" box [: 64, 64]>, #sm.tensor_map<"b" box [: 64, 64]>, #sm.scalar<"W">, #sm.pointer<"n">] warps 8 {
^bb0(%N: i32, %ma: !map, %mb: !map, %W: i32, %n: !tile.tensor<1, i32>):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %f0 = arith.constant 0.0 : f32
  %as = sm.alloc : !aring
  %bs = sm.alloc : !bring
  %full = sm.mbarrier : !full
  %empty = sm.mbarrier : !empty
  sm.init_mbarriers %full, %empty : !full, !empty
  sm.role "load" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
    %r:2 = scf.for %j = %c0 to %N step %c64 iter_args(%s = %c0, %p = %c1) -> (i32, i32) : i32 {
      sm.wait %empty[%s] parity %p : !empty
      sm.expect %full[%s] bytes 16384 : !full
      %aslot = sm.slot %as[%s] : !aring -> !aslot
      sm.tma_load %ma[%j, %c0] to %aslot signal %full[%s] : !map, !aslot, !full
      %bslot = sm.slot %bs[%s] : !bring -> !bslot
      sm.tma_load %mb[%j, %c0] to %bslot signal %full[%s] : !map, !bslot, !full
      %s1 = arith.xori %s, %c1 : i32
      %p1 = arith.xori %p, %s : i32
      scf.yield %s1, %p1 : i32, i32
    }
  }
  sm.role "multiply" first 1 warpgroups 1 registers 240 {
  ^bb0(%wg: i32):
    %zero = sm.splat %f0 : f32 -> !c
    %valid = sm.load %n[%c0 : i32] vector 1 : <1, i32> -> i32
    %r:3 = scf.for %j = %c0 to %N step %c64 iter_args(%acc = %zero, %s = %c0, %p = %c0) -> (!c, i32, i32) : i32 {
      sm.wait %full[%s] parity %p : !full
      %isIn = arith.cmpi slt, %j, %valid : i32
      %sum = scf.if %isIn -> !c {
        %a = sm.slot %as[%s] : !aring -> !aslot
        %b = sm.slot %bs[%s] : !bring -> !bslot
        %first = sm.wgmma %a, %b init %acc : !c over "d" : !aslot, !bslot -> !c
        %second = sm.wgmma %a, %b init %first : !c over "d" : !aslot, !bslot -> !c
        %done = sm.wgmma_wait 0, %second : !c
        scf.yield %done : !c
      } else {
        scf.yield %acc : !c
      }
      sm.arrive %empty[%s] : !empty
      %isLarge = arith.cmpf ogt, %sum, %zero : !c
      %any = sm.any %isLarge : !cb
      %shown = scf.if %any -> !c {
        %twice = arith.addf %sum, %sum : !c
        scf.yield %twice : !c
      } else {
        scf.yield %sum : !c
      }
      %s1 = arith.xori %s, %c1 : i32
      %p1 = arith.xori %p, %s : i32
      scf.yield %shown, %s1, %p1 : !c, i32, i32
    }
  }
  sm.return
}
