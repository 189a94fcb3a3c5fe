// One step of a causal softmax with one warp: padded rows and keys, a mask that no load carries, a maximum over filled lanes.
// SPDX-License-Identifier: MIT
#i = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>>
#j = #sm.layout<<"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#ij = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"j" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#d = #sm.layout<<"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#id = #sm.layout<<"i" regs[: 2] by[: 8] lanes[: 0, 0, 1, 2, 4] warps[]>, <"d" regs[: 2, 2] by[: 1, 8] lanes[: 2, 4, 0, 0, 0] warps[]>>
#cj = #sm.layout<<"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>>
#cd = #sm.layout<<"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>>
!vb = !sm.buffer<"j" x "d", 16 x 16 x bf16, swizzle 1, stages 1>
sm.kernel @k args [#sm.dim<"M">, #sm.dim<"N">, #sm.pointer<"s">, #sm.pointer<"v">, #sm.pointer<"o">, #sm.pointer<"top">, #sm.pointer<"sum">] warps 1 {
^bb0(%M: i32, %N: i32, %sg: !tile.tensor<2, f32>, %v: !tile.tensor<2, bf16>, %o: !tile.tensor<2, f32>, %top: !tile.tensor<1, f32>, %sum: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  %ninf = arith.constant 0xFF800000 : f32
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %log2e = arith.constant 1.44269502 : f32
  %i = sm.range %zero : tensor<16xi32, #i>
  %j = sm.range %zero : tensor<16xi32, #j>
  %d = sm.range %zero : tensor<16xi32, #d>
  %Mi = sm.splat %M : i32 -> tensor<16xi32, #i>
  %Nj = sm.splat %N : i32 -> tensor<16xi32, #j>
  %pi = arith.cmpi slt, %i, %Mi : tensor<16xi32, #i>
  %pj = arith.cmpi slt, %j, %Nj : tensor<16xi32, #j>
  %cj = sm.range %zero : tensor<16xi32, #cj>
  %cd = sm.range %zero : tensor<16xi32, #cd>
  %cNj = sm.splat %N : i32 -> tensor<16xi32, #cj>
  %cpj = arith.cmpi slt, %cj, %cNj : tensor<16xi32, #cj>
  %vs = sm.alloc : !vb
  sm.copy %v[%cj, %cd : tensor<16xi32, #cj>, tensor<16xi32, #cd>] where(%cpj : tensor<16xi1, #cj>) to %vs layout <<"j" regs[] by[] lanes[: 0, 1, 2, 4, 8] warps[]>, <"d" regs[: 8] by[: 1] lanes[: 8, 0, 0, 0, 0] warps[]>> vector 8 : !tile.tensor<2, bf16>, !vb
  %s = sm.load %sg[%i, %j : tensor<16xi32, #i>, tensor<16xi32, #j>] where(%pi, %pj : tensor<16xi1, #i>, tensor<16xi1, #j>) vector 1 : !tile.tensor<2, f32> -> tensor<16x16xf32, #ij>
  %ii = sm.broadcast %i : tensor<16xi32, #i> -> tensor<16x16xi32, #ij>
  %jj = sm.broadcast %j : tensor<16xi32, #j> -> tensor<16x16xi32, #ij>
  %keep = arith.cmpi sle, %jj, %ii : tensor<16x16xi32, #ij>
  // For mutants: off by one.
  %later = arith.cmpi slt, %jj, %ii : tensor<16x16xi32, #ij>
  %keys = sm.broadcast %pj : tensor<16xi1, #j> -> tensor<16x16xi1, #ij>
  %both = arith.andi %keys, %keep : tensor<16x16xi1, #ij>
  %none = sm.splat %ninf : f32 -> tensor<16x16xf32, #ij>
  %masked = arith.select %both, %s, %none : tensor<16x16xi1, #ij>, tensor<16x16xf32, #ij>
  %m = sm.reduce max %masked over "j" where(%pj, %keep : tensor<16xi1, #j>, tensor<16x16xi1, #ij>) : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  %ninfi = sm.splat %ninf : f32 -> tensor<16xf32, #i>
  %f0i = sm.splat %f0 : f32 -> tensor<16xf32, #i>
  %empty = arith.cmpf oeq, %m, %ninfi : tensor<16xf32, #i>
  %ref = arith.select %empty, %f0i, %m : tensor<16xi1, #i>, tensor<16xf32, #i>
  %refs = sm.broadcast %ref : tensor<16xf32, #i> -> tensor<16x16xf32, #ij>
  %below = arith.subf %masked, %refs : tensor<16x16xf32, #ij>
  %scale = sm.splat %log2e : f32 -> tensor<16x16xf32, #ij>
  %scaled = arith.mulf %below, %scale : tensor<16x16xf32, #ij>
  %w = math.exp2 %scaled : tensor<16x16xf32, #ij>
  %total = sm.reduce add %w over "j" where(%pj, %keep : tensor<16xi1, #j>, tensor<16x16xi1, #ij>) : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  %p = sm.convert %w sat : tensor<16x16xf32, #ij> -> tensor<16x16xbf16, #ij>
  %a0 = sm.splat %f0 : f32 -> tensor<16x16xf32, #id>
  %a = sm.mma %p, %vs init %a0 over "j" where(%pj, %keep : tensor<16xi1, #j>, tensor<16x16xi1, #ij>) : tensor<16x16xbf16, #ij>, !vb -> tensor<16x16xf32, #id>
  // max(s else 0): the program fills the keys that are absent, and means the fill.
  %zeros = sm.splat %f0 : f32 -> tensor<16x16xf32, #ij>
  %ones = sm.splat %f1 : f32 -> tensor<16x16xf32, #ij>
  %filled = arith.select %keys, %s, %zeros : tensor<16x16xi1, #ij>, tensor<16x16xf32, #ij>
  %t = sm.reduce max %filled over "j" : tensor<16x16xf32, #ij> -> tensor<16xf32, #i>
  sm.store %a, %o[%i, %d : tensor<16xi32, #i>, tensor<16xi32, #d>] where(%pi : tensor<16xi1, #i>) vector 2 : tensor<16x16xf32, #id>, !tile.tensor<2, f32>
  sm.store %t, %top[%i : tensor<16xi32, #i>] where(%pi : tensor<16xi1, #i>) vector 1 : tensor<16xf32, #i>, !tile.tensor<1, f32>
  sm.store %total, %sum[%i : tensor<16xi32, #i>] where(%pi : tensor<16xi1, #i>) vector 1 : tensor<16xf32, #i>, !tile.tensor<1, f32>
  sm.return
}
