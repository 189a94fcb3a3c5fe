// Attention forward, full, D = 128, in form roles: two warpgroups over a ring of keys and values, two tiles per round of the persistent loop.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s --sm-roles-to-lanes --canonicalize --cse --emit-ptx=arch=sm_90a -o /dev/null | FileCheck %s
// CHECK: .visible .entry flash(
!row = tensor<64xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!rowb = tensor<64xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!rowi = tensor<64xi32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>>>
!col = tensor<128xi32, #sm.layout<<"j" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!colb = tensor<128xi1, #sm.layout<<"j" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!s = tensor<64x128xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!sb = tensor<64x128xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!p = tensor<64x128xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!part = tensor<64x4xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0, 0]>>>
!partb = tensor<64x4xi1, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"j" regs[] by[] lanes[: 1, 2, 0, 0, 0] warps[: 0, 0]>>>
!o = tensor<64x128xf32, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"v" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!oh = tensor<64x128xbf16, #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[: 16, 32]>, <"v" regs[: 2, 16] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[: 0, 0]>>>
!qring = !sm.buffer<"i" x "d", 64 x 128 x bf16, swizzle 7, stages 4, panel 64>
!qslot = !sm.buffer<"i" x "d", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!kring = !sm.buffer<"j" x "d", 128 x 128 x bf16, swizzle 7, stages 2, panel 64>
!kslot = !sm.buffer<"j" x "d", 128 x 128 x bf16, swizzle 7, stages 1, panel 64>
!vring = !sm.buffer<"j" x "v", 128 x 128 x bf16, swizzle 7, stages 2, panel 64>
!vslot = !sm.buffer<"j" x "v", 128 x 128 x bf16, swizzle 7, stages 1, panel 64>
!oring = !sm.buffer<"i" x "v", 64 x 128 x bf16, swizzle 7, stages 2, panel 64>
!oslot = !sm.buffer<"i" x "v", 64 x 128 x bf16, swizzle 7, stages 1, panel 64>
!map = !sm.tensor_map<4, bf16>
!full = !sm.mbarrier<arrivals 1, stages 2>
!qfull = !sm.mbarrier<arrivals 1, stages 4>
!empty = !sm.mbarrier<arrivals 8, stages 2>
!qempty = !sm.mbarrier<arrivals 4, stages 4>
!mail = !sm.mailbox<stages 4>

