// Verifiers of the tile dialect: each program breaks one constraint.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -split-input-file -verify-diagnostics

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
    // expected-error @below {{expects a result with the source's axes without ["j"], but got}}
    %s = tile.reduce add %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.return
  }
}

// -----

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
    // expected-error @below {{expects every 'presence' to mention an axis of 'over'}}
    %s = tile.reduce add %f over ["j"] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

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
    // expected-error @below {{expects 2 indices, but got 1}}
    %v = tile.load %x[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce add %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  // expected-error @below {{expects block argument 1 of type 'i32', but got 'i64'}}
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i64, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    tile.return
  }
}

// -----

tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  // expected-error @below {{expects distinct axes, but got "i" twice}}
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "i", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// expected-error @below {{expects distinct names, but got "M" twice}}
tile.program @p dims ["M", "M"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    tile.return
  }
}

// -----

// expected-error @below {{expects 'version' and 'version_of' together}}
"tile.program"() <{sym_name = "p", dims = [], tensors = [], scalars = [], promises = [], params = {}, version_of = @q}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @below {{expects 'shared_memory' of 101376, as its version says}}
"tile.program"() <{sym_name = "p", dims = [], tensors = [], scalars = [], promises = [], params = {}, version = #tile.version<program shared 101376>, version_of = @q, shared_memory = 166912 : i64}> ({
^bb0:
}) : () -> ()

// -----

// Only what is walked in blocks may be counted by its own block, and no longer once that is bound.
tile.program @p dims ["Q", "B"] tensors [] scalars [] requires [] params {} {
  tile.kernel @tiles ranges [#tile.iter<name = "i", extent = (d0)[s0, s1] -> (s0 + s1 * d0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">] {
  ^bb0(%Q: i32, %B: i32, %i0: i32):
    tile.return
  }
  // expected-error @below {{expects an extent of range "i" that depends on dims}}
  tile.kernel @single ranges [#tile.iter<name = "i", extent = (d0)[s0, s1] -> (s0 + s1 * d0)>] axes [] {
  ^bb0(%Q: i32, %B: i32, %i0: i32):
    tile.return
  }
}
