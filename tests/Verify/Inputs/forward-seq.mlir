// One step of a forward with one warp and padded rows, keys and head dimension.
// SPDX-License-Identifier: MIT
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#j = #sm.layout<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#d = #sm.layout<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#id = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ci = #sm.layout<<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#cj = #sm.layout<<"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#cd = #sm.layout<<"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!qb = !sm.buffer<"i" x "d", 16 x 16 x bf16, swizzle 1, stages 1>
!kb = !sm.buffer<"j" x "d", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @k args [#sm.dim<"M">, #sm.dim<"N">, #sm.dim<"D">, #sm.pointer<"q">, #sm.pointer<"k">, #sm.pointer<"v">, #sm.pointer<"o">] warps 1 {
^bb0(%M: i32, %N: i32, %D: i32, %q: !tile.tensor<2, bf16>, %k: !tile.tensor<2, bf16>, %v: !tile.tensor<2, bf16>, %o: !tile.tensor<2, bf16>):
  %zero = arith.constant 0 : i32
  %ninf = arith.constant 0xFF800000 : f32
  %f0 = arith.constant 0.0 : f32
  %log2e = arith.constant 1.44269502 : f32
  // For branches and loops of mutants.
  %one = arith.constant 1 : i32
  %c = arith.cmpi slt, %M, %N : i32
  %qs = sm.alloc : !qb
  %ks = sm.alloc : !kb
  %vs = sm.alloc : !kb
  %i = sm.range %zero : tensor<16xi32, #i>
  %Mi = sm.splat %M : i32 -> tensor<16xi32, #i>
  %pi = arith.cmpi slt, %i, %Mi : tensor<16xi32, #i>
  %d = sm.range %zero : tensor<16xi32, #d>
  %Dd = sm.splat %D : i32 -> tensor<16xi32, #d>
  %pd = arith.cmpi slt, %d, %Dd : tensor<16xi32, #d>
  %ci = sm.range %zero : tensor<16xi32, #ci>
  %cMi = sm.splat %M : i32 -> tensor<16xi32, #ci>
  %cpi = arith.cmpi slt, %ci, %cMi : tensor<16xi32, #ci>
  %cj = sm.range %zero : tensor<16xi32, #cj>
  %cNj = sm.splat %N : i32 -> tensor<16xi32, #cj>
  %cpj = arith.cmpi slt, %cj, %cNj : tensor<16xi32, #cj>
  %cd = sm.range %zero : tensor<16xi32, #cd>
  %cDd = sm.splat %D : i32 -> tensor<16xi32, #cd>
  %cpd = arith.cmpi slt, %cd, %cDd : tensor<16xi32, #cd>
  sm.copy %q[%ci, %cd : tensor<16xi32, #ci>, tensor<16xi32, #cd>] where(%cpi, %cpd : tensor<16xi1, #ci>, tensor<16xi1, #cd>) to %qs layout <<"i" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !qb
  sm.copy %k[%cj, %cd : tensor<16xi32, #cj>, tensor<16xi32, #cd>] where(%cpj, %cpd : tensor<16xi1, #cj>, tensor<16xi1, #cd>) to %ks layout <<"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !kb
  sm.copy %v[%cj, %cd : tensor<16xi32, #cj>, tensor<16xi32, #cd>] where(%cpj, %cpd : tensor<16xi1, #cj>, tensor<16xi1, #cd>) to %vs layout <<"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !kb
  %s0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %s = sm.mma %qs, %ks init %s0 over "d" where(%pd : tensor<16xi1, #d>) : !qb, !kb -> tensor<16x16xf32, #ij>
  %j = sm.range %zero : tensor<16xi32, #j>
  %Nj = sm.splat %N : i32 -> tensor<16xi32, #j>
  %pj = arith.cmpi slt, %j, %Nj : tensor<16xi32, #j>
  %pij = sm.broadcast %pj : tensor<16xi1, #j> -> tensor<16x16xi1, #ij>
  %none = sm.splat %ninf : f32 -> tensor<16x16xf32, #ij>
  %masked = arith.select %pij, %s, %none : tensor<16x16xi1, #ij>, tensor<16x16xf32, #ij>
  %m = sm.reduce max %masked over "j" where(%pj : tensor<16xi1, #j>) : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  %ninfi = sm.splat %ninf : f32 -> tensor<16xf32, #i>
  %f0i = sm.splat %f0 : f32 -> tensor<16xf32, #i>
  %empty = arith.cmpf oeq, %m, %ninfi : tensor<16xf32, #i>
  %ref = arith.select %empty, %f0i, %m : tensor<16xi1, #i>, tensor<16xf32, #i>
  %refs = sm.broadcast %ref : tensor<16xf32, #i> -> tensor<16x16xf32, #ij>
  %below = arith.subf %masked, %refs : tensor<16x16xf32, #ij>
  %scale = sm.splat %log2e : f32 -> tensor<16x16xf32, #ij>
  %scaled = arith.mulf %below, %scale : tensor<16x16xf32, #ij>
  %w = math.exp2 %scaled : tensor<16x16xf32, #ij>
  %p = sm.convert %w sat : tensor<16x16xf32, #ij> -> tensor<16x16xbf16, #ij>
  %a0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #id>
  %a = sm.mma %p, %vs init %a0 over "j" where(%pj : tensor<16xi1, #j>) : tensor<16x16xbf16, #ij>, !kb -> tensor<16x16xf32, #id>
  %out = sm.convert %a sat : tensor<16x16xf32, #id> -> tensor<16x16xbf16, #id>
  sm.store %out, %o[%i, %d : tensor<16xi32, #i>, tensor<16xi32, #d>] where(%pi, %pd : tensor<16xi1, #i>, tensor<16xi1, #d>) vector 2 : tensor<16x16xbf16, #id>, !tile.tensor<2, bf16>
  sm.return
}
