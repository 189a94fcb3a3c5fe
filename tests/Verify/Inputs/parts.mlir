// A sum over the elements of each row that are valid, in one loop and in two.
// SPDX-License-Identifier: MIT
tile.program @p.before dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0)>] axes [#tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %i: i32):
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %bn = tile.block_size "BN"
    %len = tile.load %n[%i : i32] : !tile.tensor<1, i32> -> i32
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %lens = tile.splat %len : i32 -> tensor<?xi32, #tile.axes<"j">>
    %all = scf.for %j0 = %c0 to %N step %bn iter_args(%sum = %zero) -> (f32) : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %pN = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      %pn = arith.cmpi slt, %j, %lens : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : i32, tensor<?xi32, #tile.axes<"j">>] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : !tile.tensor<2, f32> -> tensor<?xf32, #tile.axes<"j">>
      %t = tile.reduce add %v over ["j"] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?xf32, #tile.axes<"j">> -> f32
      %next = arith.addf %sum, %t : f32
      scf.yield %next : f32
    }
    tile.store %all, %y[%i : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}

tile.program @p dims ["M", "N"] tensors [
    #tile.tensor_arg<name = "x", role = in, elementType = f32, shape = ()[s0, s1] -> (s0, s1)>,
    #tile.tensor_arg<name = "n", role = in, elementType = i32, shape = ()[s0, s1] -> (s0)>,
    #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.0 : f32>]
    scalars [] requires [] params {} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0)>] axes [#tile.axis<name = "j", block = "BN">] {
  ^bb0(%M: i32, %N: i32, %x: !tile.tensor<2, f32>, %n: !tile.tensor<1, i32>, %y: !tile.tensor<1, f32>, %i: i32):
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %bn = tile.block_size "BN"
    %len = tile.load %n[%i : i32] : !tile.tensor<1, i32> -> i32
    %Ns = tile.splat %N : i32 -> tensor<?xi32, #tile.axes<"j">>
    %lens = tile.splat %len : i32 -> tensor<?xi32, #tile.axes<"j">>
    // last = max(min(N, len), 0), full = max(last - bn + 1, 0), up = full rounded up to whole steps
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %step = arith.extsi %bn : i32 to i64
    %N64 = arith.extsi %N : i32 to i64
    %len64 = arith.extsi %len : i32 to i64
    %least = arith.minsi %N64, %len64 : i64
    %last = arith.maxsi %least, %none : i64
    %less = arith.subi %last, %step : i64
    %whole = arith.addi %less, %one : i64
    %full = arith.maxsi %whole, %none : i64
    %steps = arith.ceildivsi %full, %step : i64
    %up = arith.muli %steps, %step : i64
    %first32 = arith.trunci %none : i64 to i32
    %full32 = arith.trunci %full : i64 to i32
    %up32 = arith.trunci %up : i64 to i32
    %last32 = arith.trunci %last : i64 to i32
    %inner = scf.for %j0 = %first32 to %full32 step %bn iter_args(%sum = %zero) -> (f32) : i32 {
      %j = tile.range %j0 : tensor<?xi32, #tile.axes<"j">>
      %cN = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      %pN = tile.known %cN : tensor<?xi1, #tile.axes<"j">>
      %pn = arith.cmpi slt, %j, %lens : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : i32, tensor<?xi32, #tile.axes<"j">>] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : !tile.tensor<2, f32> -> tensor<?xf32, #tile.axes<"j">>
      %t = tile.reduce add %v over ["j"] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?xf32, #tile.axes<"j">> -> f32
      %next = arith.addf %sum, %t : f32
      scf.yield %next : f32
    }
    %all = scf.for %k0 = %up32 to %last32 step %bn iter_args(%sum = %inner) -> (f32) : i32 {
      %j = tile.range %k0 : tensor<?xi32, #tile.axes<"j">>
      %pN = arith.cmpi slt, %j, %Ns : tensor<?xi32, #tile.axes<"j">>
      %pn = arith.cmpi slt, %j, %lens : tensor<?xi32, #tile.axes<"j">>
      %v = tile.load %x[%i, %j : i32, tensor<?xi32, #tile.axes<"j">>] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) {fill = #tile.fill<zero>} : !tile.tensor<2, f32> -> tensor<?xf32, #tile.axes<"j">>
      %t = tile.reduce add %v over ["j"] where(%pN, %pn : tensor<?xi1, #tile.axes<"j">>, tensor<?xi1, #tile.axes<"j">>) : tensor<?xf32, #tile.axes<"j">> -> f32
      %next = arith.addf %sum, %t : f32
      scf.yield %next : f32
    }
    tile.store %all, %y[%i : i32] : f32, !tile.tensor<1, f32>
    tile.return
  }
}