sm.plan "flash" dims ["B", "M", "H", "N"] tensors [
    #tile.tensor_arg<name = "q", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 128)>,
    #tile.tensor_arg<name = "k", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128)>,
    #tile.tensor_arg<name = "v", role = in, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s3, s2, 128)>,
    #tile.tensor_arg<name = "o", role = out, elementType = bf16, shape = ()[s0, s1, s2, s3] -> (s0, s1, s2, 128), init = 0.0 : f32>,
    #tile.tensor_arg<name = "lse", role = out, elementType = f32, shape = ()[s0, s1, s2, s3] -> (s0, s2, s1), init = 0xFF800000 : f32>]
    scalars [#tile.scalar_arg<name = "scale", type = f32, value = 0.0883883461 : f32>] requires [] params {} {
  sm.variant <program> bulk when [] align 0 {
    sm.launch @flash grid affine_map<()[s0, s1, s2, s3] -> (s1 ceildiv 128, s2, s0)> persistent block 384 smem 0 args [
        #sm.dim<"B">, #sm.dim<"M">, #sm.dim<"H">, #sm.dim<"N">,
        #sm.tensor_map<"q" box [: 1, 64, 1, 64]>, #sm.tensor_map<"k" box [: 1, 128, 1, 64]>, #sm.tensor_map<"v" box [: 1, 128, 1, 64]>,
        #sm.tensor_map<"o" box [: 1, 64, 1, 64]>, #sm.pointer<"lse">, #sm.stride<"lse", 0>, #sm.stride<"lse", 1>, #sm.stride<"lse", 2>,
        #sm.scalar<"scale">]
  }
}

sm.kernel @flash args [#sm.dim<"B">, #sm.dim<"M">, #sm.dim<"H">, #sm.dim<"N">,
    #sm.tensor_map<"q" box [: 1, 64, 1, 64]>, #sm.tensor_map<"k" box [: 1, 128, 1, 64]>, #sm.tensor_map<"v" box [: 1, 128, 1, 64]>,
    #sm.tensor_map<"o" box [: 1, 64, 1, 64]>, #sm.pointer<"lse">, #sm.scalar<"scale">] warps 12 {
^bb0(%B: i32, %M: i32, %H: i32, %N: i32, %mq: !map, %mk: !map, %mv: !map, %mo: !map, %lse: !tile.tensor<3, f32>, %scale: f32):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c6 = arith.constant 6 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %none = arith.constant -1 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.44269502 : f32
  %ln2 = arith.constant 0.693147182 : f32
  %limit = arith.constant 1.09951163E+12 : f32

  %qs = sm.alloc : !qring
  %ks = sm.alloc : !kring
  %vs = sm.alloc : !vring
  %os = sm.alloc : !oring
  %qfull = sm.mbarrier : !qfull
  %qempty = sm.mbarrier : !qempty
  %kfull = sm.mbarrier : !full
  %vfull = sm.mbarrier : !full
  %kempty = sm.mbarrier : !empty
  %vempty = sm.mbarrier : !empty
  // The copying thread divides tile numbers; the others read row block (-1: none), head and batch.
  %mailM = sm.mailbox : !mail
  %mailH = sm.mailbox : !mail
  %mailB = sm.mailbox : !mail
  sm.init_mbarriers %qfull, %qempty, %kfull, %vfull, %kempty, %vempty : !qfull, !qempty, !full, !full, !empty, !empty

  %cta = sm.block_id
  %ctas = sm.block_count
  %mtiles = arith.ceildivsi %M, %c128 : i32
  %mh = arith.muli %mtiles, %H : i32
  %tiles = arith.muli %mh, %B : i32
  %blocks = arith.ceildivsi %N, %c128 : i32
  %last = arith.subi %blocks, %c1 : i32

  // One thread copies: Q of the next tile after the first keys of this one.
  sm.role "load" first 0 warpgroups 1 registers 24 single {
  ^bb0(%wg: i32):
    %first = scf.for %w = %c0 to %c2 step %c1 iter_args(%x = %c0) -> (i32) : i32 {
      %m = arith.remui %cta, %mtiles : i32
      %bh = arith.divui %cta, %mtiles : i32
      %h = arith.remui %bh, %H : i32
      %b = arith.divui %bh, %H : i32
      sm.post %m to %mailM[%w] : !mail
      sm.post %h to %mailH[%w] : !mail
      sm.post %b to %mailB[%w] : !mail
      sm.expect %qfull[%w] bytes 16384 : !qfull
      %row = arith.muli %m, %c128 : i32
      %roww = arith.muli %w, %c64 : i32
      %roww1 = arith.addi %row, %roww : i32
      %slot = sm.slot %qs[%w] : !qring -> !qslot
      sm.tma_load %mq[%b, %roww1, %h, %c0] to %slot signal %qfull[%w] : !map, !qslot, !qfull
      scf.yield %x : i32
    }
    %end:5 = scf.while (%t = %cta, %qb = %c1, %qp = %c1, %st = %c0, %ph = %c1) : (i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32) {
      %more = arith.cmpi slt, %t, %tiles : i32
      scf.condition(%more) %t, %qb, %qp, %st, %ph : i32, i32, i32, i32, i32
    } do {
    ^bb0(%t: i32, %qb: i32, %qp: i32, %st: i32, %ph: i32):
      %bh = arith.divui %t, %mtiles : i32
      %h = arith.remui %bh, %H : i32
      %b = arith.divui %bh, %H : i32
      %next = arith.addi %t, %ctas : i32
      %r:2 = scf.for %j = %c0 to %blocks step %c1 iter_args(%s = %st, %p = %ph) -> (i32, i32) : i32 {
        %back = arith.subi %last, %j : i32
        %row = arith.muli %back, %c128 : i32
        sm.wait %kempty[%s] parity %p : !empty
        sm.expect %kfull[%s] bytes 32768 : !full
        %kslot = sm.slot %ks[%s] : !kring -> !kslot
        sm.tma_load %mk[%b, %row, %h, %c0] to %kslot signal %kfull[%s] : !map, !kslot, !full
        sm.wait %vempty[%s] parity %p : !empty
        sm.expect %vfull[%s] bytes 32768 : !full
        %vslot = sm.slot %vs[%s] : !vring -> !vslot
        sm.tma_load %mv[%b, %row, %h, %c0] to %vslot signal %vfull[%s] : !map, !vslot, !full
        %isFirst = arith.cmpi eq, %j, %c0 : i32
        scf.if %isFirst {
          %live = arith.cmpi slt, %next, %tiles : i32
          %m = arith.remui %next, %mtiles : i32
          %posted = arith.select %live, %m, %none : i32
          %nbh = arith.divui %next, %mtiles : i32
          %nh = arith.remui %nbh, %H : i32
          %nb = arith.divui %nbh, %H : i32
          %nrow = arith.muli %m, %c128 : i32
          scf.for %w = %c0 to %c2 step %c1 : i32 {
            %qb2 = arith.muli %qb, %c2 : i32
            %q = arith.addi %qb2, %w : i32
            sm.wait %qempty[%q] parity %qp : !qempty
            sm.post %posted to %mailM[%q] : !mail
            sm.post %nh to %mailH[%q] : !mail
            sm.post %nb to %mailB[%q] : !mail
            scf.if %live {
              sm.expect %qfull[%q] bytes 16384 : !qfull
              %woff = arith.muli %w, %c64 : i32
              %wrow = arith.addi %nrow, %woff : i32
              %slot = sm.slot %qs[%q] : !qring -> !qslot
              sm.tma_load %mq[%nb, %wrow, %nh, %c0] to %slot signal %qfull[%q] : !map, !qslot, !qfull
            } else {
              sm.arrive %qfull[%q] : !qfull
            }
          }
        }
        %s1 = arith.xori %s, %c1 : i32
        %p1 = arith.xori %p, %s : i32
        scf.yield %s1, %p1 : i32, i32
      }
      %qp1 = arith.xori %qp, %qb : i32
      %qb1 = arith.xori %qb, %c1 : i32
      scf.yield %next, %qb1, %qp1, %r#0, %r#1 : i32, i32, i32, i32, i32
    }
  }

  // Two warpgroups, 64 rows each, take turns on the tensor cores.
  sm.role "attend" first 1 warpgroups 2 registers 240 {
  ^bb0(%wg: i32):
    %c = arith.mulf %scale, %log2e : f32
    %c_s = sm.splat %c : f32 -> !s
    %c_row = sm.splat %c : f32 -> !row
    %ninf_s = sm.splat %ninf : f32 -> !s
    %ninf_row = sm.splat %ninf : f32 -> !row
    %zero_row = sm.splat %zero : f32 -> !row
    %one_row = sm.splat %one : f32 -> !row
    %ln2_row = sm.splat %ln2 : f32 -> !row
    %limit_part = sm.splat %limit : f32 -> !part
    %zero_o = sm.splat %zero : f32 -> !o
    %zero_s = sm.splat %zero : f32 -> !s
    %mine = arith.addi %wg, %c2 : i32
    %other = arith.xori %wg, %c1 : i32
    %next = arith.addi %other, %c2 : i32
    %group = arith.addi %wg, %c6 : i32
    %rowInTile = arith.muli %wg, %c64 : i32
    %isLast = arith.cmpi eq, %wg, %c1 : i32
    scf.if %isLast {
      sm.named_barrier %c2 threads 256 arrive
    }
    %leader = sm.leader
    %oslot = sm.slot %os[%wg] : !oring -> !oslot

    // Prologue: the first scores.
    sm.wait %qfull[%wg] parity %c0 : !qfull
    %m0 = sm.receive %mailM[%wg] : !mail
    %h0 = sm.receive %mailH[%wg] : !mail
    %b0 = sm.receive %mailB[%wg] : !mail
    sm.named_barrier %mine threads 256
    sm.wait %kfull[%c0] parity %c0 : !full
    %q0 = sm.slot %qs[%wg] : !qring -> !qslot
    %k0 = sm.slot %ks[%c0] : !kring -> !kslot
    %sflight0 = sm.wgmma %q0, %k0 over "d" : !qslot, !kslot -> !s
    %s0 = sm.wgmma_wait 0, %sflight0 : !s
    sm.arrive %kempty[%c0] per_warp : !empty
    sm.named_barrier %next threads 256 arrive

    // One round per tile; its last product of weights and values runs beside the next tile's first scores.
    %end:8 = scf.while (%S = %s0, %mt = %m0, %h = %h0, %b = %b0, %qb = %c0, %qp = %c0, %st = %c0, %ph = %c0)
        : (!s, i32, i32, i32, i32, i32, i32, i32) -> (!s, i32, i32, i32, i32, i32, i32, i32) {
      %more = arith.cmpi sge, %mt, %c0 : i32
      scf.condition(%more) %S, %mt, %h, %b, %qb, %qp, %st, %ph : !s, i32, i32, i32, i32, i32, i32, i32
    } do {
    ^bb0(%S: !s, %mt: i32, %h: i32, %b: i32, %qb: i32, %qp: i32, %st: i32, %ph: i32):
      %mrow = arith.muli %mt, %c128 : i32
      %row0 = arith.addi %mrow, %rowInTile : i32
      %qb2 = arith.muli %qb, %c2 : i32
      %qi = arith.addi %qb2, %wg : i32
      %qslot = sm.slot %qs[%qi] : !qring -> !qslot

      // The first block is the last of the keys: only here are columns absent.
      %n0 = arith.muli %last, %c128 : i32
      %cols = sm.range %n0 : !col
      %N_col = sm.splat %N : i32 -> !col
      %in = arith.cmpi slt, %cols, %N_col : !col
      %in_s = sm.broadcast %in : !colb -> !sb
      %Sm = arith.select %in_s, %S, %ninf_s : !sb, !s
      %mx = sm.reduce max %Sm over "j" : !s -> !row
      %max0 = arith.mulf %mx, %c_row : !row
      %empty0 = arith.cmpf oeq, %max0, %ninf_row : !row
      %ref0 = arith.select %empty0, %zero_row, %max0 : !rowb, !row
      %neg0 = arith.negf %ref0 : !row
      %neg0_s = sm.broadcast %neg0 : !row -> !s
      %e0 = math.fma %Sm, %c_s, %neg0_s : !s
      %w0 = math.exp2 %e0 : !s
      %l0 = sm.fold add %w0 over "j" : !s -> !part
      %p0 = sm.convert %w0 clamp : !s -> !p
      %st1 = arith.xori %st, %c1 : i32
      %ph1 = arith.xori %ph, %st : i32

      %loop:8 = scf.for %j = %c0 to %last step %c1 iter_args(%O = %zero_o, %P = %p0, %m = %max0, %l = %l0, %s = %st1, %p = %ph1, %sv = %st, %pv = %ph)
          -> (!o, !p, !row, !part, i32, i32, i32, i32) : i32 {
        sm.wait %kfull[%s] parity %p : !full
        sm.named_barrier %mine threads 256
        %kslot = sm.slot %ks[%s] : !kring -> !kslot
        %sflight = sm.wgmma %qslot, %kslot over "d" : !qslot, !kslot -> !s
        sm.wait %vfull[%sv] parity %pv : !full
        %vslot = sm.slot %vs[%sv] : !vring -> !vslot
        %oflight = sm.wgmma %P, %vslot init %O : !o over "j" : !p, !vslot -> !o
        %S1 = sm.wgmma_wait 1, %sflight : !s
        sm.arrive %kempty[%s] per_warp : !empty
        sm.named_barrier %next threads 256 arrive
        %O1 = sm.wgmma_wait 0, %oflight : !o
        sm.arrive %vempty[%sv] per_warp : !empty

        // Weights by the reference of the blocks before: exact unless they grow past the limit.
        %neg = arith.negf %m : !row
        %neg_s = sm.broadcast %neg : !row -> !s
        %e = math.fma %S1, %c_s, %neg_s : !s
        %w = math.exp2 %e : !s
        %x = sm.fold add %w over "j" : !s -> !part
        %pw = sm.convert %w clamp : !s -> !p
        %lx = arith.addf %l, %x : !part
        %over = arith.cmpf ugt, %x, %limit_part : !part
        %any = sm.any %over : !partb
        %u:4 = scf.if %any -> (!o, !p, !row, !part) {
          %bmx = sm.reduce max %S1 over "j" : !s -> !row
          %bm = arith.mulf %bmx, %c_row : !row
          %m1 = arith.maximumf %m, %bm : !row
          %isEmpty = arith.cmpf oeq, %m1, %ninf_row : !row
          %ref = arith.select %isEmpty, %zero_row, %m1 : !rowb, !row
          %shift = arith.subf %m, %ref : !row
          %corr = math.exp2 %shift : !row
          %nref = arith.negf %ref : !row
          %nref_s = sm.broadcast %nref : !row -> !s
          %e1 = math.fma %S1, %c_s, %nref_s : !s
          %w1 = math.exp2 %e1 : !s
          %x1 = sm.fold add %w1 over "j" : !s -> !part
          %p1 = sm.convert %w1 clamp : !s -> !p
          %corr_part = sm.broadcast %corr : !row -> !part
          %lc = arith.mulf %l, %corr_part : !part
          %l1 = arith.addf %lc, %x1 : !part
          %corr_o = sm.broadcast %corr : !row -> !o
          %O2 = arith.mulf %O1, %corr_o : !o
          scf.yield %O2, %p1, %m1, %l1 : !o, !p, !row, !part
        } else {
          scf.yield %O1, %pw, %m, %lx : !o, !p, !row, !part
        }
        %s1 = arith.xori %s, %c1 : i32
        %p1 = arith.xori %p, %s : i32
        scf.yield %u#0, %u#1, %u#2, %u#3, %s1, %p1, %s, %p : !o, !p, !row, !part, i32, i32, i32, i32
      }
      sm.arrive %qempty[%qi] per_warp : !qempty

      %qp1 = arith.xori %qp, %qb : i32
      %qb1 = arith.xori %qb, %c1 : i32
      %qb12 = arith.muli %qb1, %c2 : i32
      %qi1 = arith.addi %qb12, %wg : i32
      sm.wait %qfull[%qi1] parity %qp1 : !qfull
      %m1 = sm.receive %mailM[%qi1] : !mail
      %h1 = sm.receive %mailH[%qi1] : !mail
      %b1 = sm.receive %mailB[%qi1] : !mail
      %live = arith.cmpi sge, %m1, %c0 : i32
      %z:4 = scf.if %live -> (!s, !o, i32, i32) {
        sm.wait %kfull[%loop#4] parity %loop#5 : !full
        sm.named_barrier %mine threads 256
        %qnext = sm.slot %qs[%qi1] : !qring -> !qslot
        %kslot = sm.slot %ks[%loop#4] : !kring -> !kslot
        %sflight = sm.wgmma %qnext, %kslot over "d" : !qslot, !kslot -> !s
        sm.wait %vfull[%loop#6] parity %loop#7 : !full
        %vslot = sm.slot %vs[%loop#6] : !vring -> !vslot
        %oflight = sm.wgmma %loop#1, %vslot init %loop#0 : !o over "j" : !p, !vslot -> !o
        %S1 = sm.wgmma_wait 1, %sflight : !s
        sm.arrive %kempty[%loop#4] per_warp : !empty
        sm.named_barrier %next threads 256 arrive
        %O1 = sm.wgmma_wait 0, %oflight : !o
        sm.arrive %vempty[%loop#6] per_warp : !empty
        scf.yield %S1, %O1, %loop#4, %loop#5 : !s, !o, i32, i32
      } else {
        sm.wait %vfull[%loop#6] parity %loop#7 : !full
        %vslot = sm.slot %vs[%loop#6] : !vring -> !vslot
        %oflight = sm.wgmma %loop#1, %vslot init %loop#0 : !o over "j" : !p, !vslot -> !o
        %O1 = sm.wgmma_wait 0, %oflight : !o
        sm.arrive %vempty[%loop#6] per_warp : !empty
        scf.yield %zero_s, %O1, %loop#4, %loop#5 : !s, !o, i32, i32
      }

      // Epilogue.
      %l = sm.reduce add %loop#3 over "j" : !part -> !row
      %noKeys = arith.cmpf oeq, %l, %zero_row : !row
      %inv = arith.divf %one_row, %l fastmath<arcp> : !row
      %inv0 = arith.select %noKeys, %zero_row, %inv : !rowb, !row
      %inv_o = sm.broadcast %inv0 : !row -> !o
      %O = arith.mulf %z#1, %inv_o : !o
      %Oh = sm.convert %O clamp : !o -> !oh
      sm.tma_drain
      sm.named_barrier %group threads 128
      sm.stage %Oh to %oslot : !oh, !oslot
      sm.proxy_fence
      sm.named_barrier %group threads 128
      scf.if %leader {
        sm.tma_store %oslot to %mo[%b, %row0, %h, %c0] : !oslot, !map
      }
      %lg = math.log2 %l : !row
      %lgm = arith.addf %lg, %loop#2 : !row
      %lsev = arith.mulf %lgm, %ln2_row : !row
      %rows = sm.range %row0 : !rowi
      %M_row = sm.splat %M : i32 -> !rowi
      %inRows = arith.cmpi slt, %rows, %M_row : !rowi
      sm.store %lsev, %lse[%b, %h, %rows : i32, i32, !rowi] where(%inRows : !rowb) vector 1 : !row, <3, f32>
      scf.yield %z#0, %m1, %h1, %b1, %qb1, %qp1, %z#2, %z#3 : !s, i32, i32, i32, i32, i32, i32, i32
    }
    sm.tma_drain written
  }
  sm.return
}
