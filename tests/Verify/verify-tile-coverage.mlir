// Every element of an output is stored, or initialised first; one mutant per program.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(tile.program(verify-tile-coverage))' -split-input-file -verify-diagnostics

// a loop over a whole dimension covers it
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// a store of some rows, after an init kernel
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 0.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// an init kernel for a value that is not exact in f32
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.1 : f64>]
    scalars [] requires [] params {} {
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 0.1 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// init kernel deleted
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store may leave out elements inside of the shape}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// store deleted
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found no store of it}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// one row short
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %ones = tile.splat %c1 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %less = arith.subi %Ms, %ones : tensor<?xi32, #tile.axes<"i">>
    %short = arith.cmpi slt, %i, %less : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store may leave out elements inside of the shape}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%short, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// one row short in the init kernel
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 0.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %ones = tile.splat %c1 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %less = arith.subi %Ms, %ones : tensor<?xi32, #tile.axes<"i">>
    %short = arith.cmpi slt, %i, %less : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store may leave out elements inside of the shape}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%short, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store may leave out elements inside of the shape}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// a bound beyond the extent leaves nothing out; that it is memory is proved elsewhere
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %ones = tile.splat %c1 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %more = arith.addi %Ms, %ones : tensor<?xi32, #tile.axes<"i">>
    %wide = arith.cmpi slt, %i, %more : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%wide, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// the range of the other dimension
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s1), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store does not provably run over all of dimension 0}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// a range beyond the extent
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0 + 1), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// the bound of the other dimension
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %Nw = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"i">>
    %wrong = arith.cmpi slt, %i, %Nw : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store may leave out elements inside of the shape}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%wrong, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// wrong constant
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-error @below {{expects the out_init of output 'y', which is 0.000000e+00 : f32}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// minus zero is not zero
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant -0.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-error @below {{expects the out_init of output 'y', which is 0.000000e+00 : f32}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// init after the kernel
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %two = arith.constant 2 : i32
    %twos = tile.splat %two : i32 -> tensor<?xi32, #tile.axes<"i">>
    %late = arith.cmpi sge, %i, %twos : tensor<?xi32, #tile.axes<"i">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%late, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
  // expected-error @below {{expects to run before every other kernel that stores output 'y'}}
  tile.kernel @init_y ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 0.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// a store under a condition
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %len = tile.load %n[%c0 : i32] : !tile.tensor<1, i32> -> i32
    %some = arith.cmpi sgt, %len, %c0 : i32
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      scf.if %some {
        // expected-note @below {{this store stands under a condition}}
        tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
      }
    }
    tile.return
  }
}

// -----

// a loop of as many steps as memory says, or none
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %len = tile.load %n[%c0 : i32] : !tile.tensor<1, i32> -> i32
    scf.for %j0 = %c0 to %len step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      // expected-note @below {{this store does not provably run over all of dimension 1}}
      tile.store %v, %y[%i, %j : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"j">>] where(%pi, %pj : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?x?xf32, #tile.axes<"i", "j">>, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// nothing is demanded of an output that is kept
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = "keep">]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// an output without out_init needs a store
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found no store of it}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">]
      axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %i0: i32):
    %i = tile.range %i0 : tensor<?xi32, #tile.axes<"i">>
    %Ms = tile.splat %M : i32 -> tensor<?xi32, #tile.axes<"i">>
    %pi = arith.cmpi slt, %i, %Ms : tensor<?xi32, #tile.axes<"i">>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bn = tile.block_size "BN"
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %f = arith.constant 1.0 : f32
    %v = tile.splat %f : f32 -> tensor<?x?xf32, #tile.axes<"i", "j">>
    scf.for %j0 = %c0 to %N step %bn : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pj = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
    }
    tile.return
  }
}

// -----

// a pair
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0 * s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>, #tile.iter<name = "u", extent = ()[s0, s1] -> (s1)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32, %u: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %gN = arith.muli %g, %N : i32
    %p = arith.addi %gN, %u : i32
    tile.store %f, %y[%p : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a pair with the digits exchanged
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0 * s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>, #tile.iter<name = "u", extent = ()[s0, s1] -> (s1)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32, %u: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %gM = arith.muli %g, %M : i32
    %p = arith.addi %gM, %u : i32
    // expected-note @below {{this store does not provably run over all of dimension 0}}
    tile.store %f, %y[%p : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// a diagonal
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %g: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @below {{this store does not provably run over all of dimension 1}}
    tile.store %f, %y[%g, %g : i32, i32] : f32, !tile.tensor<2, f32>
    tile.return
  }
}

// -----

// another range, which may be empty
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>, #tile.iter<name = "u", extent = ()[s0, s1] -> (s1)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32, %u: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @below {{this store stands in the range 'u', which may run zero times}}
    tile.store %f, %y[%g : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// another range, empty only where the output is
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>, #tile.iter<name = "h", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32, %h: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    tile.store %f, %y[%g : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// another loop, which may run zero times
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %N step %c1 : i32 {
    // expected-note @below {{this store stands in a loop that may run zero times}}
    tile.store %f, %y[%g : i32] : f32, !tile.tensor<1, f32>
    }
    tile.return
  }
}

// -----

// a loop by steps of one
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %g: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %N step %c1 : i32 {
    tile.store %f, %y[%g, %k : i32, i32] : f32, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// a loop as long as the iteration is far
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, s1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<2, f32>, %g: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %e = arith.addi %g, %c1 : i32
    scf.for %k = %c0 to %e step %c1 : i32 {
    // expected-note @below {{this store does not provably run over all of dimension 1}}
    tile.store %f, %y[%g, %k : i32, i32] : f32, !tile.tensor<2, f32>
    }
    tile.return
  }
}

// -----

// one element, of a range that may be empty
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (1), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %g: i32):
    %f = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @below {{this store does not provably run over all of dimension 0}}
    tile.store %f, %y[%g : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// by the first iteration of a range that is never empty
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "c", extent = ()[s0, s1] -> (512), block = "BC">, #tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %c: i32, %g: i32):
    %f = arith.constant 1.0 : f32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi slt, %c, %c1 : i32
    tile.store %f, %y[%g : i32] where(%first : i1) : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// of a range that may be empty
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "c", extent = ()[s0, s1] -> (s1)>, #tile.iter<name = "g", extent = ()[s0, s1] -> (s0)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %c: i32, %g: i32):
    %f = arith.constant 1.0 : f32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi slt, %c, %c1 : i32
    // expected-note @below {{this store stands in the range 'c', which may run zero times}}
    tile.store %f, %y[%g : i32] where(%first : i1) : f32, !tile.tensor<1, f32>
    tile.return
  }
}

// -----

// the first iteration of a range that the index needs all of
// expected-error @below {{expects a store, or a kernel before all others, to write every element of output 'y'; found none that provably does}}
tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (8), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "c", extent = ()[s0, s1] -> (8)>] axes [] {
  ^bb0(%M: i32, %N: i32, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %c: i32):
    %f = arith.constant 1.0 : f32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi slt, %c, %c1 : i32
    // expected-note @below {{this store may leave out elements inside of the shape}}
    tile.store %f, %y[%c : i32] where(%first : i1) : f32, !tile.tensor<1, f32>
    tile.return
  }
}
