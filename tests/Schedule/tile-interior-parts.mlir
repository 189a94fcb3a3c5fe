// Full steps of blocks inside their tensors load without tests; what other sinks test stays, and so do loops with predicates of the index.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -tile-interior-parts -split-input-file | FileCheck %s
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile-interior-parts,tile-bind-blocks{arch=sm_80},tile.program(tile.kernel(verify-tile-known)))' -split-input-file -o /dev/null

// CHECK-LABEL: tile.program @rows
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: %[[END:.*]] = tile.block_size "BM"
// CHECK: %[[INSIDE:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK: %[[COUNT:.*]] = arith.muli %[[INSIDE]], %{{.*}} : i64
// CHECK: %[[LIMIT:.*]] = arith.minsi %{{.*}}, %[[COUNT]] : i64
// CHECK: %[[UP:.*]] = arith.trunci %[[LIMIT]] : i64 to i32
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %{{.*}} to %[[UP]] step
// CHECK: %[[KNOWN:.*]] = tile.known %[[IN]]
// CHECK: tile.load %{{.*}} where(%[[KNOWN]] :
// CHECK: arith.select %[[IN]]
// CHECK: arith.subi %{{.*}}, %[[INSIDE]] : i64
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK-NOT: tile.known
// CHECK: tile.load %{{.*}} where(%[[IN]] :
tile.program @rows dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %bn = tile.block_size "BN"
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %r = scf.for %j0 = %c0 to %N step %bn iter_args(%acc = %zeros) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : <2, f32> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %s = tile.reduce add %v over ["j"] : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
      %t = arith.select %in, %s, %acc : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      scf.yield %t : tensor<?xf32, #tile.axes<"i">>
    }
    tile.return
  }
}

// -----

// CHECK-LABEL: tile.program @partial_steps
// CHECK: scf.for
// CHECK-NOT: scf.for
tile.program @partial_steps dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %bn = tile.block_size "BN"
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %inj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%in, %inj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : <2, f32> -> tensor<?x?xf32, #tile.axes<"i", "j">>
    }
    tile.return
  }
}

// -----

// A sum over the rows needs the fills of those that do not exist.
// CHECK-LABEL: tile.program @sums
// CHECK: scf.for
// CHECK-NOT: tile.known
// CHECK-NOT: scf.for
tile.program @sums dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %bn = tile.block_size "BN"
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %r = scf.for %j0 = %c0 to %N step %bn iter_args(%acc = %zero) -> (f32) : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : <2, f32> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %s = tile.reduce add %v over ["i", "j"] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> f32
      %n = arith.addf %acc, %s : f32
      scf.yield %n : f32
    }
    tile.return
  }
}
