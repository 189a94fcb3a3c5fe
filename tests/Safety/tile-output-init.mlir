// A store over the whole shape needs no init; one that may miss elements gets an init kernel, run first.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile-output-init))' -split-input-file | FileCheck %s

// CHECK-NOT: init_y
// CHECK: tile.kernel @main
// CHECK-NOT: init_y
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

// -----

// The store is predicated by data, not only by the shape.
// CHECK: tile.kernel @init_y ranges [#tile.iter<name = "x0"
// CHECK: tile.store
// CHECK: tile.kernel @main
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
    %f0 = arith.constant 0.0 : f32
    %zeros = tile.splat %f0 : f32 -> tensor<?xf32, #tile.axes<"i">>
    %positive = arith.cmpf ogt, %s, %zeros : tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi, %positive : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// The range covers N, the output has M elements.
// CHECK: tile.kernel @init_y
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s1), block = "BM">]
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

// -----

// The loop runs over all columns.
// CHECK-NOT: init_y
// CHECK: tile.kernel @columns
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @columns ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0)>] axes [#tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %y: !tile.tensor<2, f32>, %i: i32):
    %zero = arith.constant 0 : i32
    %bn = tile.block_size "BN"
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?xf32, #tile.axes<"j">>
    scf.for %j0 = %zero to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : i32, tensor<?xi32, #tile.axes<"j">>] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?xf32, #tile.axes<"j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// The loop runs over M, the dimension is N.
// CHECK: tile.kernel @init_y
// CHECK: tile.kernel @columns
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @columns ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0)>] axes [#tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %y: !tile.tensor<2, f32>, %i: i32):
    %zero = arith.constant 0 : i32
    %bn = tile.block_size "BN"
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?xf32, #tile.axes<"j">>
    scf.for %j0 = %zero to %M step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : i32, tensor<?xi32, #tile.axes<"j">>] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?xf32, #tile.axes<"j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// Only the diagonal is stored.
// CHECK: tile.kernel @init_y
// CHECK: tile.kernel @diagonal
tile.program @p dims ["M"] tensors [
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0, s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @diagonal ranges [#tile.iter<name = "i", extent = ()[s0] -> (s0)>] axes [] {
  ^bb0(%M: i32, %y: !tile.tensor<2, f32>, %i: i32):
    %f = arith.constant 1.0 : f32
    tile.store %f, %y[%i, %i : i32, i32] : f32, !tile.tensor<2, f32>
    tile.return
  }
}

// -----

// A loop over each chunk, of which there are as many as the tensor has rows.
// CHECK-NOT: init_y
// CHECK: tile.kernel @chunks
tile.program @p dims ["T"] tensors [
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> ((s0 + 63) floordiv 64), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @chunks ranges [] axes [] {
  ^bb0(%T: i32, %y: !tile.tensor<1, f32>):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %most = arith.constant 2147467263 : i32
    %f = arith.constant 1.0 : f32
    %more = arith.addi %T, %c63 : i32
    %chunks = arith.floordivsi %more, %c64 : i32
    %end = arith.minsi %chunks, %most : i32
    scf.for %c = %zero to %end step %one : i32 {
      tile.store %f, %y[%c : i32] : f32, !tile.tensor<1, f32>
    }
    tile.return
  }
}

// -----

// One chunk less than that.
// CHECK: tile.kernel @init_y
// CHECK: tile.kernel @chunks
tile.program @p dims ["T"] tensors [
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> ((s0 + 63) floordiv 64), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @chunks ranges [] axes [] {
  ^bb0(%T: i32, %y: !tile.tensor<1, f32>):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %f = arith.constant 1.0 : f32
    %chunks = arith.floordivsi %T, %c64 : i32
    scf.for %c = %zero to %chunks step %one : i32 {
      tile.store %f, %y[%c : i32] : f32, !tile.tensor<1, f32>
    }
    tile.return
  }
}
