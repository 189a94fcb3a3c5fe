// Softmax becomes plain operations, each step guarded against rows without keys.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s --tile-expand-softmax --cse | FileCheck %s
// CHECK: scf.for
// CHECK: %[[TOP:.*]] = tile.reduce max
// CHECK: %[[MAX:.*]] = arith.maximumf %{{.*}}, %[[TOP]]
// The reference is 0 where the maximum is -inf; the compare is false for NaN.
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MAX]]
// CHECK: %[[REF:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[MAX]]
// CHECK: math.exp2
// CHECK: math.exp2
// CHECK: tile.reduce add
// CHECK: scf.yield
// CHECK: arith.divf
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// The log of 0 is -inf, as that of a row without keys has to be.
// CHECK: math.log
// CHECK-NOT: arith.select
// CHECK-NOT: tile.softmax

// A weight is guarded by its sum alone.
// RUN: selvedge compile %templates/softmax.tile --arch sm_80 --emit tile -o - | selvedge-opt --tile-expand-softmax --cse | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: arith.select
// WEIGHT: scf.yield
// WEIGHT: scf.for
// WEIGHT-NOT: arith.select
// WEIGHT: %[[EMPTY:.*]] = arith.cmpf oeq
// WEIGHT: arith.select
// WEIGHT-NOT: arith.select
// WEIGHT: tile.store
tile.program @flash_fwd dims ["B","M","G","R","N"] tensors [
  #tile.tensor_arg<name="q", role=in, elementType=bf16, shape=()[s0,s1,s2,s3,s4] -> (s0,s1,s2*s3,128)>,
  #tile.tensor_arg<name="k", role=in, elementType=bf16, shape=()[s0,s1,s2,s3,s4] -> (s0,s4,s2,128)>,
  #tile.tensor_arg<name="v", role=in, elementType=bf16, shape=()[s0,s1,s2,s3,s4] -> (s0,s4,s2,128)>,
  #tile.tensor_arg<name="o", role=out, elementType=bf16, shape=()[s0,s1,s2,s3,s4] -> (s0,s1,s2*s3,128), init = 0.0 : f32>,
  #tile.tensor_arg<name="lse", role=out, elementType=f32, shape=()[s0,s1,s2,s3,s4] -> (s0,s2*s3,s1), init = 0xFF800000 : f32>]
  scalars [#tile.scalar_arg<name="scale", type=f32, value=0.08838 : f32>] requires [] params {} {
 tile.kernel @main ranges [#tile.iter<name="b", extent=()[s0,s1,s2,s3,s4]->(s0)>, #tile.iter<name="g", extent=()[s0,s1,s2,s3,s4]->(s2)>, #tile.iter<name="u", extent=()[s0,s1,s2,s3,s4]->(s3)>, #tile.iter<name="i", extent=()[s0,s1,s2,s3,s4]->(s1), block="BM">]
  axes [#tile.axis<name="i", block="BM">, #tile.axis<name="D", extent=128>, #tile.axis<name="j", block="BN">, #tile.axis<name="DV", extent=128>] {
 ^bb0(%B:i32,%M:i32,%G:i32,%R:i32,%N:i32,%q:!tile.tensor<4, bf16>,%k:!tile.tensor<4, bf16>,%v:!tile.tensor<4, bf16>,%o:!tile.tensor<4, bf16>,%lse:!tile.tensor<3, f32>,%scale:f32,%b:i32,%g:i32,%u:i32,%i0:i32):
  %gr = arith.muli %g, %R : i32
  %h = arith.addi %gr, %u : i32
  %c0 = arith.constant 0 : i32
  %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
  %d = tile.range %c0 : tensor<?xi32, #tile.axes<"D">>
  %dv = tile.range %c0 : tensor<?xi32, #tile.axes<"DV">>
  %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
  %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
  %Q = tile.load %q[%b,%i,%h,%d : i32, tensor<?xi32,#tile.axes<"i">>, i32, tensor<?xi32,#tile.axes<"D">>] where (%pi : tensor<?xi1,#tile.axes<"i">>) {fill = #tile.fill<zero>} : !tile.tensor<4, bf16> -> tensor<?x?xbf16, #tile.axes<"i","D">>
  %f0 = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %m0 = tile.splat %ninf : f32 -> tensor<?xf32,#tile.axes<"i">>
  %l0 = tile.splat %f0 : f32 -> tensor<?xf32,#tile.axes<"i">>
  %a0 = tile.splat %f0 : f32 -> tensor<?x?xf32,#tile.axes<"i","DV">>
  %bn = tile.block_size "BN"
  %r:3 = scf.for %j0 = %c0 to %N step %bn iter_args(%m=%m0,%l=%l0,%acc=%a0) -> (tensor<?xf32,#tile.axes<"i">>,tensor<?xf32,#tile.axes<"i">>,tensor<?x?xf32,#tile.axes<"i","DV">>) : i32 {
   %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
   %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
   %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
   %K = tile.load %k[%b,%j,%g,%d : i32, tensor<?xi32,#tile.axes<"j">>, i32, tensor<?xi32,#tile.axes<"D">>] where (%pj : tensor<?xi1,#tile.axes<"j">>) {fill = #tile.fill<zero>} : !tile.tensor<4, bf16> -> tensor<?x?xbf16, #tile.axes<"D","j">>
   %V = tile.load %v[%b,%j,%g,%dv : i32, tensor<?xi32,#tile.axes<"j">>, i32, tensor<?xi32,#tile.axes<"DV">>] where (%pj : tensor<?xi1,#tile.axes<"j">>) {fill = #tile.fill<zero>} : !tile.tensor<4, bf16> -> tensor<?x?xbf16, #tile.axes<"j","DV">>
   %s0 = tile.dot %Q, %K over ["D"] : tensor<?x?xbf16, #tile.axes<"i","D">>, tensor<?x?xbf16, #tile.axes<"D","j">> -> tensor<?x?xf32,#tile.axes<"i","j">>
   %sc = tile.splat %scale : f32 -> tensor<?x?xf32,#tile.axes<"i","j">>
   %s1 = arith.mulf %s0, %sc : tensor<?x?xf32,#tile.axes<"i","j">>
   %pjb = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i","j">>
   %nb = tile.splat %ninf : f32 -> tensor<?x?xf32,#tile.axes<"i","j">>
   %s = arith.select %pjb, %s1, %nb : tensor<?x?xi1, #tile.axes<"i","j">>, tensor<?x?xf32,#tile.axes<"i","j">>
   %p, %m2, %l2, %acc2 = tile.softmax_update %s, %m, %l rescales (%acc : tensor<?x?xf32,#tile.axes<"i","DV">>) over "j" : tensor<?x?xf32,#tile.axes<"i","j">>, tensor<?xf32,#tile.axes<"i">>, tensor<?xf32,#tile.axes<"i">> -> tensor<?x?xf32,#tile.axes<"i","j">>, tensor<?xf32,#tile.axes<"i">>, tensor<?xf32,#tile.axes<"i">>, tensor<?x?xf32,#tile.axes<"i","DV">>
   %pt = tile.convert %p sat : tensor<?x?xf32,#tile.axes<"i","j">> -> tensor<?x?xbf16,#tile.axes<"i","j">>
   %acc3 = tile.dot %pt, %V init %acc2 : tensor<?x?xf32,#tile.axes<"i","DV">> over ["j"] : tensor<?x?xbf16,#tile.axes<"i","j">>, tensor<?x?xbf16, #tile.axes<"j","DV">> -> tensor<?x?xf32,#tile.axes<"i","DV">>
   scf.yield %m2,%l2,%acc3 : tensor<?xf32,#tile.axes<"i">>,tensor<?xf32,#tile.axes<"i">>,tensor<?x?xf32,#tile.axes<"i","DV">>
  }
  %on = tile.softmax_normalize %r#2, %r#1 : tensor<?x?xf32,#tile.axes<"i","DV">>, tensor<?xf32,#tile.axes<"i">> -> tensor<?x?xf32,#tile.axes<"i","DV">>
  %ob = tile.convert %on sat : tensor<?x?xf32,#tile.axes<"i","DV">> -> tensor<?x?xbf16,#tile.axes<"i","DV">>
  tile.store %ob, %o[%b,%i,%h,%dv : i32, tensor<?xi32,#tile.axes<"i">>, i32, tensor<?xi32,#tile.axes<"DV">>] where (%pi : tensor<?xi1,#tile.axes<"i">>) : tensor<?x?xbf16,#tile.axes<"i","DV">>, !tile.tensor<4, bf16>
  %ls = tile.softmax_lse %r#0, %r#1 : tensor<?xf32,#tile.axes<"i">>, tensor<?xf32,#tile.axes<"i">> -> tensor<?xf32,#tile.axes<"i">>
  tile.store %ls, %lse[%b,%h,%i : i32,i32,tensor<?xi32,#tile.axes<"i">>] where (%pi : tensor<?xi1,#tile.axes<"i">>) : tensor<?xf32,#tile.axes<"i">>, !tile.tensor<3, f32>
  tile.return
 }
}
