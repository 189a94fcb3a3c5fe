// Compares of sums compare ranges with the clamped 64-bit sum of the rest; simple compares stay.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile-exact-compares))' | FileCheck %s

tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [#tile.scalar_arg<name = "W", type = i32>, #tile.scalar_arg<name = "V", type = i32>] requires [] params {} {
  // CHECK-LABEL: tile.kernel @window
  // CHECK: ^bb0(%[[M:.*]]: i32, %[[N:.*]]: i32, %{{.*}}: !tile.tensor<1, f32>, %[[W:.*]]: i32, %[[V:.*]]: i32, %[[I0:.*]]: i32):
  tile.kernel @window ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<1, f32>, %W: i32, %V: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %step = tile.block_size "BN"
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Wi = tile.splat %W : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Vi = tile.splat %V : i32 -> tensor<?xi32, #tile.axes<"i">>
    %a = arith.subi %i, %Wi : tensor<?xi32, #tile.axes<"i">>
    %b = arith.addi %a, %Vi : tensor<?xi32, #tile.axes<"i">>
    %bij = tile.broadcast %b : tensor<?xi32, #tile.axes<"i">> -> tensor<?x?xi32, #tile.axes<"i", "j">>
    %f = arith.constant 0.0 : f32
    %acc = tile.splat %f : f32 -> tensor<?xf32, #tile.axes<"i">>
    // The sum stands before the loop.
    // CHECK-DAG: %[[W64:.*]] = arith.extsi %[[W]] : i32 to i64
    // CHECK-DAG: %[[V64:.*]] = arith.extsi %[[V]] : i32 to i64
    // CHECK-DAG: %[[NEG:.*]] = arith.subi %c0_i64, %[[W64]] : i64
    // CHECK-DAG: %[[SUM:.*]] = arith.addi %[[NEG]], %[[V64]] : i64
    // CHECK: %[[LO:.*]] = arith.maxsi %[[SUM]], %c-2147483648_i64 : i64
    // CHECK: %[[HI:.*]] = arith.minsi %[[LO]], %c2147483647_i64 : i64
    // CHECK: %[[C:.*]] = arith.trunci %[[HI]] : i64 to i32
    // CHECK: scf.for %[[J0:[^ ]*]] =
    %s = scf.for %j0 = %zero to %N step %step iter_args(%r = %acc) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %Nj = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
      // CHECK: %[[J:[^ ]*]] = tile.range %[[J0]]
      // CHECK: %[[NJ:[^ ]*]] = tile.splat %[[N]]
      // CHECK: arith.cmpi slt, %[[J]], %[[NJ]]
      %p = arith.cmpi slt, %j, %Nj : tensor<?xi32, #tile.axes<"j">>
      %jij = tile.broadcast %j : tensor<?xi32, #tile.axes<"j">> -> tensor<?x?xi32, #tile.axes<"i", "j">>
      // CHECK: %[[D:[^ ]*]] = arith.subi
      // CHECK: %[[CS:[^ ]*]] = tile.splat %[[C]]
      // CHECK: arith.cmpi sgt, %[[D]], %[[CS]]
      %q = arith.cmpi sgt, %jij, %bij : tensor<?x?xi32, #tile.axes<"i", "j">>
      %v = tile.load %x[%j : tensor<?xi32, #tile.axes<"j">>] where(%p : tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"j">>
      %vij = tile.broadcast %v : tensor<?xf32, #tile.axes<"j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %t = tile.reduce add %vij over ["j"] where(%p, %q : tensor<?xi1, #tile.axes<"j">>, tensor<?x?xi1, #tile.axes<"i", "j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
      %u = arith.addf %r, %t : tensor<?xf32, #tile.axes<"i">>
      scf.yield %u : tensor<?xf32, #tile.axes<"i">>
    }
    tile.return
  }

  // What 32 bits do not hold is the nearest that they do: indices compare the same.
  // CHECK-LABEL: tile.kernel @extremes
  // CHECK: ^bb0(%[[M:.*]]: i32, %[[N:.*]]: i32, %{{.*}}: !tile.tensor<1, f32>, %[[W:.*]]: i32, %[[V:.*]]: i32, %[[I0:.*]]: i32):
  tile.kernel @extremes ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<1, f32>, %W: i32, %V: i32, %i0: i32):
    // CHECK: %[[I:[^ ]*]] = tile.range %[[I0]]
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %min = arith.constant -2147483648 : i32
    %max = arith.constant 2147483647 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %mins = tile.splat %min : i32 -> tensor<?xi32, #tile.axes<"i">>
    %maxs = tile.splat %max : i32 -> tensor<?xi32, #tile.axes<"i">>
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ws = tile.splat %W : i32 -> tensor<?xi32, #tile.axes<"i">>
    // i + (-2^31) < 1 means i < 2^31 + 1.
    // CHECK: arith.addi
    // CHECK: %[[S:[^ ]*]] = tile.splat %c2147483647_i32
    // CHECK: arith.cmpi slt, %[[I]], %[[S]]
    %a = arith.addi %i, %mins : tensor<?xi32, #tile.axes<"i">>
    %pa = arith.cmpi slt, %a, %ones : tensor<?xi32, #tile.axes<"i">>
    // i + (2^31 - 1) + 1 >= 0 means i >= -2^31.
    // CHECK: arith.addi
    // CHECK: %[[S:[^ ]*]] = tile.splat %c-2147483648_i32
    // CHECK: arith.cmpi sge, %[[I]], %[[S]]
    %b = arith.addi %i, %maxs : tensor<?xi32, #tile.axes<"i">>
    %b1 = arith.addi %b, %ones : tensor<?xi32, #tile.axes<"i">>
    %pb = arith.cmpi sge, %b1, %zeros : tensor<?xi32, #tile.axes<"i">>
    // W <= i - 0 is i >= W: one scalar needs no sum.
    // CHECK: arith.subi
    // CHECK: %[[S:[^ ]*]] = tile.splat %[[W]]
    // CHECK: arith.cmpi sge, %[[I]], %[[S]]
    %c = arith.subi %i, %zeros : tensor<?xi32, #tile.axes<"i">>
    %pc = arith.cmpi sle, %Ws, %c : tensor<?xi32, #tile.axes<"i">>
    // What memory says is an index as far as it was cut to one.
    // CHECK: %[[START:[^ ]*]] = arith.minsi %{{.*}}, %c2147467263_i32
    // CHECK: %[[CUT:[^ ]*]] = tile.range %[[START]]
    // CHECK: %[[V64:[^ ]*]] = arith.extsi %[[V]] : i32 to i64
    // CHECK: %[[S:[^ ]*]] = tile.splat
    // CHECK: arith.cmpi slt, %[[CUT]], %[[S]]
    %most = arith.constant 2147467263 : i32
    %positive = arith.maxsi %W, %zero : i32
    %start = arith.minsi %positive, %most : i32
    %cut = tile.range %start : tensor<?xi32, #tile.axes<"i">>
    %Vs = tile.splat %V : i32 -> tensor<?xi32, #tile.axes<"i">>
    %near = arith.subi %cut, %Vs : tensor<?xi32, #tile.axes<"i">>
    %pg = arith.cmpi slt, %near, %ones : tensor<?xi32, #tile.axes<"i">>
    // What was not stays, and so does what may have more lanes than there are indices.
    // CHECK: %[[OPEN:[^ ]*]] = tile.range %{{[a-z]*}}
    // CHECK: %[[FAR:[^ ]*]] = arith.subi %[[OPEN]]
    // CHECK: arith.cmpi slt, %[[FAR]], %
    %open = tile.range %positive : tensor<?xi32, #tile.axes<"i">>
    %far = arith.subi %open, %Vs : tensor<?xi32, #tile.axes<"i">>
    %ph = arith.cmpi slt, %far, %ones : tensor<?xi32, #tile.axes<"i">>
    // Twice a range stays.
    // CHECK: %[[II:[^ ]*]] = arith.addi %[[I]], %[[I]]
    // CHECK: arith.cmpi eq, %[[II]],
    %d = arith.addi %i, %i : tensor<?xi32, #tile.axes<"i">>
    %pd = arith.cmpi eq, %d, %Ws : tensor<?xi32, #tile.axes<"i">>
    %f = arith.constant 0.0 : f32
    %fs = tile.splat %f : f32 -> tensor<?xf32, #tile.axes<"i">>
    %r = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pa, %pb, %pc, %pd, %pg, %ph : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %u = tile.reduce add %r over ["i"] where(%pa : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">> -> f32
    // A scalar compare keeps the index on its left.
    // CHECK: arith.cmpi slt, %[[I0]], %
    %e = arith.addi %i0, %W : i32
    %pe = arith.cmpi slt, %e, %N : i32
    scf.if %pe {
      %g = tile.load %x[%i0 : i32] where(%pe : i1) : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}
