// Absent lanes of a reduction are its identity.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile-obligations))' -split-input-file | FileCheck %s

// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.select {{.*}} : tensor<?x?xi1
// CHECK: tile.reduce max %{{.*}} over ["j"] where
// CHECK: tile.store
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %j = tile.range %zero : tensor<?xi32, #tile.axes<"j">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce max %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// CHECK: arith.constant 0x7F800000 : f32
// CHECK: tile.reduce min %{{.*}} over ["j"] where
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %j = tile.range %zero : tensor<?xi32, #tile.axes<"j">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce min %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// The fill is the identity of a sum.
// CHECK: tile.load {{.*}}fill = #tile.fill<zero>
// CHECK-NOT: arith.select
// CHECK: tile.reduce add %{{.*}} over ["j"] where
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %j = tile.range %zero : tensor<?xi32, #tile.axes<"j">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce add %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}
