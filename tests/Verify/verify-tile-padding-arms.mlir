// A lane that one arm of a select lacks is absent only where that arm is taken; fills end absence. One mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile.kernel(verify-tile-padding)))' -split-input-file -verify-diagnostics

// stored where the other arm is taken, or the lane is there
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %p = arith.ori %not, %valid : tensor<?xi1, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// stored where the same arm is taken
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %p = arith.ori %c, %valid : tensor<?xi1, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// stored everywhere
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the other order of arms
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %zeros, %v : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %p = arith.ori %c, %valid : tensor<?xi1, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// absence survives arithmetic
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %t = arith.addf %s, %s : tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %t, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a fill ends absence
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %p = arith.andi %in, %valid : tensor<?xi1, #tile.axes<"i">>
    %s = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a fill by another condition does not
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %p = arith.andi %in, %c : tensor<?xi1, #tile.axes<"i">>
    %s = arith.select %p, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a fill with what is absent itself does not
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %true = arith.constant true
    %trues = tile.splat %true : i1 -> tensor<?xi1, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = tile.load %m[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %p = arith.andi %in, %valid : tensor<?xi1, #tile.axes<"i">>
    %w = arith.addf %v, %zeros : tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %p, %v, %w : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}
