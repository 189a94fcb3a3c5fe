// A gather by a number that another mask covers: what is false wherever it was not loaded stands for the bound.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s '-pass-pipeline=builtin.module(sm.kernel(verify-sm-padding))' -split-input-file -verify-diagnostics

// false where nothing is loaded
#l = #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>
sm.kernel @positive args [#sm.dim<"K">, #sm.pointer<"at">, #sm.pointer<"w">, #sm.pointer<"x">, #sm.pointer<"o">] warps 1 {
^bb0(%K: i32, %at: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %x: !tile.tensor<1, f32>, %o: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  %f0 = arith.constant dense<0.0> : tensor<32xf32, #l>
  %i = sm.range %zero : tensor<32xi32, #l>
  %Ks = sm.splat %K : i32 -> tensor<32xi32, #l>
  %p = arith.cmpi slt, %i, %Ks : tensor<32xi32, #l>
  %j = sm.load %at[%i : tensor<32xi32, #l>] where(%p : tensor<32xi1, #l>) vector 1 : <1, i32> -> tensor<32xi32, #l>
  %v = sm.load %w[%i : tensor<32xi32, #l>] where(%p : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  %m = arith.cmpf ogt, %v, %f0 : tensor<32xf32, #l>
  %y = sm.load %x[%j : tensor<32xi32, #l>] where(%m : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  sm.store %y, %o[%i : tensor<32xi32, #l>] where(%m : tensor<32xi1, #l>) vector 1 : tensor<32xf32, #l>, <1, f32>
  sm.return
}

// -----

// true where nothing is loaded
#l = #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>
sm.kernel @not_negative args [#sm.dim<"K">, #sm.pointer<"at">, #sm.pointer<"w">, #sm.pointer<"x">, #sm.pointer<"o">] warps 1 {
^bb0(%K: i32, %at: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %x: !tile.tensor<1, f32>, %o: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  %f0 = arith.constant dense<0.0> : tensor<32xf32, #l>
  %i = sm.range %zero : tensor<32xi32, #l>
  %Ks = sm.splat %K : i32 -> tensor<32xi32, #l>
  // expected-note @below {{lanes are absent where this is false}}
  %p = arith.cmpi slt, %i, %Ks : tensor<32xi32, #l>
  %j = sm.load %at[%i : tensor<32xi32, #l>] where(%p : tensor<32xi1, #l>) vector 1 : <1, i32> -> tensor<32xi32, #l>
  %v = sm.load %w[%i : tensor<32xi32, #l>] where(%p : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  %m = arith.cmpf oge, %v, %f0 : tensor<32xf32, #l>
  // expected-error @below {{expects a presence that excludes the absent lanes of the indices}}
  %y = sm.load %x[%j : tensor<32xi32, #l>] where(%m : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  sm.store %y, %o[%i : tensor<32xi32, #l>] where(%m, %p : tensor<32xi1, #l>, tensor<32xi1, #l>) vector 1 : tensor<32xf32, #l>, <1, f32>
  sm.return
}

// -----

// false where another bound is
#l = #sm.layout<<"i" regs[] by[] lanes[: 1, 2, 4, 8, 16] warps[]>>
sm.kernel @other_bound args [#sm.dim<"K">, #sm.dim<"N">, #sm.pointer<"at">, #sm.pointer<"w">, #sm.pointer<"x">, #sm.pointer<"o">] warps 1 {
^bb0(%K: i32, %N: i32, %at: !tile.tensor<1, i32>, %w: !tile.tensor<1, f32>, %x: !tile.tensor<1, f32>, %o: !tile.tensor<1, f32>):
  %zero = arith.constant 0 : i32
  %f0 = arith.constant dense<0.0> : tensor<32xf32, #l>
  %i = sm.range %zero : tensor<32xi32, #l>
  %Ks = sm.splat %K : i32 -> tensor<32xi32, #l>
  %Ns = sm.splat %N : i32 -> tensor<32xi32, #l>
  // expected-note @below {{lanes are absent where this is false}}
  %p = arith.cmpi slt, %i, %Ks : tensor<32xi32, #l>
  %q = arith.cmpi slt, %i, %Ns : tensor<32xi32, #l>
  %j = sm.load %at[%i : tensor<32xi32, #l>] where(%p : tensor<32xi1, #l>) vector 1 : <1, i32> -> tensor<32xi32, #l>
  %v = sm.load %w[%i : tensor<32xi32, #l>] where(%q : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  %m = arith.cmpf ogt, %v, %f0 : tensor<32xf32, #l>
  // expected-error @below {{expects a presence that excludes the absent lanes of the indices}}
  %y = sm.load %x[%j : tensor<32xi32, #l>] where(%m : tensor<32xi1, #l>) vector 1 : <1, f32> -> tensor<32xf32, #l>
  sm.store %y, %o[%i : tensor<32xi32, #l>] where(%m, %q : tensor<32xi1, #l>, tensor<32xi1, #l>) vector 1 : tensor<32xf32, #l>, <1, f32>
  sm.return
}
