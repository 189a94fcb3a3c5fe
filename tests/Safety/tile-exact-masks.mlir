// A sum that masked data can make NaN is tested after the loops and computed again, one lane of the contracted axis at a time, with each term selected.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile.kernel(tile-exact-masks)))' -split-input-file | FileCheck %s
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile.kernel(tile-exact-masks)),tile-simplify-presence,canonicalize,cse,tile-to-sm,sm.kernel(verify-sm-padding),verify-sm-bounds)' -split-input-file -o /dev/null

// The verifier of form seq sees whether a term is selected: the right way round.
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile.kernel(tile-exact-masks)),tile-simplify-presence,canonicalize,cse,tile-to-sm)' -split-input-file -o %t.seq
// RUN: sed -E 's/arith.select (%[0-9]+), (%[0-9]+), (%[0-9]+) (: tensor<64x32x1xi1)/arith.select \1, \3, \2 \4/' %t.seq > %t.swapped
// RUN: not selvedge-opt %t.swapped -split-input-file -pass-pipeline='builtin.module(sm.kernel(verify-sm-padding))' 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 'sm.reduce' op expects the identity at absent lanes of axis 'j.lane'

// The mask speaks of i, which x lacks: x is data of other rows. The last part of the loop tests every predicate, the lanes of all parts run.
// CHECK-LABEL: tile.kernel @masked
// CHECK-SAME: #tile.axis<name = "j.lane", extent = 1>
// CHECK-SAME: j.lane = 1 : i64
// CHECK: scf.for %{{.*}} = %[[LOW:.*]] to %[[FULL:.*]] step
// CHECK: %[[HOT:.*]] = scf.for %{{.*}} = %[[FULL]] to %[[HIGH:.*]] step
// CHECK: tile.dot
// CHECK: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK: %[[SIZE:.*]] = math.absf %[[HOT]]
// CHECK: %[[LIMIT:.*]] = tile.splat %[[INF]]
// CHECK: %[[BAD:.*]] = arith.cmpf uge, %[[SIZE]], %[[LIMIT]]
// CHECK: %[[REDO:.*]] = tile.any %[[BAD]]
// CHECK: %[[EXACT:.*]] = scf.if %[[REDO]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[AGAIN:.*]] = scf.for %[[J:.*]] = %[[LOW]] to %[[HIGH]] step %[[ONE]] iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: tile.range %[[J]] : tensor<1xi32, #tile.axes<"j.lane">>
// CHECK: %[[KEEP:.*]] = arith.cmpi sle, {{.*}} : tensor<64x1xi32, #tile.axes<"i", "j.lane">>
// CHECK-NOT: tile.dot
// CHECK: %[[TERM:.*]] = arith.mulf {{.*}} : tensor<64x32x1xf32, #tile.axes<"i", "E", "j.lane">>
// CHECK: %[[WIDE:.*]] = tile.broadcast %[[KEEP]]
// CHECK: %[[EXISTS:.*]] = arith.andi %{{.*}}, %[[WIDE]]
// CHECK: %[[CHOSEN:.*]] = arith.select %[[EXISTS]], %[[TERM]]
// CHECK: %[[TERMS:.*]] = tile.reduce add %[[CHOSEN]] over ["j.lane"] where({{.*}}%[[KEEP]] :
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERMS]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: scf.yield %[[AGAIN]]
// CHECK: scf.yield %[[HOT]]
// CHECK: tile.store %[[EXACT]]
tile.program @masked dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "w", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s1, 32)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, 32), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @masked ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "E", extent = 32>, #tile.axis<name = "j", block = "BN">]
      sizes {E = 32 : i64, i = 64 : i64, j = 16 : i64} warps 4 {
  ^bb0(%M: i32, %N: i32, %w: !tile.tensor<2, bf16>, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<2, f32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant 0.0 : f32
    %zero16 = arith.constant 0.0 : bf16
    %i = tile.range %i0 : tensor<64xi32, #tile.axes<"i">>
    %m = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"i">>
    %rows = arith.cmpi slt, %i, %m : tensor<64xi32, #tile.axes<"i">>
    %e = tile.range %c0 : tensor<32xi32, #tile.axes<"E">>
    %n = tile.splat %N : i32 -> tensor<16xi32, #tile.axes<"j">>
    %none = tile.splat %zero16 : bf16 -> tensor<64x16xbf16, #tile.axes<"i", "j">>
    %acc0 = tile.splat %zero : f32 -> tensor<64x32xf32, #tile.axes<"i", "E">>
    %full = arith.minsi %c0, %N : i32
    %part = scf.for %j0 = %c0 to %full step %c16 iter_args(%acc = %acc0) -> (tensor<64x32xf32, #tile.axes<"i", "E">>) : i32 {
      scf.yield %acc : tensor<64x32xf32, #tile.axes<"i", "E">>
    }
    %sum = scf.for %j0 = %full to %N step %c16 iter_args(%acc = %part) -> (tensor<64x32xf32, #tile.axes<"i", "E">>) : i32 {
      %j = tile.range %j0 : tensor<16xi32, #tile.axes<"j">>
      %in = arith.cmpi slt, %j, %n : tensor<16xi32, #tile.axes<"j">>
      %jj = tile.broadcast %j : tensor<16xi32, #tile.axes<"j">> -> tensor<64x16xi32, #tile.axes<"i", "j">>
      %ii = tile.broadcast %i : tensor<64xi32, #tile.axes<"i">> -> tensor<64x16xi32, #tile.axes<"i", "j">>
      %keep = arith.cmpi sle, %jj, %ii : tensor<64x16xi32, #tile.axes<"i", "j">>
      %p = tile.load %w[%i, %j : tensor<64xi32, #tile.axes<"i">>, tensor<16xi32, #tile.axes<"j">>] where(%rows, %in : tensor<64xi1, #tile.axes<"i">>, tensor<16xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : <2, bf16> -> tensor<64x16xbf16, #tile.axes<"i", "j">>
      %inn = tile.broadcast %in : tensor<16xi1, #tile.axes<"j">> -> tensor<64x16xi1, #tile.axes<"i", "j">>
      %both = arith.andi %inn, %keep : tensor<64x16xi1, #tile.axes<"i", "j">>
      %masked = arith.select %both, %p, %none : tensor<64x16xi1, #tile.axes<"i", "j">>, tensor<64x16xbf16, #tile.axes<"i", "j">>
      %v = tile.load %x[%j, %e : tensor<16xi32, #tile.axes<"j">>, tensor<32xi32, #tile.axes<"E">>] where(%in : tensor<16xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : <2, bf16> -> tensor<32x16xbf16, #tile.axes<"E", "j">>
      %next = tile.dot %masked, %v init %acc : tensor<64x32xf32, #tile.axes<"i", "E">> over ["j"] where(%in, %keep : tensor<16xi1, #tile.axes<"j">>, tensor<64x16xi1, #tile.axes<"i", "j">>) : tensor<64x16xbf16, #tile.axes<"i", "j">>, tensor<32x16xbf16, #tile.axes<"E", "j">> -> tensor<64x32xf32, #tile.axes<"i", "E">>
      scf.yield %next : tensor<64x32xf32, #tile.axes<"i", "E">>
    }
    tile.store %sum, %y[%i, %e : tensor<64xi32, #tile.axes<"i">>, tensor<32xi32, #tile.axes<"E">>] where(%rows : tensor<64xi1, #tile.axes<"i">>) : tensor<64x32xf32, #tile.axes<"i", "E">>, <2, f32>
    tile.return
  }
}

// -----

// Lanes that are absent in both operands are zero in both: nothing to do.
// CHECK-LABEL: tile.kernel @unmasked
// CHECK: tile.dot
// CHECK-NOT: scf.if
tile.program @unmasked dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "w", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s1, 32)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, 32), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @unmasked ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "E", extent = 32>, #tile.axis<name = "j", block = "BN">]
      sizes {E = 32 : i64, i = 64 : i64, j = 16 : i64} warps 4 {
  ^bb0(%M: i32, %N: i32, %w: !tile.tensor<2, bf16>, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<2, f32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant 0.0 : f32
    %i = tile.range %i0 : tensor<64xi32, #tile.axes<"i">>
    %m = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"i">>
    %rows = arith.cmpi slt, %i, %m : tensor<64xi32, #tile.axes<"i">>
    %e = tile.range %c0 : tensor<32xi32, #tile.axes<"E">>
    %n = tile.splat %N : i32 -> tensor<16xi32, #tile.axes<"j">>
    %acc0 = tile.splat %zero : f32 -> tensor<64x32xf32, #tile.axes<"i", "E">>
    %sum = scf.for %j0 = %c0 to %N step %c16 iter_args(%acc = %acc0) -> (tensor<64x32xf32, #tile.axes<"i", "E">>) : i32 {
      %j = tile.range %j0 : tensor<16xi32, #tile.axes<"j">>
      %in = arith.cmpi slt, %j, %n : tensor<16xi32, #tile.axes<"j">>
      %p = tile.load %w[%i, %j : tensor<64xi32, #tile.axes<"i">>, tensor<16xi32, #tile.axes<"j">>] where(%rows, %in : tensor<64xi1, #tile.axes<"i">>, tensor<16xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : <2, bf16> -> tensor<64x16xbf16, #tile.axes<"i", "j">>
      %v = tile.load %x[%j, %e : tensor<16xi32, #tile.axes<"j">>, tensor<32xi32, #tile.axes<"E">>] where(%in : tensor<16xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : <2, bf16> -> tensor<32x16xbf16, #tile.axes<"E", "j">>
      %next = tile.dot %p, %v init %acc : tensor<64x32xf32, #tile.axes<"i", "E">> over ["j"] where(%in : tensor<16xi1, #tile.axes<"j">>) : tensor<64x16xbf16, #tile.axes<"i", "j">>, tensor<32x16xbf16, #tile.axes<"E", "j">> -> tensor<64x32xf32, #tile.axes<"i", "E">>
      scf.yield %next : tensor<64x32xf32, #tile.axes<"i", "E">>
    }
    tile.store %sum, %y[%i, %e : tensor<64xi32, #tile.axes<"i">>, tensor<32xi32, #tile.axes<"E">>] where(%rows : tensor<64xi1, #tile.axes<"i">>) : tensor<64x32xf32, #tile.axes<"i", "E">>, <2, f32>
    tile.return
  }
}
