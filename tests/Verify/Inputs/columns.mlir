// A kernel whose accumulator has 512 columns, and what tile-split-columns makes of it.
// SPDX-License-Identifier: MIT
tile.program @p.before dims ["M", "K"] tensors [#tile.tensor_arg<name = "a", role = in, elementType = f16, shape = ()[s0, s1] -> (s0, s1)>, #tile.tensor_arg<name = "b", role = in, elementType = f16, shape = ()[s0, s1] -> (s1, 512)>, #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, 512), init = 0.000000e+00 : f32>, #tile.tensor_arg<name = "r", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.000000e+00 : f32>] scalars [] requires [] params {D = 512 : i64} {
  tile.kernel @main ranges [#tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "D", extent = 512>, #tile.axis<name = "k", block = "BK">] {
  ^bb0(%arg0: i32, %arg1: i32, %arg2: !tile.tensor<2, f16>, %arg3: !tile.tensor<2, f16>, %arg4: !tile.tensor<2, f32>, %arg5: !tile.tensor<1, f32>, %arg6: i32):
    %0 = tile.range %arg6 : tensor<?xi32, #tile.axes<"i">>
    %1 = tile.splat %arg0 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %2 = arith.cmpi slt, %0, %1 : tensor<?xi32, #tile.axes<"i">>
    %cst = arith.constant 0.000000e+00 : f32
    %3 = tile.splat %cst : f32 -> tensor<?x?xf32, #tile.axes<"i", "D">>
    %4 = tile.splat %cst : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c0_i32 = arith.constant 0 : i32
    %5 = tile.block_size "BK"
    %6 = tile.splat %arg1 : i32 -> tensor<?xi32, #tile.axes<"k">>
    %7 = tile.range %c0_i32 : tensor<?xi32, #tile.axes<"D">>
    %c512_i32 = arith.constant 512 : i32
    %8 = tile.splat %c512_i32 : i32 -> tensor<?xi32, #tile.axes<"D">>
    %9 = arith.cmpi slt, %7, %8 : tensor<?xi32, #tile.axes<"D">>
    %10:2 = scf.for %arg7 = %c0_i32 to %arg1 step %5 iter_args(%arg8 = %3, %arg9 = %4) -> (tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>)  : i32 {
      %11 = tile.range %arg7 : tensor<?xi32, #tile.axes<"k">>
      %12 = arith.cmpi slt, %11, %6 : tensor<?xi32, #tile.axes<"k">>
      %13 = tile.load %arg2[%0, %11 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"k">>] where(%2, %12 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"k">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %14 = tile.load %arg3[%11, %7 : tensor<?xi32, #tile.axes<"k">>, tensor<?xi32, #tile.axes<"D">>] where(%12, %9 : tensor<?xi1, #tile.axes<"k">>, tensor<?xi1, #tile.axes<"D">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"D", "k">>
      %15 = tile.dot %13, %14 init %arg8 : tensor<?x?xf32, #tile.axes<"i", "D">> over ["k"] where(%12 : tensor<?xi1, #tile.axes<"k">>) : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"D", "k">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %16 = tile.load %arg2[%0, %11 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"k">>] where(%2, %12 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"k">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %17 = arith.extf %16 : tensor<?x?xf16, #tile.axes<"i", "k">> to tensor<?x?xf32, #tile.axes<"i", "k">>
      %18 = tile.reduce  add %17 over ["k"] where(%12 : tensor<?xi1, #tile.axes<"k">>) : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %19 = arith.addf %arg9, %18 : tensor<?xf32, #tile.axes<"i">>
      scf.yield %15, %19 : tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %10#0, %arg4[%0, %7 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"D">>] where(%2, %9 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xf32, #tile.axes<"i", "D">>, <2, f32>
    tile.store %10#1, %arg5[%0 : tensor<?xi32, #tile.axes<"i">>] where(%2 : tensor<?xi1, #tile.axes<"i">>) : tensor<?xf32, #tile.axes<"i">>, <1, f32>
    tile.return
  }
}

tile.program @p dims ["M", "K"] tensors [#tile.tensor_arg<name = "a", role = in, elementType = f16, shape = ()[s0, s1] -> (s0, s1)>, #tile.tensor_arg<name = "b", role = in, elementType = f16, shape = ()[s0, s1] -> (s1, 512)>, #tile.tensor_arg<name = "y", role = out, elementType = f32, shape = ()[s0, s1] -> (s0, 512), init = 0.000000e+00 : f32>, #tile.tensor_arg<name = "r", role = out, elementType = f32, shape = ()[s0, s1] -> (s0), init = 0.000000e+00 : f32>] scalars [] requires [] params {D = 512 : i64} {
  tile.kernel @main ranges [#tile.iter<name = "D", extent = ()[s0, s1] -> (512), block = "BD">, #tile.iter<name = "i", extent = ()[s0, s1] -> (s0), block = "BM">] axes [#tile.axis<name = "i", block = "BM">, #tile.axis<name = "D", block = "BD">, #tile.axis<name = "k", block = "BK">] {
  ^bb0(%arg0: i32, %arg1: i32, %arg2: !tile.tensor<2, f16>, %arg3: !tile.tensor<2, f16>, %arg4: !tile.tensor<2, f32>, %arg5: !tile.tensor<1, f32>, %arg6: i32, %arg7: i32):
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.cmpi slt, %arg6, %c1_i32 : i32
    %1 = tile.range %arg7 : tensor<?xi32, #tile.axes<"i">>
    %2 = tile.splat %arg0 : i32 -> tensor<?xi32, #tile.axes<"i">>
    %3 = arith.cmpi slt, %1, %2 : tensor<?xi32, #tile.axes<"i">>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = tile.splat %cst : f32 -> tensor<?x?xf32, #tile.axes<"i", "D">>
    %5 = tile.splat %cst : f32 -> tensor<?xf32, #tile.axes<"i">>
    %c0_i32 = arith.constant 0 : i32
    %6 = tile.block_size "BK"
    %7 = tile.splat %arg1 : i32 -> tensor<?xi32, #tile.axes<"k">>
    %8 = tile.range %arg6 : tensor<?xi32, #tile.axes<"D">>
    %c512_i32 = arith.constant 512 : i32
    %9 = tile.splat %c512_i32 : i32 -> tensor<?xi32, #tile.axes<"D">>
    %10 = arith.cmpi slt, %8, %9 : tensor<?xi32, #tile.axes<"D">>
    %11:2 = scf.for %arg8 = %c0_i32 to %arg1 step %6 iter_args(%arg9 = %4, %arg10 = %5) -> (tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>)  : i32 {
      %12 = tile.range %arg8 : tensor<?xi32, #tile.axes<"k">>
      %13 = arith.cmpi slt, %12, %7 : tensor<?xi32, #tile.axes<"k">>
      %14 = tile.load %arg2[%1, %12 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"k">>] where(%3, %13 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"k">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %15 = tile.load %arg3[%12, %8 : tensor<?xi32, #tile.axes<"k">>, tensor<?xi32, #tile.axes<"D">>] where(%13, %10 : tensor<?xi1, #tile.axes<"k">>, tensor<?xi1, #tile.axes<"D">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"D", "k">>
      %16 = tile.dot %14, %15 init %arg9 : tensor<?x?xf32, #tile.axes<"i", "D">> over ["k"] where(%13 : tensor<?xi1, #tile.axes<"k">>) : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"D", "k">> -> tensor<?x?xf32, #tile.axes<"i", "D">>
      %17 = tile.load %arg2[%1, %12 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"k">>] where(%3, %13 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"k">>) : <2, f16> -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %18 = arith.extf %17 : tensor<?x?xf16, #tile.axes<"i", "k">> to tensor<?x?xf32, #tile.axes<"i", "k">>
      %19 = tile.reduce  add %18 over ["k"] where(%13 : tensor<?xi1, #tile.axes<"k">>) : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %20 = arith.addf %arg10, %19 : tensor<?xf32, #tile.axes<"i">>
      scf.yield %16, %20 : tensor<?x?xf32, #tile.axes<"i", "D">>, tensor<?xf32, #tile.axes<"i">>
    }
    tile.store %11#0, %arg4[%1, %8 : tensor<?xi32, #tile.axes<"i">>, tensor<?xi32, #tile.axes<"D">>] where(%3, %10 : tensor<?xi1, #tile.axes<"i">>, tensor<?xi1, #tile.axes<"D">>) : tensor<?x?xf32, #tile.axes<"i", "D">>, <2, f32>
    tile.store %11#1, %arg5[%1 : tensor<?xi32, #tile.axes<"i">>] where(%3, %0 : tensor<?xi1, #tile.axes<"i">>, i1) : tensor<?xf32, #tile.axes<"i">>, <1, f32>
    tile.return
  }
}
