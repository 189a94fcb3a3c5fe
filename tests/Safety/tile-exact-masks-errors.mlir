// Sums that cannot be tested after the loops, and steps that cannot run lane by lane, are refused in mode mask = exact.
// SPDX-License-Identifier: MIT
// RUN: selvedge-opt %s -pass-pipeline='builtin.module(tile.program(tile.kernel(tile-exact-masks)))' -split-input-file -verify-diagnostics

tile.program @once dims ["M"] tensors [] scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "e", extent = 16>, #tile.axis<name = "j", block = "BN">]
      sizes {e = 16 : i64, i = 16 : i64, j = 16 : i64} warps 1 {
  ^bb0(%M: i32):
    %t = arith.constant true
    %one = arith.constant 1.0 : bf16
    %keep = tile.splat %t : i1 -> tensor<16x16xi1, #tile.axes<"i", "j">>
    %p = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"i", "j">>
    %v = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"e", "j">>
    // expected-error@+1 {{cannot have an exact mask: expects a product that a loop of the kernel sums up, but it is in no such loop}}
    %s = tile.dot %p, %v over ["j"] where(%keep : tensor<16x16xi1, #tile.axes<"i", "j">>) : tensor<16x16xbf16, #tile.axes<"i", "j">>, tensor<16x16xbf16, #tile.axes<"e", "j">> -> tensor<16x16xf32, #tile.axes<"i", "e">>
    tile.return
  }
}

// -----

tile.program @read dims ["M"] tensors [] scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "e", extent = 16>, #tile.axis<name = "j", block = "BN">]
      sizes {e = 16 : i64, i = 16 : i64, j = 16 : i64} warps 1 {
  ^bb0(%M: i32):
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %t = arith.constant true
    %one = arith.constant 1.0 : bf16
    %zero = arith.constant 0.0 : f32
    %keep = tile.splat %t : i1 -> tensor<16x16xi1, #tile.axes<"i", "j">>
    %p = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"i", "j">>
    %v = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"e", "j">>
    %acc0 = tile.splat %zero : f32 -> tensor<16x16xf32, #tile.axes<"i", "e">>
    %r = scf.for %j0 = %c0 to %M step %c16 iter_args(%acc = %acc0) -> (tensor<16x16xf32, #tile.axes<"i", "e">>) : i32 {
      // expected-error@+1 {{cannot have an exact mask: expects a sum that the loop carries and nothing else reads, but its result is read in the same step}}
      %s = tile.dot %p, %v init %acc : tensor<16x16xf32, #tile.axes<"i", "e">> over ["j"] where(%keep : tensor<16x16xi1, #tile.axes<"i", "j">>) : tensor<16x16xbf16, #tile.axes<"i", "j">>, tensor<16x16xbf16, #tile.axes<"e", "j">> -> tensor<16x16xf32, #tile.axes<"i", "e">>
      %n = arith.negf %s : tensor<16x16xf32, #tile.axes<"i", "e">>
      scf.yield %n : tensor<16x16xf32, #tile.axes<"i", "e">>
    }
    tile.return
  }
}

// -----

tile.program @forgets dims ["M"] tensors [] scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "e", extent = 16>, #tile.axis<name = "j", block = "BN">]
      sizes {e = 16 : i64, i = 16 : i64, j = 16 : i64} warps 1 {
  ^bb0(%M: i32):
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %t = arith.constant true
    %one = arith.constant 1.0 : bf16
    %zero = arith.constant 0.0 : f32
    %keep = tile.splat %t : i1 -> tensor<16x16xi1, #tile.axes<"i", "j">>
    %p = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"i", "j">>
    %v = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"e", "j">>
    %acc0 = tile.splat %zero : f32 -> tensor<16x16xf32, #tile.axes<"i", "e">>
    %r = scf.for %j0 = %c0 to %M step %c16 iter_args(%acc = %acc0) -> (tensor<16x16xf32, #tile.axes<"i", "e">>) : i32 {
      %floor = arith.maxnumf %acc, %acc0 : tensor<16x16xf32, #tile.axes<"i", "e">>
      // expected-error@+1 {{cannot have an exact mask: expects a sum that the loop carries and nothing else reads, but what the loop carries is more than a sum}}
      %s = tile.dot %p, %v init %floor : tensor<16x16xf32, #tile.axes<"i", "e">> over ["j"] where(%keep : tensor<16x16xi1, #tile.axes<"i", "j">>) : tensor<16x16xbf16, #tile.axes<"i", "j">>, tensor<16x16xbf16, #tile.axes<"e", "j">> -> tensor<16x16xf32, #tile.axes<"i", "e">>
      scf.yield %s : tensor<16x16xf32, #tile.axes<"i", "e">>
    }
    tile.return
  }
}

// -----

tile.program @relative dims ["M"] tensors [] scalars [] requires [] params {} {
  tile.kernel @main ranges [] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "e", extent = 16>, #tile.axis<name = "j", block = "BN">]
      sizes {e = 16 : i64, i = 16 : i64, j = 16 : i64} warps 1 {
  ^bb0(%M: i32):
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %one = arith.constant 1.0 : bf16
    %zero = arith.constant 0.0 : f32
    %m = tile.splat %M : i32 -> tensor<16x16xi32, #tile.axes<"i", "j">>
    %p = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"i", "j">>
    %v = tile.splat %one : bf16 -> tensor<16x16xbf16, #tile.axes<"e", "j">>
    %acc0 = tile.splat %zero : f32 -> tensor<16x16xf32, #tile.axes<"i", "e">>
    %r = scf.for %j0 = %c0 to %M step %c16 iter_args(%acc = %acc0) -> (tensor<16x16xf32, #tile.axes<"i", "e">>) : i32 {
      // expected-error@+1 {{cannot have exact masks: expects indices along 'j' that start at the loop's}}
      %j = tile.range %c0 : tensor<16xi32, #tile.axes<"j">>
      %jj = tile.broadcast %j : tensor<16xi32, #tile.axes<"j">> -> tensor<16x16xi32, #tile.axes<"i", "j">>
      %keep = arith.cmpi slt, %jj, %m : tensor<16x16xi32, #tile.axes<"i", "j">>
      %s = tile.dot %p, %v init %acc : tensor<16x16xf32, #tile.axes<"i", "e">> over ["j"] where(%keep : tensor<16x16xi1, #tile.axes<"i", "j">>) : tensor<16x16xbf16, #tile.axes<"i", "j">>, tensor<16x16xbf16, #tile.axes<"e", "j">> -> tensor<16x16xf32, #tile.axes<"i", "e">>
      scf.yield %s : tensor<16x16xf32, #tile.axes<"i", "e">>
    }
    tile.return
  }
}
