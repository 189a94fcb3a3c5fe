// The key loop's copies are issued one iteration ahead into rings of two; the loop's awaits cover Q, which was issued before. No barrier is left at the end.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s --tile-expand-softmax --cse '--tile-bind-blocks=arch=sm_80' --canonicalize --cse --tile-to-sm --canonicalize --cse | selvedge-opt '-pass-pipeline=builtin.module(sm.kernel(sm-async-copies),cse)' | FileCheck %s
// CHECK: sm.plan "flash_fwd"
// CHECK: sm.variant <program> when ["q", "k", "v", "o"] align 16
// CHECK: sm.variant <universal> when [] align 0
// CHECK-LABEL: sm.kernel @flash_fwd_main_aligned
// CHECK: sm.alloc : {{.*}}stages 2>
// CHECK: sm.alloc : {{.*}}stages 2>
// CHECK: sm.alloc : {{.*}}stages 1>
// CHECK: sm.copy_async
// CHECK: sm.copy_async
// CHECK: %[[FIRST:.*]] = sm.copy_async
// CHECK-NOT: sm.await
// CHECK-NOT: sm.barrier
// CHECK: scf.for {{.*}} %[[TOKEN:[a-z0-9]+]] = %[[FIRST]])
// CHECK-NEXT: sm.await %[[TOKEN]]
// CHECK-NEXT: sm.barrier
// CHECK: sm.copy_async
// CHECK: sm.copy_async
// CHECK: sm.mma
// CHECK: sm.mma
// CHECK: scf.yield
// CHECK: sm.await
// CHECK-NOT: sm.barrier
// CHECK: sm.store
// CHECK-LABEL: sm.kernel @flash_fwd_main_universal
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
