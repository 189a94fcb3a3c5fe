// What loops carry: lanes told by the predicate of one iteration are not those of the next. One mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile.kernel(verify-tile-padding)))' -split-input-file -verify-diagnostics

// the filled load of one iteration stored by the next
tile.program @p dims ["N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = f32>] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "r", extent = ()[s0] -> (s0)>] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: f32, %r: i32):
    %zero = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %step = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %f0 : f32 -> tensor<?xf32, #tile.axes<"i">>
    %Ss = tile.splat %S : f32 -> tensor<?xf32, #tile.axes<"i">>
    %last = scf.for %t = %zero to %N step %step iter_args(%before = %zeros) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      %i = tile.range %t : tensor<?xi32, #tile.axes<"i">>
      %p = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
      %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
      %f = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      tile.store %before, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
      scf.yield %f : tensor<?xf32, #tile.axes<"i">>
    }
    tile.return
  }
}

// -----

// the load of one iteration stored by the next, under the predicate of the next
tile.program @p dims ["N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = f32>] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "r", extent = ()[s0] -> (s0)>] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: f32, %r: i32):
    %zero = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %step = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %f0 : f32 -> tensor<?xf32, #tile.axes<"i">>
    %Ss = tile.splat %S : f32 -> tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects no lanes that are absent by a predicate of one iteration to be carried to the next}}
    %last = scf.for %t = %zero to %N step %step iter_args(%before = %zeros) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      %i = tile.range %t : tensor<?xi32, #tile.axes<"i">>
      // expected-note @below {{lanes are absent where this is false}}
      %p = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
      %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
      %f = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
      tile.store %before, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
      scf.yield %v : tensor<?xf32, #tile.axes<"i">>
    }
    tile.return
  }
}

// -----

// zeros before the loop and at absent lanes of each iteration
tile.program @p dims ["N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = f32>] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "r", extent = ()[s0] -> (s0)>] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: f32, %r: i32):
    %zero = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %step = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %f0 : f32 -> tensor<?xf32, #tile.axes<"i">>
    %Ss = tile.splat %S : f32 -> tensor<?xf32, #tile.axes<"i">>
    %i = tile.range %zero : tensor<?xi32, #tile.axes<"i">>
    %p = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %f = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %last = scf.for %t = %zero to %N step %step iter_args(%before = %zeros) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      scf.yield %f : tensor<?xf32, #tile.axes<"i">>
    }
    %s = tile.reduce add %last over ["i"] where(%p : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">> -> f32
    tile.store %s, %y[%r : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a loop that may not run leaves what its variable was before
tile.program @p dims ["N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = f32>] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "r", extent = ()[s0] -> (s0)>] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: f32, %r: i32):
    %zero = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %step = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %f0 : f32 -> tensor<?xf32, #tile.axes<"i">>
    %Ss = tile.splat %S : f32 -> tensor<?xf32, #tile.axes<"i">>
    %i = tile.range %zero : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %p = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%p : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %f = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %last = scf.for %t = %zero to %N step %step iter_args(%before = %Ss) -> (tensor<?xf32, #tile.axes<"i">>) : i32 {
      scf.yield %f : tensor<?xf32, #tile.axes<"i">>
    }
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce add %last over ["i"] where(%p : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">> -> f32
    tile.store %s, %y[%r : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}
