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

// -----

// a softmax that includes it: stored where the opposite compare of the same numbers holds, or the lane is there
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %c2 = arith.constant 2 : i32
    %twos = tile.splat %c2 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = arith.cmpi sgt, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    %not = arith.cmpi sle, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %max, %sum = tile.softmax_include %s, %zeros, %zeros : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">> -> tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %p = arith.ori %not, %valid : tensor<?xi1, #tile.axes<"i">>
    tile.store %sum, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a compare that is not the opposite one: where it is 2 neither holds
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %c2 = arith.constant 2 : i32
    %twos = tile.splat %c2 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c = arith.cmpi sgt, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    %not = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %v, %zeros : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %max, %sum = tile.softmax_include %s, %zeros, %zeros : tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">> -> tensor<?xf32, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %p = arith.ori %not, %valid : tensor<?xi1, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %sum, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a sum along an axis on which the arm depends: a row of which one column takes the arm has no value
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, 8), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">, #tile.axis<name = "D", extent = 8>] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ls = tile.splat %L : i32 -> tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %d = tile.range %c0 : tensor<?xi32, #tile.axes<"D">>
    %twos = tile.splat %c2 : i32 -> tensor<?xi32, #tile.axes<"D">>
    %in = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %valid = arith.cmpi slt, %i, %Ls : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0.0 : f32
    %zeros = tile.splat %zero : f32 -> tensor<?x?xf32, #tile.axes<"i", "D">>
    %c = arith.cmpi sgt, %d, %twos : tensor<?xi32, #tile.axes<"D">>
    %cw = tile.broadcast %c : tensor<?xi1, #tile.axes<"D">> -> tensor<?x?xi1, #tile.axes<"i", "D">>
    %not = arith.cmpi sle, %d, %twos : tensor<?xi32, #tile.axes<"D">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %vw = tile.broadcast %v : tensor<?xf32, #tile.axes<"i">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
    %s = arith.select %cw, %vw, %zeros : tensor<?x?xi1, #tile.axes<"i", "D">>, tensor<?x?xf32, #tile.axes<"i", "D">>
    %sum = tile.reduce add %s over ["D"] : tensor<?x?xf32, #tile.axes<"i", "D">> -> tensor<?xf32, #tile.axes<"i">>
    %nw = tile.broadcast %not : tensor<?xi1, #tile.axes<"D">> -> tensor<?x?xi1, #tile.axes<"i", "D">>
    %pw = tile.broadcast %valid : tensor<?xi1, #tile.axes<"i">> -> tensor<?x?xi1, #tile.axes<"i", "D">>
    %p = arith.ori %nw, %pw : tensor<?x?xi1, #tile.axes<"i", "D">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %sum, %y[%i, %d : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"D">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?x?xi1, #tile.axes<"i", "D">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<2, f32>
    tile.return
  }
}

// -----

// two arms of nested selects lack the same lanes, and each is excluded
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %n: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
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
    %d = tile.load %n[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %inner = arith.select %d, %zeros, %v : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %inner, %v : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %here = arith.ori %d, %valid : tensor<?xi1, #tile.axes<"i">>
    %p = arith.ori %not, %here : tensor<?xi1, #tile.axes<"i">>
    %q = arith.ori %c, %valid : tensor<?xi1, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p, %q : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the outer arm is not
tile.program @p dims ["N", "L"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "m", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i1, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %L: i32, %x: !tile.tensor<1, f32>, %m: !tile.tensor<1, i1>, %n: !tile.tensor<1, i1>, %y: !tile.tensor<1, f32>, %i0: i32):
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
    %d = tile.load %n[%i : tensor<?xi32, #tile.axes<"i">>] where(%in : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, i1> -> tensor<?xi1, #tile.axes<"i">>
    %not = arith.xori %c, %trues : tensor<?xi1, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %valid : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %inner = arith.select %d, %zeros, %v : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %s = arith.select %c, %inner, %v : tensor<?xi1, #tile.axes<"i">>, tensor<?xf32, #tile.axes<"i">>
    %here = arith.ori %d, %valid : tensor<?xi1, #tile.axes<"i">>
    %p = arith.ori %not, %here : tensor<?xi1, #tile.axes<"i">>
    %q = arith.ori %c, %valid : tensor<?xi1, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%in, %p : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}
