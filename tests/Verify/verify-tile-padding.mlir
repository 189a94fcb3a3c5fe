// Deleting or weakening what tile-obligations inserts is refused, one mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile.kernel(verify-tile-padding)))' -split-input-file -verify-diagnostics

// a discharged maximum is accepted
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
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a discharged sum is accepted
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
    %idc = arith.constant 0.0 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce add %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// no select
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %f over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the identity of a sum under a maximum
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 0.0 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// fill 1
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 1.0 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce add %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// arms swapped
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %id, %f : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// bound + 1
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %weak = arith.cmpi sle, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %weak : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// extent + 1
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %one = arith.constant 1 : i32
    %more = arith.addi %N, %one : i32
    %m = tile.splat %more : i32 -> tensor<?xi32, #tile.axes<"j">>
    %weak = arith.cmpi slt, %j, %m : tensor<?xi32, #tile.axes<"j">>
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %weak : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// arithmetic after the select
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    %late = arith.addf %sel, %f : tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce max %late over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a store without its predicate
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = bf16, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, bf16>, %y: !tile.tensor<1, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    // expected-note @below {{lanes are absent where this is false}}
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %zero = arith.constant 0 : i32
    %j = tile.range %zero : tensor<?xi32, #tile.axes<"j">>
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 0xFF800000 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    %s = tile.reduce max %sel over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    // expected-error @below {{expects a presence that excludes the value's absent lanes}}
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// an operation without a case: absent lanes of its result may hold anything, although the sine of 0 is 0
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
    // expected-note @below {{lanes are absent where this is false}}
    %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    %v = tile.load %x[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : !tile.tensor<2, bf16> -> tensor<?x?xbf16, #tile.axes<"i", "j">>
    %f = arith.extf %v : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %idc = arith.constant 0.0 : f32
    %id = tile.splat %idc : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %wide = tile.broadcast %pj : tensor<?xi1, #tile.axes<"j">> -> tensor<?x?xi1, #tile.axes<"i", "j">>
    %sel = arith.select %wide, %f, %id : tensor<?x?xi1, #tile.axes<"i", "j">>, tensor<?x?xf32, #tile.axes<"i", "j">>
    %sine = math.sin %sel : tensor<?x?xf32, #tile.axes<"i", "j">>
    // expected-error @below {{'tile.reduce' op expects the identity at absent lanes of the reduced axes}}
    %s = tile.reduce add %sine over ["j"] where(%pj : tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y[%i : tensor<?xi32, #tile.axes<"i">>] where(%pi : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, !tile.tensor<1, f32>
    tile.return
  }
}
