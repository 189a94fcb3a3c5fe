// Claims of full steps follow from the loops around them; one mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(tile.kernel(verify-tile-known)))' -split-input-file -verify-diagnostics

// full steps only
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 63 : i32
    %e = arith.subi %N, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ns : tensor<64xi32, #tile.axes<"j">>
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// a loop that runs for blocks inside only
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s1), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] sizes {i = 128, j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %less = arith.constant 127 : i64
    %many = arith.constant 2147483648 : i64
    %M64 = arith.extsi %M : i32 to i64
    %N64 = arith.extsi %N : i32 to i64
    %i64 = arith.extsi %i0 : i32 to i64
    %left = arith.subi %M64, %i64 : i64
    %full = arith.subi %left, %less : i64
    %below = arith.minsi %full, %one : i64
    %inside = arith.maxsi %below, %none : i64
    %steps = arith.muli %inside, %many : i64
    %end = arith.minsi %N64, %steps : i64
    %e = arith.trunci %end : i64 to i32
    %Ms = tile.splat %M : i32 -> tensor<128xi32, #tile.axes<"i">>
    %i = tile.range %i0 : tensor<128xi32, #tile.axes<"i">>
    %p = arith.cmpi slt, %i, %Ms : tensor<128xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %known = tile.known %p : tensor<128xi1, #tile.axes<"i">>
    }
    tile.return
  }
}

// -----

// a block that ends one row outside
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s1), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] sizes {i = 128, j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>, %i0: i32):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %less = arith.constant 126 : i64
    %many = arith.constant 2147483648 : i64
    %M64 = arith.extsi %M : i32 to i64
    %N64 = arith.extsi %N : i32 to i64
    %i64 = arith.extsi %i0 : i32 to i64
    %left = arith.subi %M64, %i64 : i64
    %full = arith.subi %left, %less : i64
    %below = arith.minsi %full, %one : i64
    %inside = arith.maxsi %below, %none : i64
    %steps = arith.muli %inside, %many : i64
    %end = arith.minsi %N64, %steps : i64
    %e = arith.trunci %end : i64 to i32
    %Ms = tile.splat %M : i32 -> tensor<128xi32, #tile.axes<"i">>
    %i = tile.range %i0 : tensor<128xi32, #tile.axes<"i">>
    %p = arith.cmpi slt, %i, %Ms : tensor<128xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      // expected-error @below {{claims a predicate that the loops around it do not prove in all lanes}}
      %known = tile.known %p : tensor<128xi1, #tile.axes<"i">>
    }
    tile.return
  }
}

// -----

// one step too many
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 62 : i32
    %e = arith.subi %N, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ns : tensor<64xi32, #tile.axes<"j">>
      // expected-error @below {{claims a predicate that the loops around it do not prove in all lanes}}
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// the bound of another dimension
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 63 : i32
    %e = arith.subi %N, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ms : tensor<64xi32, #tile.axes<"j">>
      // expected-error @below {{claims a predicate that the loops around it do not prove in all lanes}}
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// a length that the caller promised
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [#tile.require<tensor = "n", lo = ()[s0, s1] -> (0), hi = ()[s0, s1] -> (s0)>] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 63 : i32
    %len = tile.load %n[%c0 : i32] : !tile.tensor<1, i32> -> i32
    %e = arith.subi %len, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ns : tensor<64xi32, #tile.axes<"j">>
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// a promise about another dimension
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [#tile.require<tensor = "n", lo = ()[s0, s1] -> (0), hi = ()[s0, s1] -> (s1)>] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 63 : i32
    %len = tile.load %n[%c0 : i32] : !tile.tensor<1, i32> -> i32
    %e = arith.subi %len, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ns : tensor<64xi32, #tile.axes<"j">>
      // expected-error @below {{claims a predicate that the loops around it do not prove in all lanes}}
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// a length without a promise
tile.program @p dims ["N", "M"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "j", block = "BN">] sizes {j = 64} warps 4 {
  ^bb0(%N: i32, %M: i32, %n: !tile.tensor<1, i32>):
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %less = arith.constant 63 : i32
    %len = tile.load %n[%c0 : i32] : !tile.tensor<1, i32> -> i32
    %e = arith.subi %len, %less : i32
    %Ns = tile.splat %N : i32 -> tensor<64xi32, #tile.axes<"j">>
    %Ms = tile.splat %M : i32 -> tensor<64xi32, #tile.axes<"j">>
    scf.for %j0 = %c0 to %e step %step : i32 {
      %j = tile.range %j0 : tensor<64xi32, #tile.axes<"j">>
      %p = arith.cmpi slt, %j, %Ns : tensor<64xi32, #tile.axes<"j">>
      // expected-error @below {{claims a predicate that the loops around it do not prove in all lanes}}
      %known = tile.known %p : tensor<64xi1, #tile.axes<"j">>
    }
    tile.return
  }
}
