// Every access is inside its tensor wherever it is present; one mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile.kernel(verify-tile-bounds)))' -split-input-file -verify-diagnostics

// every access below its extent is accepted
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the predicate of a load deleted
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the predicate of a store deleted
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'y' to be provably below N wherever the access is present; that bound is missing}}
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// bound + 1
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi sle, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// bound - 1 drops data: wrong, but not a matter of memory
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.axes<"i">>
    %less = arith.subi %Ns, %ones : tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %less : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the bound of another dimension
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// arms swapped
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %Ns, %i : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a shifted index keeps both bounds
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %s = arith.subi %i, %ones : tensor<?xi32, #tile.axes<"i">>
    %pl = arith.cmpi sge, %s, %zeros : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%pN, %pl : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a shifted index without its lower bound
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{the index is computed here}}
    %s = arith.subi %i, %ones : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a shifted index with the bound of another
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{the index is computed here}}
    %s = arith.addi %i, %ones : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a pair (g, u) on a dimension G * R
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %h0 = arith.muli %g, %R : i32
    %h = arith.addi %h0, %u : i32
    %v = tile.load %z[%h : i32] : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// a pair with its parts swapped
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %h0 = arith.muli %u, %R : i32
    // expected-note @below {{the index is computed here}}
    %h = arith.addi %h0, %g : i32
    // expected-error @below {{expects index 0 of tensor 'z' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %z[%h : i32] : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// a pair with the wrong factor
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %h0 = arith.muli %g, %G : i32
    // expected-note @below {{the index is computed here}}
    %h = arith.addi %h0, %u : i32
    // expected-error @below {{expects index 0 of tensor 'z' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %z[%h : i32] : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// a loop over the extent
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %j = %zero to %N step %one  : i32 {
      %v = tile.load %x[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a loop that runs one too far
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %N0 = arith.addi %N, %one : i32
    %limit = arith.constant 2147467263 : i32
    %N1 = arith.minsi %N0, %limit : i32
    // expected-note @below {{the index is computed here}}
    scf.for %j = %zero to %N1 step %one  : i32 {
      // expected-error @below {{expects index 0 of tensor 'x' to be provably below N wherever the access is present; that bound is missing}}
      %v = tile.load %x[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a loop that may not run proves nothing after it
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-note @below {{the index is computed here}}
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %j = %zero to %K step %one  : i32 {
      %v = tile.load %w[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    // expected-error @below {{expects index 0 of tensor 'w' to be provably below K wherever the access is present; that bound is missing}}
    %v0 = tile.load %w[%zero : i32] : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// a branch around the access
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c = arith.cmpi slt, %zero, %K : i32
    scf.if %c {
      %v = tile.load %w[%zero : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// an index read from memory, promised but not bounded
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %there = tile.is_present %n : !tile.tensor<1, i32>
    // expected-note @below {{the index is computed here}}
    %len = tile.load %n[%m : i32] where(%there : i1) : !tile.tensor<1, i32> -> i32
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %x[%len : i32] : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// an index read from memory with both bounds
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %there = tile.is_present %n : !tile.tensor<1, i32>
    %len = tile.load %n[%m : i32] where(%there : i1) : !tile.tensor<1, i32> -> i32
    %lo = arith.cmpi sge, %len, %zero : i32
    %hi = arith.cmpi slt, %len, %N : i32
    %v = tile.load %x[%len : i32] where(%lo, %hi : i1, i1) : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// an index clamped into a dimension
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %there = tile.is_present %n : !tile.tensor<1, i32>
    %len = tile.load %n[%m : i32] where(%there : i1) : !tile.tensor<1, i32> -> i32
    %c = arith.cmpi slt, %zero, %N : i32
    %last = arith.subi %N, %one : i32
    %l = arith.maxsi %len, %zero : i32
    %k = arith.minsi %l, %last : i32
    %lo = arith.cmpi sge, %k, %zero : i32
    %v = tile.load %x[%k : i32] where(%lo : i1) : !tile.tensor<1, f32> -> f32
    tile.return
  }
}

// -----

// a loop by unsigned comparison
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-error @below {{expects a signed comparison of its bounds}}
    scf.for unsigned %j = %zero to %N step %one  : i32 {
      %v = tile.load %x[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a step that may be 0
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-error @below {{expects a step of at least 1}}
    scf.for %j = %zero to %N step %S  : i32 {
      %v = tile.load %x[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a trip count read from memory
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %there = tile.is_present %n : !tile.tensor<1, i32>
    %len = tile.load %n[%m : i32] where(%there : i1) : !tile.tensor<1, i32> -> i32
    // expected-error @below {{expects a lower bound of at least 0 and an upper bound of at most 2147467263, so that the loop ends whatever memory holds}}
    scf.for %j = %zero to %len step %one  : i32 {
      %c = arith.cmpi slt, %j, %N : i32
      %v = tile.load %x[%j : i32] where(%c : i1) : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a trip count read from memory and bounded
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %there = tile.is_present %n : !tile.tensor<1, i32>
    %len = tile.load %n[%m : i32] where(%there : i1) : !tile.tensor<1, i32> -> i32
    %k = arith.minsi %len, %N : i32
    scf.for %j = %zero to %k step %one  : i32 {
      %v = tile.load %x[%j : i32] : !tile.tensor<1, f32> -> f32
    }
    tile.return
  }
}

// -----

// a shift that wraps for no lane that is present
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %c3 = arith.constant 3 : i32
    %c3s = tile.splat %c3 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %s = arith.addi %i, %c3s : tensor<?xi32, #tile.axes<"i">>
    %hi = arith.cmpi slt, %s, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%pN, %hi : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a shift that may wrap for a lane that is present
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pN = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %c3 = arith.constant 2000000000 : i32
    %c3s = tile.splat %c3 : i32 -> tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{the index is computed here}}
    %s = arith.addi %i, %c3s : tensor<?xi32, #tile.axes<"i">>
    %hi = arith.cmpi slt, %s, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%pN, %hi : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pN : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// an optional tensor without the test whether it was passed
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    // expected-error @below {{expects a presence that tests whether the optional tensor 'n' was passed}}
    %len = tile.load %n[%m : i32] : !tile.tensor<1, i32> -> i32
    tile.return
  }
}

// -----

// a sum that may wrap, bounded itself
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ss = tile.splat %S : i32 -> tensor<?xi32, #tile.axes<"i">>
    %s = arith.addi %i, %Ss : tensor<?xi32, #tile.axes<"i">>
    %lo = arith.cmpi sge, %s, %zeros : tensor<?xi32, #tile.axes<"i">>
    %hi = arith.cmpi slt, %s, %Ns : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%lo, %hi : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// a sum that may wrap, bounded by its parts
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ss = tile.splat %S : i32 -> tensor<?xi32, #tile.axes<"i">>
    %s = arith.addi %i, %Ss : tensor<?xi32, #tile.axes<"i">>
    %r = arith.subi %Ns, %Ss : tensor<?xi32, #tile.axes<"i">>
    %lo = arith.cmpi sge, %Ss, %zeros : tensor<?xi32, #tile.axes<"i">>
    %hi = arith.cmpi slt, %i, %r : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%lo, %hi : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// a sum that may wrap, bounded by parts that may wrap
tile.program @p dims ["N", "M", "G", "R", "K"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s2 * s3)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1, s2, s3, s4] -> (s1), isOptional = true>,
    #tile.tensor_arg<name = "w", role = in, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s4)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1, s2, s3, s4] -> (s0), init = 0.0 : f32>]
    scalars [#tile.scalar_arg<name = "S", type = i32>]
    requires [#tile.require<tensor = "n", lo = ()[s0, s1, s2, s3, s4] -> (0), hi = ()[s0, s1, s2, s3, s4] -> (s0)>] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1, s2, s3, s4] -> (s2)>, #tile.iter<name = "u", extent = ()[s0, s1, s2, s3, s4] -> (s3)>,
                            #tile.iter<name = "m", extent = ()[s0, s1, s2, s3, s4] -> (s1)>, #tile.iter<name = "i", extent = ()[s0, s1, s2, s3, s4] -> (s0), block = "BN">]
      axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %G: i32, %R: i32, %K: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %n: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %y: !tile.tensor<1, f32>, %S: i32, %g: i32, %u: i32, %m: i32, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ss = tile.splat %S : i32 -> tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{the index is computed here}}
    %s = arith.addi %i, %Ss : tensor<?xi32, #tile.axes<"i">>
    %r = arith.subi %Ns, %Ss : tensor<?xi32, #tile.axes<"i">>
    %hi = arith.cmpi slt, %i, %r : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %v = tile.load %x[%s : tensor<?xi32, #tile.axes<"i">>] where(%hi : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// a range longer than any tensor: an index that is tested did not wrap, in whichever order it was added up
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + s1), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %ge = arith.cmpi sge, %i, %zeros : tensor<?xi32, #tile.axes<"i">>
    %lt = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %u = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%ge, %lt : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %s = arith.subi %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %from = arith.cmpi sge, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %to = arith.cmpi slt, %s, %Ms : tensor<?xi32, #tile.axes<"i">>
    %v = tile.load %z[%s : tensor<?xi32, #tile.axes<"i">>] where(%from, %to : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %b0 = arith.subi %i0, %N : i32
    %b = tile.range %b0 : tensor<?xi32, #tile.axes<"i">>
    %tob = arith.cmpi slt, %b, %Ms : tensor<?xi32, #tile.axes<"i">>
    %w = tile.load %z[%b : tensor<?xi32, #tile.axes<"i">>] where(%from, %tob : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    %w2 = tile.load %z[%b : tensor<?xi32, #tile.axes<"i">>] where(%from, %to : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// nothing is present where false holds
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + s1), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %no = arith.constant false
    %never = tile.splat %no : i1 -> tensor<?xi1, #tile.axes<"i">>
    %u = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%never : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// its index is not tested from below
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + s1), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %lt = arith.cmpi slt, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %u = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%lt : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// true is no false
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + s1), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    // expected-note @below {{the index is computed here}}
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %yes = arith.constant true
    %always = tile.splat %yes : i1 -> tensor<?xi1, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'x' to be provably at least 0 wherever the access is present; that bound is missing}}
    %u = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%always : tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// another sum is tested than the one that is accessed
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "z", role = in, elementType = f32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + s1), block = "BN">] axes [#tile.axis<name = "i", block = "BN">] {
  ^bb0(%N: i32, %M: i32, %x: !tile.tensor<1, f32>, %z: !tile.tensor<1, f32>, %i0: i32):
    %zero = arith.constant 0 : i32
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %zeros = tile.splat %zero : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %one = arith.constant 1 : i32
    %b0 = arith.subi %i0, %N : i32
    %c0 = arith.subi %b0, %one : i32
    // expected-note @below {{the index is computed here}}
    %c = tile.range %c0 : tensor<?xi32, #tile.axes<"i">>
    %from = arith.cmpi sge, %i, %Ns : tensor<?xi32, #tile.axes<"i">>
    %to = arith.cmpi slt, %c, %Ms : tensor<?xi32, #tile.axes<"i">>
    // expected-error @below {{expects index 0 of tensor 'z' to be provably at least 0 wherever the access is present; that bound is missing}}
    %w = tile.load %z[%c : tensor<?xi32, #tile.axes<"i">>] where(%from, %to : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"i">>) : !tile.tensor<1, f32> -> tensor<?xf32, #tile.axes<"i">>
    tile.return
  }
}
