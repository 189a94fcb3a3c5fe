// Predicates that bound sizes make true are gone: of an axis whose size is a constant, and of blocks of one element, of which there is one for each.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile-simplify-presence,canonicalize,cse)' | FileCheck %s

tile.program @rows dims ["M", "N"] tensors [
  #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>,
  #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>
] scalars [] requires [] params {} {
  // CHECK-LABEL: tile.kernel @single
  tile.kernel @single ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] sizes {i = 1 : i64, j = 32 : i64} warps 1 {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : tensor<1xi32, #tile.axes<"i">>
    %j = tile.range %zero : tensor<32xi32, #tile.axes<"j">>
    %rows = tile.splat %M : i32 -> tensor<1xi32, #tile.axes<"i">>
    %cols = tile.splat %N : i32 -> tensor<32xi32, #tile.axes<"j">>
    %other = tile.splat %N : i32 -> tensor<1xi32, #tile.axes<"i">>
    // CHECK: %[[COLS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<32xi32
    // CHECK: %[[OTHER:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<1xi32
    %p = arith.cmpi slt, %i, %rows : tensor<1xi32, #tile.axes<"i">>
    %q = arith.cmpi slt, %j, %cols : tensor<32xi32, #tile.axes<"j">>
    %o = arith.cmpi slt, %i, %other : tensor<1xi32, #tile.axes<"i">>
    // Rows below another dimension, and rows one further, remain tested.
    // CHECK: tile.load %{{.*}} where(%[[OTHER]], %[[COLS]] :
    %v = tile.load %x[%i, %j : tensor<1xi32, #tile.axes<"i">>, tensor<32xi32, #tile.axes<"j">>] where(%p, %o, %q : tensor<1xi1, #tile.axes<"i">>, tensor<1xi1, #tile.axes<"i">>, tensor<32xi1, #tile.axes<"j">>) : <2, f32> -> tensor<1x32xf32, #tile.axes<"i", "j">>
    // CHECK: tile.store %{{.*}} where(%[[COLS]] :
    tile.store %v, %y[%i, %j : tensor<1xi32, #tile.axes<"i">>, tensor<32xi32, #tile.axes<"j">>] where(%p, %q : tensor<1xi1, #tile.axes<"i">>, tensor<32xi1, #tile.axes<"j">>) : tensor<1x32xf32, #tile.axes<"i", "j">>, <2, f32>
    tile.return
  }

  // CHECK-LABEL: tile.kernel @pairs
  tile.kernel @pairs ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] sizes {i = 2 : i64, j = 32 : i64} warps 1 {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<2xi32, #tile.axes<"i">>
    %rows = tile.splat %M : i32 -> tensor<2xi32, #tile.axes<"i">>
    // CHECK: %[[ROWS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<2xi32
    %p = arith.cmpi slt, %i, %rows : tensor<2xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %v = arith.constant dense<0.0> : tensor<2xf32, #tile.axes<"i">>
    // CHECK: tile.store %{{.*}} where(%[[ROWS]] :
    tile.store %v, %y[%i, %zero : tensor<2xi32, #tile.axes<"i">>, i32] where(%p : tensor<2xi1, #tile.axes<"i">>) : tensor<2xf32, #tile.axes<"i">>, <2, f32>
    tile.return
  }
}
